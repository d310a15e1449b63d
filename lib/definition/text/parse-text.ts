import { type Document, LineCounter, parseDocument, type YAMLParseError } from 'yaml';
import { errorMessage } from '../../common/errors.js';
import { formatMebibytes } from '../../common/text.js';
import {
  type Fix,
  MAX_PROBLEMS,
  type Path,
  type Position,
  type Problem,
  type ProblemCode,
} from '../problems/problem.js';
import { runToEnd } from '../../common/scheduling/steps.js';
import {
  isTooDeep,
  MAX_ALIASES,
  MAX_DEFINITION_BYTES,
  MAX_EXPANSION_BYTES,
  TOO_DEEP_MESSAGE,
} from './limits.js';
import { collectPositions, type Positions } from './positions.js';
import { describeExpansion, scanInSteps } from './scan-value.js';
import { quoteFix, scanDocument } from './scan.js';
import { indentWithSpaces } from './tabs.js';

/** The value and the problems of a text, as plain data that can be sent to another process. */
export interface ParsedText {
  /** Undefined when the text cannot be read. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Paths of unquoted templates, which YAML reads as maps. */
  readonly unquoted: readonly Path[];
  /** Undefined without a value. In the process that parsed the text, they are collected when they are read. */
  readonly positions: Positions | undefined;
}

/** Parses YAML or JSON, which is a subset of YAML (D3, D7). Reports what is wrong with the text; never throws. */
export function parseText(text: string): ParsedText {
  const rejected = rejectText(text);
  if (rejected !== undefined) return failed([rejected]);
  const lines = new LineCounter();
  const document = parseDocumentOf(text, lines);
  const problems = findSyntaxProblems(document, text, lines);
  if (problems.length > 0) return failed(problems);
  const emptyHint = lacksLineBreaks(text) ? NO_BREAKS_HINT : EMPTY_HINT;
  if (document.contents === null) return failed([problem('empty', EMPTY, emptyHint)]);
  const scan = scanDocument(document, text, (offset) => toPosition(lines, offset));
  const isUnreadable = scan.problems.some(({ code }) => code === 'syntax');
  if (isUnreadable || scan.problems.length > MAX_PROBLEMS) return failed(scan.problems);
  const value = toValue(document);
  if (!value.ok) return failed([...scan.problems, problem('too_large', value.error)]);
  const expansion = describeExpansion(runToEnd(scanInSteps(value.value)), MAX_EXPANSION_BYTES);
  if (expansion !== undefined) return failed([...scan.problems, problem('too_large', expansion)]);
  return {
    value: value.value,
    problems: scan.problems,
    unquoted: scan.unquoted,
    get positions() {
      return collectPositions(document, lines);
    },
  };
}

function failed(problems: readonly Problem[]): ParsedText {
  return { value: undefined, problems, unquoted: [], positions: undefined };
}

function problem(code: ProblemCode, message: string, hint?: string, position?: Position): Problem {
  return { code, message, path: '', severity: 'error', ...position, ...(hint === undefined ? {} : { hint }) };
}

/** Parses without stack traces: a text may have an error at every character, and a trace takes longer than the rest. */
function parseDocumentOf(text: string, lineCounter: LineCounter): Document {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    // `scanDocument` finds duplicate keys: the parser's own check is quadratic in the size of a map.
    return parseDocument(text, { lineCounter, uniqueKeys: false, prettyErrors: false, logLevel: 'error' });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
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
  const tags = document.warnings.filter(({ code }) => ['TAG_RESOLVE_FAILED', 'BAD_DIRECTIVE'].includes(code));
  // Reports only the first: the parser does not recover, and later errors mostly follow from it.
  return [...document.errors, ...tags].slice(0, 1).map(({ code, message, pos }) => {
    const position = toPosition(lines, pos[0]);
    const several = 'the text contains more than one YAML document';
    if (code === 'MULTIPLE_DOCS') return problem('several_documents', several, 'keep one per file', position);
    const isTooNested = message.startsWith('Maximum call stack');
    if (isTooNested) return problem('too_deep', TOO_DEEP_MESSAGE, undefined, position);
    const notYaml = `not YAML: ${decapitalize(message)}`;
    const spaces = TAB_ERRORS.has(code) ? fixTabs(document, text, lines) : undefined;
    if (spaces !== undefined) return { ...problem('syntax', notYaml, TAB_HINT, position), fix: spaces };
    const line = getLine(text, lines, position);
    const hint = lacksLineBreaks(text)
      ? NO_BREAKS_HINT
      : syntaxHint({ code, message }, line, position.column);
    const fix = hint === QUOTE_HINT ? quoteValue(line, position.line) : undefined;
    return { ...problem('syntax', notYaml, hint, position), ...(fix && { fix }) };
  });
}

const TAB_HINT = 'indent with spaces, not with tabs';

/** A tab in the indentation is reported as such, or what follows it as badly indented. */
const TAB_ERRORS: ReadonlySet<string> = new Set(['TAB_AS_INDENT', 'BAD_INDENT']);

/** Indents a text with spaces; undefined where that would lead to the same error, and where too many lines change. */
function fixTabs({ errors }: Document, text: string, lines: LineCounter): Fix | undefined {
  const tabs = errors.filter(({ code }) => code === 'TAB_AS_INDENT');
  const reported = new Set(tabs.map(({ pos }) => toPosition(lines, pos[0]).line));
  const indented = indentWithSpaces(text, reported);
  if (indented === undefined || isTooDeep(indented.text)) return undefined;
  const [left] = parseDocumentOf(indented.text, new LineCounter()).errors;
  return left?.code === errors[0]?.code ? undefined : { title: 'indent with spaces', edits: indented.edits };
}

const QUOTE_HINT = 'put quotes around the template';

/** `x: {{a.output}} and more`: a value that starts with a template and ends with its line. */
const UNQUOTED_VALUE = /^(\s*(?:- +)*(?:[\w.-]+: +)?)(\{\{[^"\\#\r\n]*[^\s"\\#])\s*$/;

function quoteValue(text: string, line: number): Fix | undefined {
  const [, before = '', value] = UNQUOTED_VALUE.exec(text) ?? [];
  return value === undefined ? undefined : quoteFix({ line, column: before.length + 1 }, value);
}

const NO_BREAKS_HINT = 'the text has no line breaks: curl -d drops them, --data-binary keeps them';

/** Returns true if a text looks like a file that lost its line breaks. In braces or brackets, a text needs none. */
function lacksLineBreaks(text: string): boolean {
  return text.length > 60 && !/^\s*[{[]|[\r\n]/.test(text) && text.split(': ', 3).length === 3;
}

const ALIGN_KEYS_HINT = 'check the indentation: the keys of one map start in the same column';

type YamlError = Pick<YAMLParseError, 'code' | 'message'>;

/** Suggests how to fix a YAML syntax error at a column of a line, because the parser's messages do not. */
function syntaxHint(error: YamlError, line: string, column: number): string | undefined {
  if (/[:-]\s+\{\{/.test(line)) return QUOTE_HINT;
  if (error.code === 'TAB_AS_INDENT') return TAB_HINT;
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
function isMisaligned({ message }: YamlError): boolean {
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

function toPosition(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function decapitalize(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
