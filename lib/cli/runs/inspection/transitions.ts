import type { Environment } from '../../../common/config/environment.js';
import { isObject } from '../../../common/json/json.js';
import { cutText } from '../../../common/text.js';
import type { InspectionEntry } from '../../../runs/inspection/entry.js';
import type { OpenInspection } from '../../../runs/inspection/inspection.js';
import { toSingleLine } from '../../render/text.js';

const MAX_REASON_LENGTH = 200;

/** Formats one line, the event before what it changed: `12:00:01.250 run/wave wave.begin from run: idle > settling`. */
export function formatEntry(entry: InspectionEntry): string {
  const { time, actor, from, state, event, source } = entry;
  const change = from === null || from === state ? state : `${from} > ${state}`;
  const sender = source === null ? '' : ` from ${source}`;
  const reason = state === 'failed' ? reasonOf(entry) : '';
  return toSingleLine(`${time.slice(11, 23)} ${actor} ${event}${sender}: ${change}${reason}`);
}

/** Why an actor has failed, if its output says so. */
function reasonOf({ snapshot, data }: InspectionEntry): string {
  const output = isObject(snapshot) ? snapshot['output'] : undefined;
  for (const holder of [output, snapshot, data]) {
    const error = isObject(holder) ? holder['error'] : undefined;
    const message = isObject(error) ? error['message'] : error;
    if (typeof message === 'string') return ` (${cutText(message, MAX_REASON_LENGTH)})`;
  }
  return '';
}

/** The names under which `DEBUG` asks for the transitions of runs, as other programs of Node.js use it. */
const NAMES: readonly string[] = ['*', 'wavetrain', 'wavetrain:*', 'wavetrain:run'];

/** True when `DEBUG=wavetrain:*` asks for the lines of {@link printTransitions}. */
export function wantsTransitions(env: Environment): boolean {
  const wanted = (env['DEBUG'] ?? '').split(/[\s,]+/);
  return NAMES.some((name) => wanted.includes(name));
}

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
