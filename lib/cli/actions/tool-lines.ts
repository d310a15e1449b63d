import type { InputMetadata, ToolMetadata } from '../../tools/metadata.js';
import type { Style } from '../style.js';
import { table, wrap } from '../wrap.js';

/** A tool for people: what it does, its inputs, its output, and a task to paste. */
export function toolLines(tool: ToolMetadata, columns: number, style: Style): string[] {
  const inputs = Object.values(tool.inputs);
  const { name, type, description } = tool.output;
  return [
    style.bold(tool.name),
    ...wrap(tool.description, columns - 2).map((line) => `  ${line}`),
    '',
    style.bold('Inputs'),
    ...(inputs.length === 0 ? ['  any'] : table(inputs.map(inputRow), columns, style.cyan)),
    '',
    style.bold('Output'),
    ...table([[`${name} (${type})`, description]], columns, style.cyan),
    '',
    style.bold('To paste'),
    ...snippet(tool),
  ];
}

function inputRow(input: InputMetadata): readonly [string, string] {
  const need = input.required ? 'required' : 'optional';
  const choices =
    input.enum === undefined ? '' : ` One of ${input.enum.map((one) => JSON.stringify(one)).join(', ')}.`;
  const fallback = input.default === null ? '' : ` Default ${JSON.stringify(input.default)}.`;
  const description = input.description.replace(/\.?$/, '.');
  return [`${input.name} (${input.type ?? 'any'}, ${need})`, `${description}${choices}${fallback}`];
}

/** A task with every required input, or else the first one, and the others as comments. */
function snippet(tool: ToolMetadata): string[] {
  const inputs = Object.values(tool.inputs);
  const first = inputs.some(({ required }) => required) ? undefined : inputs[0];
  const lines = inputs.map((input) => {
    const mark = input.required || input === first ? '' : '# ';
    return `      ${mark}${input.name}: ${exampleOf(input)}`;
  });
  return [
    `  - id: my_${tool.name.replaceAll(/\W/g, '_')}`,
    `    tool: ${tool.name}`,
    ...(lines.length === 0 ? [] : ['    inputs:', ...lines]),
  ];
}

const EXAMPLES: Readonly<Record<string, string>> = {
  string: '"text"',
  integer: '1',
  number: '0.5',
  boolean: 'true',
  array: '[]',
  object: '{}',
};

function exampleOf({ type, default: fallback, enum: choices }: InputMetadata): string {
  if (fallback !== null) return JSON.stringify(fallback);
  if (choices?.[0] !== undefined) return JSON.stringify(choices[0]);
  return EXAMPLES[type ?? ''] ?? '"{{another_task.output}}"';
}
