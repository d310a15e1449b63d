import type { InputMetadata, ToolMetadata } from '../../../lib/tools/catalog.js';

/** Renders the section that docs/tools.md must have for a tool, from the tool's declaration. */
export function toolSection({ name, description, inputs, output }: ToolMetadata): string {
  const rows = Object.values(inputs);
  return [
    `### ${name}`,
    '',
    `${plain(description)}.`,
    '',
    ...(rows.length === 0 ? ['Takes any inputs.'] : [...HEAD, ...rows.map(inputRow)]),
    '',
    `Gives \`${output.name}\` (${output.type}): ${plain(output.description)}.`,
    '',
  ].join('\n');
}

const HEAD = ['| Input | Type | Default | Is |', '|---|---|---|---|'];

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
