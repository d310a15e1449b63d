import { PlanDefinition, SubPipelineDefinition } from '../definition/schema/plan-schema.js';
import { ParamDefinition, PipelineDefinition, TaskDefinition } from '../definition/schema/schema.js';

/** The part of a field's schema that the description uses. */
interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[] | undefined;
}

/**
 * Describes pipelines and plans for a model: the fields as the schema has them, from which the validators and the JSON
 * Schema for editors are made too, and the rules that models break most often.
 */
export function describeLanguage(): string {
  return [
    'A pipeline is a set of tasks; each calls one tool. It is one YAML document under the key "pipeline", with these fields:',
    ...describeFields(PipelineDefinition),
    '',
    'The fields of a task:',
    ...describeFields(TaskDefinition),
    '',
    'The fields of a param:',
    ...describeFields(ParamDefinition),
    '',
    'A plan is several pipelines that pass values to each other under keys: those that the tool store of one stores are read',
    'as {{session.KEY}} by another. Write a plan only when the request asks for several pipelines; otherwise write one',
    'pipeline. It is one YAML document under the key "plan", with these fields:',
    ...describeFields(PlanDefinition),
    '',
    'The fields of a sub-pipeline (write its pipeline in place, under "pipeline", with the fields above):',
    ...describeFields(SubPipelineDefinition),
    '',
    RULES,
  ].join('\n');
}

function describeFields({ properties, required = [] }: ObjectSchema): string[] {
  return Object.entries(properties).map(([name, schema]) => {
    const { description = '', ...field } = schema as FieldSchema;
    const facts = [
      describeType(field),
      ...(required.includes(name) ? ['required'] : []),
      ...(field.default === undefined ? [] : [`default ${JSON.stringify(field.default)}`]),
    ].filter((fact) => fact !== '');
    return `- ${name}${facts.length === 0 ? '' : ` (${facts.join('; ')})`}: ${description}`;
  });
}

/** Null stands for a field that is left out (D53), which a model need not know. */
function describeType({ type, enum: allowed }: FieldSchema): string {
  const values = allowed?.filter((value) => value !== null).map(String);
  if (values !== undefined) return `one of ${values.join(', ')}`;
  const names = typeof type === 'string' ? [type] : (type ?? []);
  return names
    .filter((name) => name !== 'null')
    .map((name) => (name === 'array' ? 'list' : name === 'object' ? 'map' : name))
    .join(' or ');
}

const RULES = `Templates:
- {{TASK.output}} is the output of another task, {{TASK.output.field[0].name}} a part of it. The word is "output", never
  "outputs" or "result", and never left out.
- {{params.NAME}} is a param, {{pipeline.inputs.KEY}} an input of the pipeline, {{session.KEY}} a value that the tool store
  has stored, {{pipeline.goal}} the goal, {{secrets.NAME}} a secret such as a key or a token.
- {{item}} and {{item.field}} are the current item, only in the inputs and conditions of a task with parallel_over.
- {{run.id}} and {{run.url}} are those of the run; {{run.status}}, {{run.error}}, {{run.error_code}} and {{run.failed_task}} only in handlers.
- {{TASK.status}} (succeeded, failed, skipped) and {{TASK.error}} only of a task with when or on_error: continue.
- "{{TASK.output.field ?? 0}}": after ?? stands a literal for a value that may be missing.
- There is nothing else: no filters, no functions, no operators, no environment. Compute with the
  tool transform.
- Quote every text with a template: "{{TASK.output}}". A text that is one template keeps the type of its value.
- The braces are two: not {x}, not \${x}, not \${{x}}, not {{{x}}}.

Order and fan-out:
- A task runs after the tasks whose outputs its templates read; tasks that do not read each other run at the same time.
  There is no depends_on.
- A task that reads {{session.KEY}} of this pipeline must list the task that stores KEY under "await".
- parallel_over is exactly one template whose value is a list. The output of the task is the list of the outputs, one for
  each item, in their order. {{item}} must stand in its inputs.
- repeat: {until: {value: "{{this.output.state}}", const: done}, every: 30s, at_most: 20} calls the tool again until the
  condition holds; {{this.output}} is its output, in until only. Not with parallel_over.
- when: {value: "{{params.kind}}", const: invoice} runs a task only then. Keywords: const, enum, minimum, maximum, pattern,
  minItems, not; minimum holds of numbers alone, pattern of texts, minItems of lists. A list of conditions means that all hold. There is no if, no else: two tasks have opposite conditions.
- A task that reads the output of a skipped or failed one is skipped too, unless it reads {{TASK.output ?? null}}.
- on_success, on_failure, on_cancel and finally stand beside tasks, are lists of tasks that run at the end, and have ids
  that no other task has. To alert somebody of a failure is on_failure, to clean up is finally. Those of a plan stand beside
  sub_pipelines, and read {{session.KEY ?? null}} and {{pipeline.inputs.KEY}}, but no output of a task of a sub-pipeline.
- Durations are seconds, or 30s, 5m, 1h30m, 2d. timeout beside tasks limits the run, in a task each attempt.
- No task may need itself, not even through others.
- Task ids are unique, have letters, digits, _ and - only, and are not pipeline, params, session, item or secrets.

Values:
- A param without a default is required. What the user of the pipeline should choose is a param; with a sensible value in the
  request, that is its default. Declare every param that a template reads.
- Use only the tools listed below, and only their inputs. Leave out inputs that have a good default.
- Never write a key, a password or a token: read it as {{secrets.NAME}}.
- In a plan, list under "stores" the keys that a sub-pipeline stores, and under "reads" those that it reads. Two sub-pipelines
  cannot store the same key. The pipelines of a plan have no params without a default: pass values by "inputs" of the plan,
  which each sub-pipeline lists under its "inputs" and reads as {{pipeline.inputs.KEY}}.`;
