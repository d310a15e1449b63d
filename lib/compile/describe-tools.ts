import { COMPILE_LIMITS } from '../common/limits.js';
import { formatShape } from '../definition/shapes/format-shape.js';
import { ellipsize } from '../common/text.js';
import type { Catalog, FunctionMetadata, InputMetadata, ToolMetadata } from '../tools/catalog.js';

/** Tools that do nothing: a model that was offered them would take them for whatever has no tool. */
const NOT_OFFERED: ReadonlySet<string> = new Set(['mock', 'fail']);

/** Longest description of a tool or of an input, in characters: those of other servers' tools may be pages long. */
const DESCRIPTION_LENGTH = 400;

/**
 * Describes the tools of a catalog for a model. With very many tools, those that have words in common with the request
 * are described whole, others in one line each, and those that have no room even so are counted.
 */
export function describeTools(catalog: Catalog, request: string): string {
  const tools = catalog.metadata().filter((tool) => isOffered(tool, catalog));
  const whole = tools.map((tool) => describeTool(tool, catalog.get(tool.name)?.openInputs === true));
  if (sumOf(whole) <= COMPILE_LIMITS.catalogLength) return whole.join('\n');
  const ranking = rankTools(tools, request);
  const described = fill(ranking, whole);
  const lines = tools.map(nameTool);
  const others = ranking.filter((index) => !described.has(index));
  const named = fill(others, lines);
  const shown = tools.flatMap((_, index) => described.get(index) ?? named.get(index) ?? []);
  const hidden = tools.length - shown.length;
  return [
    ...shown,
    ...(named.size > 0 ? [`(${named.size} of these tools are named without their inputs.)`] : []),
    ...(hidden > 0 ? [`(There are ${hidden} more tools, which are further from the request.)`] : []),
  ].join('\n');
}

function isOffered({ name }: ToolMetadata, catalog: Catalog): boolean {
  return !(NOT_OFFERED.has(name) && catalog.isBuiltin(name));
}

/** Ranks the tools, as indexes: those that have most words in common with the request first. */
function rankTools(tools: readonly ToolMetadata[], request: string): number[] {
  const wanted = wordsOf(request);
  const scored = tools.map((tool, index) => ({ index, score: countCommon(wanted, tool) }));
  return scored.sort((a, b) => b.score - a.score).map(({ index }) => index);
}

/** Chooses as many of the first texts as there is room for. A text that is too long alone hides none of the next. */
function fill(ranking: readonly number[], texts: readonly string[]): ReadonlyMap<number, string> {
  const chosen = new Map<number, string>();
  let left = COMPILE_LIMITS.catalogLength;
  for (const index of ranking) {
    const text = texts[index] ?? '';
    if (text.length > left) continue;
    left -= text.length;
    chosen.set(index, text);
  }
  return chosen;
}

function countCommon(wanted: ReadonlySet<string>, { name, description }: ToolMetadata): number {
  return [...wordsOf(`${name} ${description}`)].filter((word) => wanted.has(word)).length;
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[a-z0-9]{3,}/g) ?? []);
}

function describeTool(tool: ToolMetadata, isOpen: boolean): string {
  const { functions = [], sources = [], schemas = [] } = tool;
  const passesInputs = isOpen && functions.length + sources.length === 0;
  return [
    nameTool(tool),
    ...describeInputs(tool),
    ...(passesInputs ? ['    any other input: passed on under its name'] : []),
    `    output: ${describeOutput(tool.output)}`,
    ...functions.flatMap((one) => describeVariant('function', one)),
    ...sources.flatMap((one) => describeVariant('source', one)),
    ...schemas.map(({ name, description }) => `    schema ${name}: ${shorten(description)}`),
  ].join('\n');
}

function nameTool({ name, description }: ToolMetadata): string {
  return `- ${name}: ${shorten(description)}`;
}

/** A function or a source that an input names: its inputs are further inputs of the task. */
function describeVariant(what: string, variant: FunctionMetadata): string[] {
  return [
    `    ${what} ${variant.name}: ${shorten(variant.description)}`,
    ...describeInputs(variant).map((line) => `    ${line}`),
    `        output: ${describeOutput(variant.output)}`,
  ];
}

function describeInputs({ inputs }: FunctionMetadata): string[] {
  return Object.values(inputs)
    .toSorted((a, b) => Number(b.required) - Number(a.required))
    .map(describeInput);
}

function describeInput(input: InputMetadata): string {
  const allowed = input.enum?.map((one) => JSON.stringify(one)).join(', ');
  const facts = [
    describeType(input.type),
    input.required ? 'required' : 'optional',
    ...(input.default === null ? [] : [`default ${JSON.stringify(input.default)}`]),
    ...(allowed === undefined ? [] : [`one of ${allowed}`]),
    ...(input.verbatim === true ? ['templates inside it stay text'] : []),
  ];
  return `    ${input.name} (${facts.join('; ')}): ${shorten(input.description)}`;
}

/** Its fields, which paths of templates must name; else the description. */
function describeOutput({ type, description, schema }: FunctionMetadata['output']): string {
  return schema === undefined ? `${describeType(type)}, ${shorten(description)}` : formatShape(schema);
}

function describeType(type = 'any'): string {
  return type === 'array' ? 'list' : type;
}

function shorten(description: string): string {
  return ellipsize(description.replaceAll(/\s+/g, ' '), DESCRIPTION_LENGTH);
}

function sumOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}
