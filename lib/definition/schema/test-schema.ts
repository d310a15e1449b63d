import Type, { type Static } from 'typebox';
import type { Json, JsonObject } from '../../common/json/json.js';
import { PIPELINE_TEST_LIMITS } from './fields.js';
import { optionalField } from './definition-fields.js';

/** The single source of the files of tests: types, the validator and the JSON Schema for editors derive from it (D91). */

/** How a tool answers one attempt. */
export interface AttemptAnswer {
  readonly output?: Json;
  readonly error?: string;
}

/** How the tool of a task answers: alike in every attempt, or attempt by attempt. */
export type CallAnswer = AttemptAnswer | readonly AttemptAnswer[];

/** How the tool of a task answers its call, or the items of a fan-out each. */
export type TaskAnswer = CallAnswer | { readonly items: readonly CallAnswer[] };

const attemptFields = {
  output: { description: 'The output of the task, or of the item.' },
  error: { type: 'string', description: 'The attempt fails with this message.' },
} as const;

const attemptAnswer = { type: 'object', properties: attemptFields, additionalProperties: false } as const;

const attempts = {
  minItems: 1,
  maxItems: PIPELINE_TEST_LIMITS.attempts,
  items: attemptAnswer,
} as const;

/** One object with all fields: alternatives of schemas would make the messages of errors unclear. */
const taskAnswer = {
  type: ['object', 'array'],
  properties: {
    ...attemptFields,
    items: {
      type: 'array',
      maxItems: PIPELINE_TEST_LIMITS.items,
      items: { ...attemptAnswer, type: ['object', 'array'], ...attempts },
      description: 'The answers to the items of a fan-out, in their order.',
    },
  },
  additionalProperties: false,
  ...attempts,
} as const;

/** How often the tool of a task is called, or which inputs it gets in each call. */
export type ExpectedCalls = number | readonly JsonObject[];

const values = (description: string) =>
  optionalField(Type.Unsafe<JsonObject>({ type: 'object', description }));

const names = (description: string) => optionalField(Type.Array(Type.String(), { description }));

const expectationRule =
  'equal, or, when it is a map of nothing but keywords of JSON Schema, such as {minimum: 1}, valid by them';

export const TestExpectation = Type.Object(
  {
    status: Type.Optional(
      Type.Unsafe<'succeeded' | 'failed'>({
        enum: ['succeeded', 'failed', null],
        description: 'How the run ends. Default: succeeded; with "error": failed.',
      }),
    ),
    error: Type.Optional(
      Type.Unsafe<string | JsonObject>({
        type: ['string', 'object', 'null'],
        description: 'The error of the run: equal, or valid by keywords, as in {pattern: full}.',
      }),
    ),
    outputs: values(`Outputs by task, each ${expectationRule}. In a plan: SUB_PIPELINE/TASK.`),
    calls: Type.Optional(
      Type.Unsafe<Readonly<Record<string, ExpectedCalls>> | null>({
        type: ['object', 'null'],
        additionalProperties: {
          type: ['array', 'integer'],
          minimum: 0,
          maxItems: PIPELINE_TEST_LIMITS.calls,
          items: { type: 'object' },
        },
        description: `The calls of tools by task: how many, or a list with the inputs of each, by item and attempt; each input ${expectationRule}. Inputs that are not listed are not compared. Names as in "answers".`,
      }),
    ),
    handlers: values(`Outputs of handlers by id, each ${expectationRule}.`),
    blackboard: values(`Values on the blackboard at the end by key, each ${expectationRule}.`),
    skipped: names('All tasks, or sub-pipelines, that are skipped, in any order.'),
    failed: names('All tasks that fail, in any order; items of a fan-out as TASK[INDEX].'),
    waves: optionalField(
      Type.Integer({ minimum: 0, description: 'The number of waves that were executed.' }),
    ),
  },
  { additionalProperties: false, description: 'What has to come out.' },
);

export const TestCaseDefinition = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: PIPELINE_TEST_LIMITS.nameLength,
      description: 'What the case shows; unique in the file.',
    }),
    params: values('Values of the params of the pipeline.'),
    inputs: values('Inputs that override those of the definition.'),
    session: values('Values that templates read as {{session.KEY}} before any task runs.'),
    answers: Type.Optional(
      Type.Unsafe<Readonly<Record<string, TaskAnswer>>>({
        type: ['object', 'null'],
        additionalProperties: taskAnswer,
        description:
          'What the tools answer, by task: {output: VALUE}, {error: TEXT}, a list of these for the attempts in their order, or {items: [...]} for a fan-out. In a plan: SUB_PIPELINE/TASK.',
      }),
    ),
    expect: optionalField(TestExpectation),
  },
  { additionalProperties: false, description: 'A run, and what has to come out.' },
);

export const TestFileDefinition = Type.Object(
  {
    description: optionalField(Type.String({ description: 'Free text for readers.' })),
    cases: Type.Array(TestCaseDefinition, {
      minItems: 1,
      maxItems: PIPELINE_TEST_LIMITS.cases,
      description: 'The cases, each a run of its own.',
    }),
  },
  { additionalProperties: false, description: 'Tests of the pipeline or plan beside this file.' },
);

export type TestExpectation = Static<typeof TestExpectation>;
export type TestCaseDefinition = Static<typeof TestCaseDefinition>;
export type TestFileDefinition = Static<typeof TestFileDefinition>;
