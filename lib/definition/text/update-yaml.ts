import { type Document, isMap, parseDocument, YAMLMap, YAMLSeq } from 'yaml';
import { isObject, type Json } from '../../common/json/json.js';
import type { Path } from '../problems/problem.js';

/** A value that is written at a path of a text, whatever is there. */
export interface YamlUpdate {
  readonly path: Path;
  readonly value: Json;
}

/** A value of so many characters as JSON stands in one line. */
const LINE_LENGTH = 72;

/**
 * Writes values into a text of YAML, and keeps its comments and what else it says. Maps that lead to a value are added when
 * they are missing, or have nothing behind them. The text must be valid.
 */
export function updateYaml(text: string, updates: readonly YamlUpdate[]): string {
  const document = parseDocument(text, { keepSourceTokens: true });
  for (const { path, value } of updates) {
    addMissingMaps(document, path);
    document.setIn(path, createValue(document, value));
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: isPadded(text) });
}

function addMissingMaps(document: Document, path: Path): void {
  for (let length = 1; length < path.length; length++) {
    const part = path.slice(0, length);
    const present: unknown = document.getIn(part, true);
    // A map in one line would have the new values in that line, too.
    if (isMap(present) && present.flow === true && present.items.length === 0) present.flow = false;
    if (document.getIn(part) === null || !document.hasIn(part)) document.setIn(part, document.createNode({}));
  }
}

/** Writes short values in one line each. */
function createValue(document: Document, value: Json): unknown {
  if (JSON.stringify(value).length <= LINE_LENGTH) return document.createNode(value, { flow: true });
  if (Array.isArray(value)) {
    const list = new YAMLSeq();
    for (const entry of value) list.add(createValue(document, entry));
    return list;
  }
  if (!isObject(value)) return document.createNode(value);
  const map = new YAMLMap();
  for (const [key, entry] of Object.entries(value)) map.set(key, createValue(document, entry));
  return map;
}

/** Returns true unless the text writes `{a: 1}` rather than `{ a: 1 }`. */
function isPadded(text: string): boolean {
  return !/\{[\w"']/.test(text.replaceAll(/\{\{|\}\}/g, ''));
}
