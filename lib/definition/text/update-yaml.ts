import { type Document, isMap, isNode, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { isObject, type Json } from '../../common/json/json.js';
import { writeFlow } from '../problems/hint.js';
import type { Path } from '../problems/problem.js';

/** A value that is written at a path of a text, whatever is there. */
export interface YamlUpdate {
  readonly path: Path;
  readonly value: Json;
}

/** A value of so many characters stands in one line. */
const LINE_LENGTH = 72;

interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Writes values into a text of YAML. All else stays as it is written, with its comments. Maps that lead to a value are added
 * when they are missing. The text must be valid, and no alias may lead to a value.
 */
export function updateYaml(text: string, updates: readonly YamlUpdate[]): string {
  const document = parseDocument(text);
  const splices = updates.map((update) => createSplice(document, text, update));
  // From the end, so that the positions of the others stay right; of several at one place, the last one first.
  return splices
    .toReversed()
    .sort((a, b) => b.from - a.from)
    .reduce((before, { from, to, text: added }) => before.slice(0, from) + added + before.slice(to), text);
}

function createSplice(document: Document, text: string, { path, value }: YamlUpdate): Splice {
  const present: unknown = document.getIn(path, true);
  if (isNode(present) && present.range) {
    const [from, to] = trimmed(text, present.range);
    const place = { indent: indentOf(text, from), isInFlow: isWithinFlow(document, path) };
    const behindKey = text.slice(0, from).trimEnd();
    if (/[:-]$/.test(behindKey)) return { from: behindKey.length, to, text: render(value, place) };
    // Behind a comment, or in a list that is written in one line.
    return { from, to, text: writeInLine(value) };
  }
  const depth = path.findLastIndex((_, length) => isMap(document.getIn(path.slice(0, length), true)));
  const map = document.getIn(path.slice(0, depth), true) as YAMLMap;
  const [key = '', ...rest] = path.slice(depth);
  const nested = rest.reduceRight<Json>((inner, name) => ({ [name]: inner }), value);
  return addTo(map, String(key), nested, text, isWithinFlow(document, path.slice(0, depth)));
}

/** The end of a block is behind its last line break, and that of its comments. */
function trimmed(text: string, [from, to]: readonly [number, number, number]): [number, number] {
  const blank = /\s*$/.exec(text.slice(from, to))?.[0].length ?? 0;
  return [from, to - blank];
}

function addTo(map: YAMLMap, key: string, value: Json, text: string, isInFlow: boolean): Splice {
  const last = map.items.at(-1);
  const range = map.range ?? [0, 0, 0];
  if (map.flow === true || isInFlow || last === undefined) {
    const from = text.lastIndexOf('}', range[1]);
    const before = text.slice(0, from).trimEnd();
    const added = `${last === undefined ? '' : ','} ${writeInLine({ [key]: value }).slice(2, -2)} `;
    return { from: before.length, to: from, text: added };
  }
  const first = map.items[0] as Pair;
  const indent = columnOf(text, isNode(first.key) ? (first.key.range?.[0] ?? 0) : 0);
  const end = isNode(last.value) ? trimmed(text, last.value.range ?? [0, 0, 0])[1] : range[1];
  const lineEnd = text.indexOf('\n', end);
  // Behind a comment of the last line.
  const from = lineEnd < 0 ? text.length : lineEnd;
  return { from, to: from, text: `\n${' '.repeat(indent)}${renderMember(key, value, indent)}` };
}

interface Place {
  readonly indent: number;
  readonly isInFlow: boolean;
}

/** Renders a value behind its key: in one line if it is short, and as lines of their own otherwise. */
function render(value: Json, { indent, isInFlow }: Place): string {
  const line = writeInLine(value);
  const isEmpty = isObject(value)
    ? Object.keys(value).length === 0
    : !Array.isArray(value) || value.length === 0;
  if (isInFlow || line.length <= LINE_LENGTH || isEmpty) return ` ${line}`;
  const inner = indent + 2;
  const lines = Array.isArray(value)
    ? value.map((entry) => `- ${render(entry, { indent: inner, isInFlow }).trimStart()}`)
    : Object.entries(value as object).map(([key, member]: [string, Json]) =>
        renderMember(key, member, inner),
      );
  return `\n${lines.map((each) => ' '.repeat(inner) + each).join('\n')}`;
}

function renderMember(key: string, value: Json, indent: number): string {
  return `${writeFlow(key, false)}:${render(value, { indent, isInFlow: false })}`;
}

/** As in `{ sum: [1, 2] }`. */
function writeInLine(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(writeInLine).join(', ')}]`;
  if (!isObject(value)) return writeFlow(value, false);
  const members = Object.entries(value).map(
    ([key, member]) => `${writeFlow(key, false)}: ${writeInLine(member)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function isWithinFlow(document: Document, path: Path): boolean {
  return path.some((_, length) => {
    const part: unknown = document.getIn(path.slice(0, length), true);
    return typeof part === 'object' && part !== null && 'flow' in part && part.flow === true;
  });
}

/** The indent of the line in which a position is, behind the dash of an entry. */
function indentOf(text: string, at: number): number {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  return /^[ -]*/.exec(text.slice(start, at))?.[0].length ?? 0;
}

function columnOf(text: string, at: number): number {
  return at - (text.lastIndexOf('\n', at - 1) + 1);
}
