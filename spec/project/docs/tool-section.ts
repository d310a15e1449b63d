import type { FunctionMetadata, InputMetadata, ToolMetadata } from '../../../lib/tools/catalog.js';

/** Renders the section that docs/reference/tool-inputs.md must have for a tool, from the tool's declaration. */
export function toolSection({ name, description, inputs, output, functions = [] }: ToolMetadata): string {
  const rows = Object.values(inputs);
  return [
    `### ${name}`,
    '',
    `${plain(description)}.`,
    '',
    ...(rows.length === 0 ? ['Takes any inputs.'] : [...HEAD, ...rows.map(inputRow)]),
    '',
    `Gives \`${output.name}\` (${output.type}): ${plain(output.description).replaceAll('__', '\\_\\_')}.`,
    '',
    ...(functions.length === 0 ? [] : [...FUNCTIONS_HEAD, ...functions.map(functionRow), '']),
  ].join('\n');
}

const HEAD = ['| Input | Type | Default | Is |', '|---|---|---|---|'];

const FUNCTIONS_HEAD = ['| Function | Arguments | Does |', '|---|---|---|'];

function functionRow({ name, description, inputs, output }: FunctionMetadata): string {
  const args = Object.values(inputs).map(({ name: argument, required, default: fallback }) =>
    required ? `\`${argument}\`` : `\`${argument}\` (${JSON.stringify(fallback)})`,
  );
  const gives = `Gives ${output.name}: ${output.description}`;
  return `| \`${name}\` | ${args.join(', ')} | ${plain(`${description}. ${gives}`).replaceAll('__', '\\_\\_')} |`;
}

function inputRow({
  name,
  type,
  required,
  default: fallback,
  description,
  enum: choices,
}: InputMetadata): string {
  const kind =
    choices === undefined ? (type ?? 'any') : choices.map((choice) => JSON.stringify(choice)).join(', ');
  const otherwise = required ? 'required' : `\`${JSON.stringify(fallback)}\``;
  return `| \`${name}\` | ${kind} | ${otherwise} | ${plain(description)} |`;
}

/** Escapes `<key>`, which Markdown takes for a tag, and `|`, which ends a cell. */
function plain(text: string): string {
  return text.replaceAll(/[<|]/g, '\\$&');
}
