import { WavetrainError } from '../../common/errors.js';
import { isObject } from '../../common/json/json.js';
import type { Position, TextEdit } from '../../definition/problems/problem.js';
import { detectKind, findRoot } from '../../definition/schema/root.js';
import type { Source } from '../../definition/text/source.js';

/**
 * Pauses or resumes the schedule in a text (D72): changes the value of `paused`, or adds the field before `schedule`. All
 * else stays as it was written, comments too. Returns the same text when it says so already.
 *
 * @param source of the text
 * @throws WavetrainError `invalid_request` when it has no schedule, or it is not clear where to write
 */
export function writePause(text: string, source: Source, isPaused: boolean): string {
  const root = findRoot(source.value, detectKind(source.value) ?? 'pipeline');
  const definition = root.ok ? root.definition : undefined;
  if (!root.ok || !isObject(definition) || definition['schedule'] === undefined) {
    throw new WavetrainError('invalid_request', 'it has no schedule that could be paused or resumed');
  }
  const { paused = false } = definition;
  if (paused === isPaused) return text;
  const added = { kind: 'set', path: ['paused'], value: isPaused, place: { before: 'schedule' } } as const;
  const replaced = { kind: 'replace', value: isPaused } as const;
  const place = { path: [...root.path, 'paused'], at: undefined, base: root.path };
  const fix = source.fixOf({ ...place, change: added }) ?? source.fixOf({ ...place, change: replaced });
  if (fix === undefined) throw new WavetrainError('invalid_request', UNCLEAR);
  return fix.edits.reduceRight((edited, edit) => applyEdit(edited, edit), text);
}

const UNCLEAR =
  'it is not clear where in this file "paused" is to be written: write it into the file yourself';

function applyEdit(text: string, { from, to, text: written }: TextEdit): string {
  return text.slice(0, toOffset(text, from)) + written + text.slice(toOffset(text, to));
}

/** The offset of a position, whose line and column begin at 1. */
function toOffset(text: string, { line, column }: Position): number {
  let start = 0;
  for (let before = 1; before < line; before++) start = text.indexOf('\n', start) + 1;
  return start + column - 1;
}
