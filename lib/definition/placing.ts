import { type Path, type Problem, pointerOf } from './problem.js';
import type { Source } from './text/source.js';
import type { Finding } from './schema/structure.js';

/** A finding as a problem: with its pointer, and its position in the text. `base` leads to the definition. */
export function placed(finding: Finding, source: Source, base: Path): Problem {
  const { code, message, path, hint, at, severity } = finding;
  const whole = [...base, ...path];
  return {
    code,
    message,
    path: pointerOf(whole),
    severity: severity ?? 'error',
    ...source.positionOf(whole, at),
    ...(hint === undefined ? {} : { hint }),
  };
}

/** Takes away what stands at or below an unquoted template: it has been told already, in better words. */
export function notToldAlready(source: Source, base: Path): (finding: Finding) => boolean {
  const unquoted = new Set(source.unquoted.map(pointerOf));
  if (unquoted.size === 0) return () => true;
  return ({ path }) => {
    const whole = [...base, ...path];
    return !whole.some((_, depth) => unquoted.has(pointerOf(whole.slice(0, depth + 1))));
  };
}

/** Of a text within a definition: its lines would be taken for those of the definition. */
export function problemOfText({ line, column, message, ...problem }: Problem): Problem {
  if (line === undefined) return { ...problem, message };
  return { ...problem, message: `line ${line}, column ${column ?? 1} of its text: ${message}` };
}

/** Errors first, each kind in the order of the text; a sort keeps the order of what has no line. */
export function byPosition(a: Problem, b: Problem): number {
  if (a.severity !== b.severity) return a.severity === 'error' ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

/** Nobody reads more; and a text of nothing but mistakes would be answered with many times its size. */
const MOST_PROBLEMS = 1000;

/** The first of them, and how many more there are. */
export function firstProblems(problems: Problem[]): Problem[] {
  const more = problems.length - MOST_PROBLEMS;
  const next = problems[MOST_PROBLEMS];
  if (next === undefined) return problems;
  const message = `and ${more} more ${more === 1 ? 'problem' : 'problems'}, not told here`;
  return [
    ...problems.slice(0, MOST_PROBLEMS),
    { code: 'too_many', message, path: '', severity: next.severity, hint: 'mend these first' },
  ];
}
