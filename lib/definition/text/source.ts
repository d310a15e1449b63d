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
  type YAMLParseError,
} from 'yaml';
import { errorMessage } from '../../common/errors.js';
import { formatMebibytes } from '../../common/text.js';
import { groupBy } from '../group-by.js';
import type { Path, Position, Problem, ProblemCode } from '../problem.js';
import { describeExpansion, findAliasTarget } from './aliases.js';
import {
  isTooDeep,
  MAX_ALIASES,
  MAX_DEFINITION_BYTES,
  MAX_EXPANSION_BYTES,
  MAX_SHARED_BYTES,
  TOO_DEEP_MESSAGE,
} from './limits.js';
import { scanDocument, scanValue } from './scan.js';

/** A parsed definition: its value, and the position of each part in the text. */
export interface Source {
  readonly value: unknown;
  /** Found by parsing. */
  readonly problems: readonly Problem[];
  /** Paths of unquoted templates, which YAML reads as maps. */
  readonly unquoted: readonly Path[];
  /** Returns undefined when the definition came as an object. `at` selects the key or its value. */
  positionOf(path: Path, at?: 'key' | 'value'): Position | undefined;
}

/** A definition as text or as an object. */
export type DefinitionInput = { readonly text: string } | { readonly value: unknown };

/** Parses a text, or wraps an object. */
export function toSource(input: DefinitionInput): Source {
  return 'text' in input ? readSource(input.text) : sourceFromValue(input.value);
}

/** Parses YAML or JSON, which is a subset of YAML (D3, D7). Reports what is wrong with the text; never throws. */
export function readSource(text: string): Source {
  const rejected = rejectText(text);
  if (rejected !== undefined) return failedSource([rejected]);
  const lines = new LineCounter();
  // `scanDocument` finds duplicate keys: the parser's own check is quadratic in the size of a map.
  const options = { lineCounter: lines, uniqueKeys: false, prettyErrors: false, logLevel: 'error' } as const;
  const document = parseDocument(text, options);
  const problems = findSyntaxProblems(document, text, lines);
  if (problems.length > 0) return failedSource(problems);
  if (document.contents === null) return failedSource([problem('empty', EMPTY, EMPTY_HINT)]);
  const scan = scanDocument(document, (offset) => toPosition(lines, offset));
  if (scan.problems.some(({ code }) => code === 'syntax')) return failedSource(scan.problems);
  const value = toValue(document);
  if (!value.ok) return failedSource([...scan.problems, problem('too_large', value.error)]);
  const expansion = describeExpansion(value.value, MAX_EXPANSION_BYTES);
  if (expansion !== undefined) return failedSource([...scan.problems, problem('too_large', expansion)]);
  return {
    value: value.value,
    problems: scan.problems,
    unquoted: scan.unquoted,
    positionOf: (path, at) => locate(document, lines, path, at ?? 'value'),
  };
}

const EMPTY = 'the definition is empty';
const EMPTY_HINT = 'start with "pipeline:", or run `wavetrain init` to create one';

/** Other versions of YAML read dates, sets and `yes` where this one reads text (D7). */
const OTHER_VERSION = /^%YAML(?!\s+1\.2\s*$)/m;

/** Rejects a text before it is parsed. */
function rejectText(text: string): Problem | undefined {
  if (text.trim() === '') return problem('empty', EMPTY, EMPTY_HINT);
  if (Buffer.byteLength(text) > MAX_DEFINITION_BYTES) {
    return problem('too_large', `the definition is longer than ${formatMebibytes(MAX_DEFINITION_BYTES)}`);
  }
  if (OTHER_VERSION.test(text)) {
    return problem('syntax', 'the text requires a version of YAML other than 1.2', 'remove the %YAML line');
  }
  if (isTooDeep(text)) return problem('too_deep', TOO_DEEP_MESSAGE);
  return undefined;
}

function findSyntaxProblems(document: Document, text: string, lines: LineCounter): Problem[] {
  const tags = document.warnings.filter(
    ({ code }) => code === 'TAG_RESOLVE_FAILED' || code === 'BAD_DIRECTIVE',
  );
  // Reports only the first: the parser does not recover, and later errors mostly follow from it.
  return [...document.errors, ...tags].slice(0, 1).map(({ code, message, pos }) => {
    const position = toPosition(lines, pos[0]);
    if (code === 'MULTIPLE_DOCS') {
      const multiple = 'the text contains more than one YAML document';
      return problem('several_documents', multiple, 'keep one per file', position);
    }
    if (message.startsWith('Maximum call stack')) {
      return problem('too_deep', TOO_DEEP_MESSAGE, undefined, position);
    }
    return problem(
      'syntax',
      `not YAML: ${decapitalize(message)}`,
      syntaxHint({ code, message }, getLine(text, lines, position), position.column),
      position,
    );
  });
}

