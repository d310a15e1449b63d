import { assertDefined } from '../assert.js';
import { groupBy } from '../group-by.js';
import type { Fix, Path, PlaceInText, Position, Problem } from '../problems/problem.js';
import { type AskingSteps, runToEnd, type Steps } from '../../common/scheduling/steps.js';
import { MAX_SHARED_BYTES } from './limits.js';
import { type LocatedChange, textAt, toFix } from '../problems/fix.js';
import { type ParsedText, parseText } from './parse-text.js';
import { Locator } from './positions.js';
import { describeExpansion, scanInSteps } from './scan-value.js';

/** A parsed definition: its value, and the position of each part in the text. */
export interface Source {
  /** Undefined when the definition cannot be read; the problems say why. */
  readonly value: unknown;
  /** Found by parsing. */
  readonly problems: readonly Problem[];
  /** Paths of unquoted templates, which YAML reads as maps. */
  readonly unquoted: readonly Path[];
  /**
   * Returns undefined when the definition came as an object.
   *
   * @param at selects the value, its key, or a place in the value, which is a text
   */
  positionOf(path: Path, at?: 'key' | 'value' | PlaceInText): Position | undefined;
  /** Returns the change as edits of the text; undefined without a text, and where it is not clear what to edit. */
  fixOf(change: LocatedChange): Fix | undefined;
}

/** A definition as text or as an object. */
export type DefinitionInput = { readonly text: string } | { readonly value: unknown };

/** The steps of a check. They ask for the source of a text, since parsing cannot pause: a server does it elsewhere. */
export type CheckSteps<T> = AskingSteps<T, string, Source>;

/** Does all steps in this process, without a pause. */
export function checkToEnd<T>(steps: CheckSteps<T>): T {
  return runToEnd(steps, readSource);
}

/** Parses a text, or wraps an object. */
export function* readInput(input: DefinitionInput): CheckSteps<Source> {
  return 'text' in input ? yield* requestSource(input.text) : yield* readValue(input.value);
}

export function* requestSource(text: string): CheckSteps<Source> {
  return assertDefined(yield text, 'the source of a text');
}

/** Parses YAML or JSON in this process. Never throws. */
export function readSource(text: string): Source {
  return toSource(parseText(text), text);
}

/** Makes a source of a text that was parsed here or elsewhere. */
export function toSource(parsed: ParsedText, text: string): Source {
  const { value, problems, unquoted } = parsed;
  let locator: Locator | undefined;
  const getLocator = (): Locator | undefined =>
    (locator ??= parsed.positions && new Locator(parsed.positions, text));
  return {
    value,
    problems,
    unquoted,
    positionOf: (path, at) => {
      const known = getLocator();
      if (at === undefined || typeof at === 'string') return known?.find(path, at);
      return known?.toPosition(known.offsetInText(path, textAt(value, path), at));
    },
    fixOf: (change) => {
      const known = getLocator();
      return known && toFix(change, { text, value, locator: known });
    },
  };
}

/**
 * Returns true if the text has the key at a path alone, without a colon: `2)` in `{x: f(1, 2)}`. The value of such a key
 * is null, and has the position of the key.
 */
export function isKeyAlone(source: Source, path: Path): boolean {
  const [key, value] = [source.positionOf(path, 'key'), source.positionOf(path)];
  return key !== undefined && key.line === value?.line && key.column === value.column;
}

/** Wraps a definition that came as an object, which has no lines. Never throws. */
export function* readValue(value: unknown): Steps<Source> {
  const scan = yield* scanInSteps(value);
  if (scan.problems.length > 0) return failedSource(scan.problems);
  const message = describeExpansion(scan, MAX_SHARED_BYTES);
  if (message === undefined) return { ...failedSource([]), value };
  return failedSource([{ code: 'too_large', message, path: '', severity: 'error' }]);
}

/** The source of a definition that cannot be read. */
export function failedSource(problems: readonly Problem[]): Source {
  return { value: undefined, problems, unquoted: [], positionOf: () => undefined, fixOf: () => undefined };
}

/** Returns a definition within another one as a source of its own. Its parsing problems are reported with the whole. */
export function nestedSource(whole: Source, base: Path, value: unknown, unquoted: readonly Path[]): Source {
  return {
    value,
    problems: [],
    unquoted,
    positionOf: (path, at) => whole.positionOf([...base, ...path], at),
    fixOf: (change) =>
      whole.fixOf({ ...change, path: [...base, ...change.path], base: [...base, ...change.base] }),
  };
}

/**
 * Groups the paths of unquoted templates by the list entry whose nested definition contains them, such as
 * `tasks/0/inputs/pipeline`. Returns the paths of an entry, from the root of its nested definition. `base` leads to the
 * definition that has the list, and `field` from an entry to its nested definition.
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
