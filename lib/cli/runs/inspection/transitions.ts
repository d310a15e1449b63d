import type { Environment } from '../../../common/config.js';
import type { InspectionEntry } from '../../../runs/inspection/entry.js';
import type { OpenInspection } from '../../../runs/inspection/inspection.js';
import { toSingleLine } from '../../render/text.js';

/** Formats one line: `12:00:01.250 run/wave/a invoking > succeeded task.settled from run/wave`. */
export function formatEntry({ time, actor, from, state, event, source }: InspectionEntry): string {
  const change = from === null || from === state ? state : `${from} > ${state}`;
  const sender = source === null ? '' : ` from ${source}`;
  return toSingleLine(`${time.slice(11, 23)} ${actor} ${change} ${event}${sender}`);
}

/** The names under which `DEBUG` asks for the transitions of runs, as other programs of Node.js use it. */
const NAMES: readonly string[] = ['*', 'wavetrain:*', 'wavetrain:run'];

/** Whether the lines of {@link printTransitions} are wanted: `DEBUG=wavetrain:*`. */
export function wantsTransitions(env: Environment): boolean {
  const wanted = (env['DEBUG'] ?? '').split(/[\s,]+/);
  return NAMES.some((name) => wanted.includes(name));
}

/** Entries that are printed at once. */
const PAGE = 1000;

/** Prints what the actors of a run receive, one line each, as it happens. */
export function printTransitions({ log }: OpenInspection, print: (line: string) => void): void {
  let last = 0;
  const printNew = (): void => {
    for (
      let page = log.readAfter(last, PAGE).events;
      page.length > 0;
      page = log.readAfter(last, PAGE).events
    ) {
      for (const { seq, json } of page) {
        last = seq;
        const entry: InspectionEntry = JSON.parse(json);
        print(`wavetrain:run ${formatEntry(entry)}`);
      }
    }
  };
  log.subscribe(printNew);
  printNew();
}
