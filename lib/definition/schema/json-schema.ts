import type { JsonObject } from '../../common/json/json.js';
import { PlanDefinition, SubPipelineDefinition } from './plan-schema.js';
import { HANDLER_LISTS } from './fields.js';
import type { DefinitionKind } from './root.js';
import { PipelineDefinition, TaskDefinition } from './schema.js';
import { TestFileDefinition } from './test-schema.js';

/** The dialect that editors support best; the keywords used here mean the same in all later ones. */
const DIALECT = 'http://json-schema.org/draft-07/schema#';

type Schema = Record<string, unknown>;

/** The facts of a tool that an editor should know. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON Schema (draft-07) of the inputs as a task has them: any of them may be a template. */
  readonly inputs: JsonObject;
  /** True when a task must have inputs. */
  readonly needsInputs: boolean;
}

/** The names that tasks may have; without one of them, any is accepted. */
export interface TaskNames {
  readonly tools?: readonly ToolSchema[];
  /** Names of the pools of a server (D81). */
  readonly pools?: ReadonlySet<string> | undefined;
}

/** Creates the JSON Schema of a pipeline file: a definition under `pipeline`, or the bare definition (D3). */
export function pipelineJsonSchema(names: TaskNames = {}): Schema {
  const description =
    'Tasks that call tools, run in waves: under the key pipeline, or as the whole document.';
  return createSchema('pipeline', description, { pipeline: PIPELINE, task: taskWithNames(names) });
}

/** Creates the JSON Schema of a plan file, as `pipelineJsonSchema` does. It describes inline pipelines too (D44). */
export function planJsonSchema(names: TaskNames = {}): Schema {
  const description =
    'Pipelines that pass values through the blackboard: under the key plan, or as the whole document.';
  const definitions = { plan: planWithPipelines(), pipeline: PIPELINE, task: taskWithNames(names) };
  return createSchema('plan', description, definitions);
}

/** Creates the JSON Schema of a file of tests (D91). */
export function testJsonSchema(): Schema {
  return {
    $schema: DIALECT,
    $id: 'urn:wavetrain:schema:test',
    title: 'Wavetrain test',
    ...TestFileDefinition,
  };
}

function createSchema(kind: DefinitionKind, description: string, definitions: Schema): Schema {
  const reference = createRef(kind);
  const properties = { [kind]: reference };
  const wrapped = { type: 'object', required: [kind], additionalProperties: false, properties };
  return {
    $schema: DIALECT,
    $id: `urn:wavetrain:schema:${kind}`,
    title: `Wavetrain ${kind}`,
    description,
    anyOf: [wrapped, reference],
    definitions,
  };
}

/** The lists of tasks of a definition lead to one schema of tasks, which has the inputs of all tools. */
function withTaskReference<P extends object>(properties: P): P {
  const lists = ['tasks', ...HANDLER_LISTS].flatMap((name) => {
    const list: unknown = properties[name as keyof P];
    return typeof list === 'object' ? [[name, { ...list, items: createRef('task') }] as const] : [];
  });
  return { ...properties, ...Object.fromEntries(lists) };
}

const PIPELINE = {
  ...PipelineDefinition,
  properties: withTaskReference(PipelineDefinition.properties),
};

function taskWithNames({ tools, pools }: TaskNames): Schema {
  const { properties } = TaskDefinition;
  const task = { title: 'task', ...TaskDefinition, properties: { ...properties, pool: poolOf(pools) } };
  if (tools === undefined) return task;
  const tool = {
    ...properties.tool,
    enum: tools.map(({ name }) => name),
    // An editor shows the descriptions beside the names.
    enumDescriptions: tools.map(({ description }) => description),
  };
  return {
    ...task,
    properties: { ...task.properties, tool },
    allOf: tools.map(({ name, inputs, needsInputs }) => ({
      // Otherwise a YAML language server offers a task of each tool where a field is wanted.
      if: { required: ['tool'], properties: { tool: { const: name, doNotSuggest: true } } },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { properties: { inputs }, ...(needsInputs && { required: ['inputs'] }) },
    })),
  };
}

/** A list of choices must not be empty: where there are no pools, the validator says so. */
function poolOf(pools: TaskNames['pools']): object {
  const { pool } = TaskDefinition.properties;
  return pools === undefined || pools.size === 0 ? pool : { ...pool, enum: [...pools, null] };
}

/** The validator checks inline pipelines separately; an editor has only the schema. */
function planWithPipelines(): Schema {
  const properties = { ...SubPipelineDefinition.properties, pipeline: createRef('pipeline') };
  const items = { ...SubPipelineDefinition, properties };
  const sub_pipelines = { ...PlanDefinition.properties.sub_pipelines, items };
  return {
    ...PlanDefinition,
    properties: { ...withTaskReference(PlanDefinition.properties), sub_pipelines },
  };
}

function createRef(kind: DefinitionKind | 'task'): Schema {
  return { $ref: `#/definitions/${kind}` };
}
