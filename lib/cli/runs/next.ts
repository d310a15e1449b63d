import type { RunRecord } from '../../runs/record.js';
import { PROGRAM } from '../program.js';
import type { Style } from '../style.js';

/** What to do next about a run that has not succeeded (D35); nothing while anything of it is at work. */
export function nextLines({ run_id, status, settled }: RunRecord, style: Style): string[] {
  if (!settled || status === 'succeeded') return [];
  return [
    // Whole, however narrow the terminal: it is there to be copied.
    `  ${style.cyan('hint:')} ${PROGRAM} runs rerun ${run_id} --from failed`,
    '    runs again what has not succeeded',
  ];
}