const ALIGN_KEYS_HINT = 'check the indentation: the keys of one map start in the same column';

/**
 * Suggests how to fix a YAML syntax error, because the parser's messages do not.
 *
 * @param line the line of the error
 * @param column the column of the error, from 1
 */
function syntaxHint(
  error: Pick<YAMLParseError, 'code' | 'message'>,
  line: string,
  column: number,
): string | undefined {
  if (/[:-]\s+\{\{/.test(line)) return 'put quotes around the template';
  if (error.code === 'TAB_AS_INDENT') return 'indent with spaces, not with tabs';
  const startsLine = line.slice(0, column - 1).trim() === '';
  if (isMisaligned(error) || (startsLine && error.message.startsWith('Unexpected scalar at ')))
    return ALIGN_KEYS_HINT;
  // `x: a: b`
  if (/:\s.*:(\s|$)/.test(line))
    return 'put quotes around text that contains ": ", or write it as a block after "|"';
  if (error.code === 'BLOCK_AS_IMPLICIT_KEY') return ALIGN_KEYS_HINT;
  if (error.code !== 'MULTILINE_IMPLICIT_KEY') return undefined;
  // A list entry is where a key is expected.
  if (/^\s*-\s/.test(line)) return ALIGN_KEYS_HINT;
  return 'a key ends with ":" and starts in the same column as the other keys of its map';
}

/** Distinguishes keys in the wrong column from unclosed braces and brackets, which have the same code. */
function isMisaligned({ message }: Pick<YAMLParseError, 'message'>): boolean {
  return message.startsWith('All mapping items') || message.startsWith('Sequence item without');
}

function getLine(text: string, { lineStarts }: LineCounter, { line }: Position): string {
  return text.slice(lineStarts[line - 1] ?? 0, lineStarts[line] ?? text.length);
}

function toValue(document: Document): { ok: true; value: unknown } | { ok: false; error: string } {
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (error) {
    return { ok: false, error: `its aliases cannot be expanded: ${decapitalize(errorMessage(error))}` };
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
    if (isAlias(node)) node = findAliasTarget(node, document);
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
  return found?.range ? toPosition(lines, found.range[0]) : undefined;
}

function toPosition(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function decapitalize(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}

/** Wraps a definition that came as an object, so it has no lines. */
export function sourceFromValue(value: unknown): Source {
  const problems = scanValue(value);
  if (problems.length > 0) return failedSource(problems);
  const expansion = describeExpansion(value, MAX_SHARED_BYTES);
  return expansion === undefined
    ? { ...WITHOUT_TEXT, value }
    : failedSource([problem('too_large', expansion)]);
}

const WITHOUT_TEXT: Source = {
  value: undefined,
  problems: [],
  unquoted: [],
  positionOf: () => undefined,
};

function failedSource(problems: readonly Problem[]): Source {
  return { ...WITHOUT_TEXT, problems };
}

function problem(code: ProblemCode, message: string, hint?: string, position?: Position): Problem {
  return { code, message, path: '', severity: 'error', ...position, ...(hint === undefined ? {} : { hint }) };
}

/**
 * Returns a definition within another one as a source of its own. Its parsing problems are reported with the whole.
 *
 * @param unquoted paths of unquoted templates, from the root of the nested definition
 */
export function nestedSource(whole: Source, base: Path, value: unknown, unquoted: readonly Path[]): Source {
  return {
    value,
    problems: [],
    unquoted,
    positionOf: (path, at) => whole.positionOf([...base, ...path], at),
  };
}

/**
 * Groups the paths of unquoted templates by the list entry whose nested definition contains them, such as
 * `tasks/0/inputs/pipeline`. Returns the paths of an entry, from the root of its nested definition.
 *
 * @param base leads to the definition that has the list
 * @param list the field of the list, and the path from an entry to its nested definition
 */
export function groupUnquotedByEntry(
  { unquoted }: Source,
  base: Path,
  { list, field }: { readonly list: string; readonly field: Path },
): (index: number) => readonly Path[] {
  const paths = unquoted
    .map((path) => path.slice(base.length))
    .filter(([first, , ...rest]) => first === list && field.every((key, depth) => rest[depth] === key));
  const byEntry = groupBy(paths, ([, index]) => index);
  return (index) => (byEntry.get(index) ?? []).map((path) => path.slice(2 + field.length));
}
