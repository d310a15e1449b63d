import { durationToMs, UNIT_MS } from '../../common/duration.js';
import { isObject } from '../../common/json/json.js';
import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import { REPEAT_LIMITS } from '../../definition/schema/fields.js';
import { THIS } from '../../definition/template/reference.js';
import type { DraftTask, PipelineDraft } from '../draft.js';

/** Checks the tasks that repeat their call until a condition holds (D83). */
export function* checkRepeats(draft: PipelineDraft): Findings {
  for (const task of draft.tasks) {
    if (task.id === THIS) yield warnOfName(task);
    const { repeat } = task.fields;
    if (!isObject(repeat)) continue;
    yield;
    yield* checkOtherFields(task);
    yield* checkWait(task, repeat['every']);
    yield* checkReading(task);
  }
}

function warnOfName({ path }: DraftTask): Diagnostic {
  const message =
    'the task "this" is called like the output of a round: in repeat.until, {{this.output}} means the task that repeats';
  const hint = 'rename the task, for example to "this_task"';
  return { code: 'reserved_id', severity: 'warning', message, path: [...path, 'id'], hint };
}

const FOR_EACH_ITEM = 'give the items a pipeline of their own whose task repeats, with the tool run_pipeline';

function* checkOtherFields({ fields, fansOut, path }: DraftTask): Generator<Diagnostic> {
  const place = { code: 'invalid_value', path: [...path, 'repeat'], at: 'key' } as const;
  if (fansOut)
    yield { ...place, message: '"repeat" cannot stand beside "parallel_over"', hint: FOR_EACH_ITEM };
  const { cache } = fields;
  if (cache !== true && !isObject(cache)) return;
  const message = '"repeat" cannot stand beside "cache": every round would have the output of the first';
  yield { ...place, message, hint: 'remove "cache"' };
}

/** Checks the duration beyond what the schema says, which bounds only numbers (D82). */
function* checkWait({ path }: DraftTask, every: unknown): Generator<Diagnostic> {
  const ms = typeof every === 'string' ? durationToMs(every) : undefined;
  if (ms === undefined || ms <= REPEAT_LIMITS.everyDays * UNIT_MS.d) return;
  const message = `"every" must be <= ${REPEAT_LIMITS.everyDays}d`;
  yield { code: 'invalid_value', message, path: [...path, 'repeat', 'every'] };
}

/** A condition that reads nothing of the round is after each round as it was after the first. */
function* checkReading({ id, until, path }: DraftTask): Generator<Diagnostic> {
  const readsRound = until.some(({ references }) =>
    // A condition that names its own task means the round, and has an error of its own.
    references.some(
      ({ reference }) => reference.kind === THIS || (reference.kind === 'task' && reference.taskId === id),
    ),
  );
  // A condition without a template, or with one that is not valid, has an error of its own.
  const isBroken = until.some(({ references }) => references.length === 0);
  if (readsRound || isBroken || until.length === 0) return;
  const message = `task "${id}" repeats, but "until" never reads {{this.output}}`;
  const hint = 'write it as in until: "{{this.output.done}}"';
  yield { code: 'this_unused', message, path: [...path, 'repeat', 'until'], hint };
}
