import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from 'yaml';
import { messageOf } from '../../common/errors.js';
import type { Path, Position, Problem, ProblemCode } from '../problem.js';
import {
  isNestedTooDeeply,
  LONGEST_TEXT_BYTES,
  MOST_ALIASES,
  MOST_SHARED_BYTES,
  MOST_UNFOLDED_BYTES,
  namedBy,
  TOO_DEEP,
  unfoldingProblem,
} from './guards.js';
import { scanDocument, scanValue } from './scan.js';
import { syntaxHint } from './syntax-hint.js';

/** A definition as it was given: its value, and where in the text each part of it stands. */
export interface Source {
  readonly value: unknown;
  /** Found by reading already; the value behind them is not to be judged again. */
  readonly problems: readonly Problem[];
  /** Paths at which a template stands unquoted, so that YAML read a map. */
  readonly unquoted: readonly Path[];
  /** Undefined when the definition came as an object. `at` chooses between a key and what it holds. */
  positionOf(path: Path, at?: 'key' | 'value'): Position | undefined;
}

/** A definition that came as an object has no lines. */
export function sourceOfValue(value: unknown): Source {
  const problems = scanValue(value);
  if (problems.length > 0) return unreadable(problems);
  const unfolded = unfoldingProblem(value, MOST_SHARED_BYTES);
  return unfolded === undefined ? { ...NOWHERE, value } : unreadable([problem('too_large', unfolded)]);
}

/**
 * A part of what was read, as a definition of its own; its problems are told with the whole.
 *
 * @param unquoted those of the part, from its own root
 */
export function sourceWithin(whole: Source, base: Path, value: unknown, unquoted: readonly Path[]): Source {
  return {
    value,
    problems: [],
    unquoted,
    positionOf: (path, at) => whole.positionOf([...base, ...path], at),
  };
}

/** Reads YAML or JSON, which is YAML too (D3, D7). Reports whatever the text itself has wrong; never throws. */
export function readSource(text: string): Source {
  const refused = refusalOf(text);
  if (refused !== undefined) return unreadable([refused]);
  const lines = new LineCounter();
  const document = parse(text, lines);
  const problems = syntaxProblems(document, text, lines);
  if (problems.length > 0) return unreadable(problems);
  if (document.contents === null) return unreadable([problem('empty', EMPTY, EMPTY_HINT)]);
  const scan = scanDocument(document, (offset) => positionAt(lines, offset));
  if (scan.problems.some(({ code }) => code === 'syntax')) return unreadable(scan.problems);
  const value = valueOf(document);
  if (!value.ok) return unreadable([...scan.problems, problem('too_large', value.error)]);
  const unfolded = unfoldingProblem(value.value, MOST_UNFOLDED_BYTES);
  if (unfolded !== undefined) return unreadable([...scan.problems, problem('too_large', unfolded)]);
  return {
    value: value.value,
    problems: scan.problems,
    unquoted: scan.unquoted,
    positionOf: (path, at) => locate(document, lines, path, at ?? 'value'),
  };
}

const EMPTY = 'the definition is empty';
const EMPTY_HINT = 'start with "pipeline:", or let `wavetrain init` write one';

/** Another version of YAML reads dates, sets and `yes` where everybody else reads text (D7). */
const OTHER_VERSION = /^%YAML(?!\s+1\.2\s*$)/m;

function refusalOf(text: string): Problem | undefined {
  if (text.trim() === '') return problem('empty', EMPTY, EMPTY_HINT);
  if (Buffer.byteLength(text) > LONGEST_TEXT_BYTES) {
    return problem('too_large', `the definition is longer than ${LONGEST_TEXT_BYTES / 2 ** 20} MiB`);
  }
  if (OTHER_VERSION.test(text)) {
    return problem(
      'syntax',
      'the text asks for another version of YAML than 1.2',
      'take the line with %YAML away',
    );
  }
  if (isNestedTooDeeply(text)) return problem('too_deep', TOO_DEEP);
  return undefined;
}

function parse(text: string, lineCounter: LineCounter): Document {
  // Duplicate keys are looked for in `scanDocument`: the parser's own check is quadratic in the size of a map.
  return parseDocument(text, { lineCounter, uniqueKeys: false, prettyErrors: false, logLevel: 'error' });
}

function syntaxProblems(document: Document, text: string, lines: LineCounter): Problem[] {
  const tags = document.warnings.filter(
    ({ code }) => code === 'TAG_RESOLVE_FAILED' || code === 'BAD_DIRECTIVE',
  );
  // After the first mistake the parser is lost, and what it says further is mostly about that one.
  return [...document.errors, ...tags].slice(0, 1).map(({ code, message, pos }) => {
    const position = positionAt(lines, pos[0]);
    if (code === 'MULTIPLE_DOCS') {
      return problem(
        'several_documents',
        'the text holds more than one YAML document',
        'keep one per file',
        position,
      );
    }
    if (message.startsWith('Maximum call stack')) {
      return problem('too_deep', TOO_DEEP, undefined, position);
    }
    return problem(
      'syntax',
      `not YAML: ${decapitalised(message)}`,
      syntaxHint({ code, message }, lineOf(text, lines, position), position.column),
      position,
    );
  });
}

function lineOf(text: string, { lineStarts }: LineCounter, { line }: Position): string {
  return text.slice(lineStarts[line - 1] ?? 0, lineStarts[line] ?? text.length);
}

function valueOf(document: Document): { ok: true; value: unknown } | { ok: false; error: string } {
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: MOST_ALIASES }) };
  } catch (error) {
    return { ok: false, error: `its aliases cannot be expanded: ${decapitalised(messageOf(error))}` };
  }
}

function locate(
  document: Document,
  lines: LineCounter,
  path: Path,
  at: 'key' | 'value',
): Position | undefined {
  let node: unknown = document.contents;
  let found: Node | null = document.contents;
  for (const [depth, key] of path.entries()) {
    if (isAlias(node)) node = namedBy(node, document);
    if (isSeq(node)) node = node.items[Number(key)];
    else if (isMap(node)) {
      const pair = node.items.find(
        (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(key),
      );
      if (pair === undefined) break;
      node = pair.value ?? pair.key;
      if (at === 'key' && depth === path.length - 1) node = pair.key;
    } else break;
    found = node as Node;
  }
  return found?.range ? positionAt(lines, found.range[0]) : undefined;
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function unreadable(problems: readonly Problem[]): Source {
  return { ...NOWHERE, problems };
}

/** Nothing of it stands in a text. */
const NOWHERE: Source = { value: undefined, problems: [], unquoted: [], positionOf: () => undefined };

function problem(code: ProblemCode, message: string, hint?: string, position?: Position): Problem {
  return { code, message, path: '', severity: 'error', ...position, ...(hint === undefined ? {} : { hint }) };
}

function decapitalised(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
