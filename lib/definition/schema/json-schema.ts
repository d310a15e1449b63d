import type { JsonObject } from '../../common/json/json.js';
import { PlanDefinition, SubPipelineDefinition } from './plan-schema.js';
import type { DefinitionKind } from './root.js';
import { PipelineDefinition, TaskDefinition } from './schema.js';

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

/**
 * Creates the JSON Schema of a pipeline file: a definition under `pipeline`, or the bare definition (D3).
 *
 * @param tools all tools that tasks may call; without them any name and any inputs are accepted
 */
export function pipelineJsonSchema(tools?: readonly ToolSchema[]): Schema {
  const description =
    'Tasks that call tools, run in waves: under the key pipeline, or as the whole document.';
  return createSchema('pipeline', description, { pipeline: pipelineWithTools(tools) });
}

/** Creates the JSON Schema of a plan file, as `pipelineJsonSchema` does. It describes inline pipelines too (D44). */
export function planJsonSchema(tools?: readonly ToolSchema[]): Schema {
  const description =
    'Pipelines that pass values through the blackboard: under the key plan, or as the whole document.';
  return createSchema('plan', description, { plan: planWithPipelines(), pipeline: pipelineWithTools(tools) });
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

function pipelineWithTools(tools: readonly ToolSchema[] | undefined): object {
  if (tools === undefined) return PipelineDefinition;
  const { properties } = PipelineDefinition;
  const tasks = { ...properties.tasks, items: taskWithTools(tools) };
  return { ...PipelineDefinition, properties: { ...properties, tasks } };
}

function taskWithTools(tools: readonly ToolSchema[]): Schema {
  const { properties } = TaskDefinition;
  const tool = {
    ...properties.tool,
    enum: tools.map(({ name }) => name),
    // An editor shows the descriptions beside the names.
    enumDescriptions: tools.map(({ description }) => description),
  };
  return {
    title: 'task',
    ...TaskDefinition,
    properties: { ...properties, tool },
    allOf: tools.map(({ name, inputs, needsInputs }) => ({
      // Otherwise a YAML language server offers a task of each tool where a field is wanted.
      if: { required: ['tool'], properties: { tool: { const: name, doNotSuggest: true } } },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { properties: { inputs }, ...(needsInputs && { required: ['inputs'] }) },
    })),
  };
}

/** The validator checks inline pipelines separately; an editor has only the schema. */
function planWithPipelines(): Schema {
  const properties = { ...SubPipelineDefinition.properties, pipeline: createRef('pipeline') };
  const items = { ...SubPipelineDefinition, properties };
  const sub_pipelines = { ...PlanDefinition.properties.sub_pipelines, items };
  return { ...PlanDefinition, properties: { ...PlanDefinition.properties, sub_pipelines } };
}

function createRef(kind: DefinitionKind): Schema {
  return { $ref: `#/definitions/${kind}` };
}
