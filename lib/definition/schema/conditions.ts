import Type from 'typebox';
import { DURATION_TEXT, type Duration, UNIT_MS } from '../../common/duration.js';
import { MAX_CONDITIONS, REPEAT_LIMITS } from './fields.js';

export type ConditionDefinition = string | ({ readonly value: string } & Readonly<Record<string, unknown>>);

/** A template, or a value with the keywords that it must satisfy (D77). */
const conditionSchema = {
  type: ['string', 'object'],
  properties: { value: { type: 'string', description: 'The template whose value is looked at.' } },
  required: ['value'],
} as const;

/** A condition, or several of which each must hold. */
const conditionsSchema = {
  ...conditionSchema,
  type: [...conditionSchema.type, 'array'],
  items: conditionSchema,
  minItems: 1,
  maxItems: MAX_CONDITIONS,
};

type ConditionsDefinition = ConditionDefinition | readonly ConditionDefinition[];

export function whenField(description: string) {
  return Type.Optional(
    Type.Unsafe<ConditionsDefinition>({
      ...conditionsSchema,
      type: [...conditionsSchema.type, 'null'],
      description,
    }),
  );
}

/** How often a task calls its tool again, and until when (D83). */
export interface RepeatDefinition {
  readonly until: ConditionsDefinition;
  readonly every?: Duration;
  readonly at_most?: number;
}

/** Calls the tool of a task again until a condition holds of its output (D83). */
export const repeatField = Type.Optional(
  Type.Unsafe<RepeatDefinition>({
    type: ['object', 'null'],
    properties: {
      until: {
        ...conditionsSchema,
        description:
          'The condition that ends it, or a list of them, as in when; {{this.output}} is the output of the round.',
      },
      every: {
        type: ['number', 'string'],
        minimum: 0,
        maximum: (REPEAT_LIMITS.everyDays * UNIT_MS.d) / 1000,
        ...DURATION_TEXT,
        default: REPEAT_LIMITS.defaultEvery,
        description: 'Wait between two rounds, in seconds or as in 5m.',
      },
      at_most: {
        type: 'integer',
        minimum: 1,
        maximum: REPEAT_LIMITS.rounds,
        default: REPEAT_LIMITS.defaultRounds,
        description: 'Rounds after which the task fails.',
      },
    },
    required: ['until'],
    additionalProperties: false,
    description:
      'Calls the tool again until a condition holds of its output, as in {until: "{{this.output.done}}", every: 30s, at_most: 20}.',
  }),
);
