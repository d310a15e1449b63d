import type { FailedTask } from '../../../lib/common/errors.js';

/** The moment of a run and the actor that a link leads to. */
export interface Moment {
  /** The entry after which the run is shown; null for the last one. */
  readonly seq: number | null;
  /** Path of the actor; empty for the root. */
  readonly actor: string;
}

/** Reads the hash of a link, as in `#seq=12&actor=run/wave/a`; what makes no sense is ignored. */
export function readMoment(hash: string): Moment {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const seq = Number(fields.get('seq') ?? NaN);
  return { seq: Number.isSafeInteger(seq) && seq > 0 ? seq : null, actor: fields.get('actor') ?? '' };
}

/** Writes the hash of a link, without what is as it is at first. */
export function writeMoment({ seq, actor }: Moment): string {
  const parts = [
    ...(seq === null ? [] : [`seq=${seq}`]),
    ...(actor === '' ? [] : [`actor=${encodeURIComponent(actor).replaceAll('%2F', '/')}`]),
  ];
  return parts.length === 0 ? '' : `#${parts.join('&')}`;
}

/** The task that an actor carries out, as the routes of tasks name it. */
export interface TaskAddress {
  readonly taskId: string;
  /** Only in a run of a plan. */
  readonly subPipeline: string | undefined;
  /** Index of the item of a fan-out. */
  readonly item: number | undefined;
}

/**
 * Reads the task from the path of an actor, as in `run/wave/TASK`, `run/wave/TASK/fan-out/ITEM` and
 * `plan/sub-runs/SUB/wave/TASK`; undefined for other actors.
 */
export function taskOfActor(path: string): TaskAddress | undefined {
  const parts = path.split('/');
  const isPlan = parts[0] === 'plan';
  const wave = isPlan ? 3 : 1;
  const taskId = parts[wave + 1];
  if (parts[wave] !== 'wave' || taskId === undefined) return undefined;
  const last = parts.at(-1) ?? '';
  const isItem = parts[wave + 2] === 'fan-out' && /^\d+$/.test(last) && parts.length > wave + 3;
  return { taskId, subPipeline: isPlan ? parts[2] : undefined, item: isItem ? Number(last) : undefined };
}

/** Writes the path of the actor of a task or an item, as {@link taskOfActor} reads it. */
export function actorOfTask({ sub_pipeline, task_id, item }: FailedTask): string {
  const run = sub_pipeline === undefined ? 'run' : `plan/sub-runs/${sub_pipeline}`;
  return `${run}/wave/${task_id}${item === undefined ? '' : `/fan-out/${item}`}`;
}
