/** How a state looks: what went wrong, what is at work, what waits, what is done. */
export type Tone = 'failed' | 'active' | 'paused' | 'waiting' | 'done' | 'stopped';

const TONES: Readonly<Record<string, Tone>> = {
  failed: 'failed',
  error: 'failed',
  cancelled: 'stopped',
  stopped: 'stopped',
  skipped: 'stopped',
  'not run': 'stopped',
  aborted: 'stopped',
  draining: 'paused',
  aborting: 'failed',
  paused: 'paused',
  idle: 'waiting',
  queued: 'waiting',
  pending: 'waiting',
  waiting: 'waiting',
  succeeded: 'done',
  done: 'done',
  settled: 'done',
};

/** States that need attention come first. */
const ORDER: readonly Tone[] = ['failed', 'active', 'paused', 'waiting', 'done', 'stopped'];

/** Returns the look of a state by its name; a state that is not listed is at work. */
export function toneOf(label: string): Tone {
  return Object.hasOwn(TONES, label) ? (TONES[label] ?? 'active') : 'active';
}

/** Compares states by how much attention they need. */
export function compareLabels(a: string, b: string): number {
  return ORDER.indexOf(toneOf(a)) - ORDER.indexOf(toneOf(b)) || (a < b ? -1 : 1);
}
