import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { toJsonPointer } from '../../common/json/json.js';
import {
  type Fix,
  MAX_PROBLEMS,
  type Path,
  type Position,
  type Problem,
  type ProblemCode,
} from '../problems/problem.js';
import { MAX_NESTING, TOO_DEEP_MESSAGE } from './limits.js';

const PLAIN_TAGS: ReadonlySet<string> = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** Findings that the parsed value does not show: duplicate keys, unquoted templates, values that JSON lacks (D7). */
interface Scan {
  readonly problems: Problem[];
  readonly unquoted: Path[];
}

export function scanDocument(document: Document, text: string, positionAt: PositionAt): Scan {
  const scan = new Scanner(text, positionAt);
  scan.visit(document.contents, []);
  return scan;
}

type PositionAt = (offset: number) => Position;

/** A template, or a number or key that is one word. */
const QUOTABLE = /^(?:\{\{[^"\\\n\r{}]*\}\}|[\w.+-]+)$/;

function isUnsafe(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** Puts quotes around a text that starts at a position. */
export function quoteFix(from: Position, written: string): Fix {
  const to = { line: from.line, column: from.column + written.length };
  return { title: 'put quotes around it', edits: [{ from, to, text: `"${written}"` }] };
}

interface Remedy {
  readonly hint?: string;
  /** The hint is to put quotes around the node, which a fix can do. */
  readonly canQuote?: boolean;
}

/** YAML 1.1 has merge keys; in 1.2, tools would be given a field of that name (D7). */
const MERGE_KEY = 'YAML 1.2 has no merge keys: "<<" would be a field of that name';
const MERGE_HINT =
  'write the fields here, or use an alias as the whole value; put quotes around "<<" if it is a name';

const NO_REMEDY: Remedy = {};
const QUOTE_IT: Remedy = { hint: 'put quotes around it', canQuote: true };

class Scanner implements Scan {
  readonly problems: Problem[] = [];
  readonly unquoted: Path[] = [];
  /** Anchors seen so far: an alias comes after its anchor. */
  readonly #anchors = new Set<string>();
  readonly #text: string;
  readonly #positionAt: PositionAt;

  constructor(text: string, positionAt: PositionAt) {
    this.#text = text;
    this.#positionAt = positionAt;
  }

  /** True when there are more problems than are reported. */
  get #isFull(): boolean {
    return this.problems.length > MAX_PROBLEMS;
  }

  visit(node: unknown, path: (string | number)[]): void {
    if (this.#isFull) return;
    if (isNode(node)) this.#visitTag(node, path);
    if (isScalar(node)) this.#visitScalar(node, path);
    else if (isAlias(node)) this.#visitAlias(node, path);
    else if (path.length > MAX_NESTING) {
      this.#report('too_deep', TOO_DEEP_MESSAGE, NO_REMEDY, path, node);
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) this.#within(path, index, item);
    } else if (isMap(node)) this.#visitMap(node, path);
    // Last: an alias within the node cannot refer to it, or the node would contain itself.
    if ((isScalar(node) || isCollection(node)) && node.anchor) this.#anchors.add(node.anchor);
  }

  #visitMap(node: YAMLMap, path: (string | number)[]): void {
    const seen = new Set<string>();
    for (const pair of node.items) {
      if (!isScalar(pair.key)) {
        if (isMap(pair.key)) this.#reportUnquoted(node.items.length === 1 ? node : pair.key, path);
        else this.#report('syntax', 'a key must be text', QUOTE_IT, path, pair.key);
        continue;
      }
      const key = String(pair.key.value);
      if (seen.has(key)) {
        const message = `duplicate key "${key}"`;
        this.#report('duplicate_key', message, { hint: 'keep one of them' }, [...path, key], pair.key);
      }
      if (key === '<<' && pair.key.type === 'PLAIN' && !isScalar(pair.value))
        this.#report('invalid_value', MERGE_KEY, { hint: MERGE_HINT }, [...path, key], pair.key);
      seen.add(key);
      this.#within(path, key, pair.value);
    }
  }

  /** `x: {{a.output}}` without quotes: YAML reads a map whose key is a map. */
  #reportUnquoted(node: YAMLMap, path: readonly (string | number)[]): void {
    this.unquoted.push([...path]);
    const message = 'YAML reads this as a map, not as a template';
    const remedy = { hint: 'put quotes around the template', canQuote: true };
    this.#report('unquoted_template', message, remedy, path, node);
  }

  #visitTag(node: Node, path: Path): void {
    if (node.tag === undefined || PLAIN_TAGS.has(node.tag)) return;
    const message = `a definition cannot have the tag ${node.tag}`;
    this.#report('syntax', message, { hint: 'remove it' }, path, node);
  }

  #visitScalar(node: Scalar, path: Path): void {
    const { value } = node;
    if (typeof value !== 'number') return;
    if (!Number.isFinite(value)) {
      this.#report('invalid_value', `${value} is not a JSON number`, NO_REMEDY, path, node);
    } else if (isUnsafe(value) && /^[-+]?\d+$/.test(node.source ?? '')) {
      const message = `${node.source} has more digits than a number can hold; it would become ${value}`;
      this.#report('invalid_value', message, QUOTE_IT, path, node);
    }
  }

  #visitAlias(alias: Alias, path: readonly (string | number)[]): void {
    if (this.#anchors.has(alias.source)) return;
    const message = `not YAML: there is no anchor "&${alias.source}"`;
    this.#report('syntax', message, { hint: `quote "*${alias.source}" if it is text` }, path, alias);
  }

  #within(path: (string | number)[], key: string | number, node: unknown): void {
    path.push(key);
    this.visit(node, path);
    path.pop();
  }

  #report(code: ProblemCode, message: string, remedy: Remedy, path: Path, node: unknown): void {
    if (this.#isFull) return;
    const { hint, canQuote = false } = remedy;
    const range = (node as { readonly range?: readonly number[] | null } | null)?.range;
    const problem = { code, message, path: toJsonPointer(path), severity: 'error' } as const;
    this.problems.push({
      ...problem,
      ...(range && this.#positionAt(range[0] ?? 0)),
      ...(hint && { hint }),
      ...(range && canQuote && this.#quote(range)),
    });
  }

  /** Puts quotes around what stands on one line. */
  #quote([start = 0, end = start]: readonly number[]): Pick<Problem, 'fix'> | undefined {
    const written = this.#text.slice(start, end).trimEnd();
    if (!QUOTABLE.test(written)) return undefined;
    return { fix: quoteFix(this.#positionAt(start), written) };
  }
}
