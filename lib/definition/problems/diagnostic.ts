import { toJsonPointer } from '../../common/json/json.js';
import { type Hint, textOfHint } from './hint.js';
import { MAX_PROBLEMS, type Path, type PlaceInText, type Problem, type ProblemCode } from './problem.js';
import type { Steps } from '../../common/scheduling/steps.js';
import { isKeyAlone, type Source } from '../text/source.js';

/** A problem that a check has found, before its position in the text is known. */
export interface Diagnostic {
  readonly code: ProblemCode;
  readonly message: string;
  /** Leads from the root of the definition to the value. */
  readonly path: Path;
  readonly hint?: Hint | undefined;
  /** Points at the key instead of the value, or into its text. */
  readonly at?: 'key' | PlaceInText;
  /** Default: an error. */
  readonly severity?: Problem['severity'];
}

/** Locates diagnostics in the text. Drops those at or below an unquoted template, which has a clearer problem itself. */
export function toProblems(diagnostics: readonly Diagnostic[], source: Source, base: Path): Problem[] {
  const unquoted = new Set(source.unquoted.map(toJsonPointer));
  const isUnquoted = (path: Path): boolean =>
    path.some((_, depth) => unquoted.has(toJsonPointer(path.slice(0, depth + 1))));
  return diagnostics
    .filter(({ path }) => unquoted.size === 0 || !isUnquoted([...base, ...path]))
    .map((diagnostic) => toProblem(diagnostic, source, base));
}

/** Locates a diagnostic: adds the JSON pointer and, with a source, the position in the text. */
export function toProblem(diagnostic: Diagnostic, source?: Source, base: Path = []): Problem {
  const { code, message, path, at, severity } = diagnostic;
  const fullPath = [...base, ...path];
  const hint =
    source !== undefined && isRestOfText(diagnostic, source, fullPath) ? COMMA_HINT : diagnostic.hint;
  const fix =
    typeof hint === 'object' ? source?.fixOf({ path: fullPath, at, base, change: hint.change }) : undefined;
  return {
    code,
    message,
    path: toJsonPointer(fullPath),
    severity: severity ?? 'error',
    ...source?.positionOf(fullPath, at),
    ...(hint === undefined ? {} : { hint: textOfHint(hint) }),
    ...(fix && { fix }),
  };
}

const COMMA_HINT = 'a comma ends a value inside { }: put the text in quotes';

/** Returns true if an unknown name is the rest of a text without quotes after a comma: `{expression: $round(x, 2)}`. */
function isRestOfText({ code, at }: Diagnostic, source: Source, path: Path): boolean {
  const isUnknownName = at === 'key' && (code === 'unknown_input' || code === 'unknown_field');
  return isUnknownName && isKeyAlone(source, path);
}

/** Moves the position into the message, because a line of a text within a definition is not a line of the definition. */
export function withPositionInMessage({ line, column, fix: _, message, ...problem }: Problem): Problem {
  if (line === undefined) return { ...problem, message };
  return { ...problem, message: `line ${line}, column ${column ?? 1} of its text: ${message}` };
}

/** Sorts errors before warnings, and each by position; problems without a line keep their order. */
export function compareProblems(a: Problem, b: Problem): number {
  if (a.severity !== b.severity) return a.severity === 'error' ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

/** Keeps the first 1,000 problems, and says that there are more. */
export function limitProblems(problems: Problem[]): Problem[] {
  const next = problems[MAX_PROBLEMS];
  if (next === undefined) return problems;
  const message = 'and more problems, not listed here';
  return [
    ...problems.slice(0, MAX_PROBLEMS),
    { code: 'too_many', message, path: '', severity: next.severity, hint: 'fix these first' },
  ];
}

/** Collects errors and warnings, of each as many as are reported and one more. */
export class ProblemList<P extends Pick<Diagnostic, 'severity'>> {
  readonly #errors: P[] = [];
  readonly #warnings: P[] = [];

  /** True when there are more errors than are reported: the search for others may stop. Warnings do not count. */
  get isFull(): boolean {
    return this.#errors.length > MAX_PROBLEMS;
  }

  add(problem: P): void {
    const list = problem.severity === 'warning' ? this.#warnings : this.#errors;
    if (list.length <= MAX_PROBLEMS) list.push(problem);
  }

  /** Returns the errors, then the warnings. */
  list(): P[] {
    return [...this.#errors, ...this.#warnings];
  }
}

/** The diagnostics that rules find, one after another; undefined where their work may pause. */
export type Findings = Generator<Diagnostic | undefined>;

/** Collects what rules find, and stops them when there are more errors than are reported. */
export function* collectFindings(findings: Findings): Steps<Diagnostic[]> {
  const collected = new ProblemList<Diagnostic>();
  for (const found of findings) {
    yield;
    if (found !== undefined) collected.add(found);
    if (collected.isFull) break;
  }
  return collected.list();
}
