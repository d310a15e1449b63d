import { measureLetters } from '../../common/json/json.js';
import { INSPECTION_LIMITS } from '../../common/limits.js';
import type { MemoryBudget } from '../../execution/memory-budget.js';
import { type TailLogOptions, TailLog } from '../event-log.js';
import type { InspectionEntry } from './entry.js';

/** An entry as it is kept: its text takes less memory than its objects, and is what readers are sent. */
interface WrittenEntry {
  readonly seq: number;
  /** The InspectionEntry as JSON. */
  readonly json: string;
  readonly bytes: number;
}

/** Memory of an entry besides its text, in bytes. */
const ENTRY_BYTES = 64;

export class InspectionLog extends TailLog<WrittenEntry> {
  /** @param dropped number of entries before the first, which are not known */
  constructor(
    budget?: MemoryBudget,
    limits: TailLogOptions<WrittenEntry>['limits'] = INSPECTION_LIMITS,
    dropped = 0,
  ) {
    super({
      limits,
      kept: Math.floor(limits.entries / 2),
      measure: ({ bytes }) => bytes,
      budget,
      dropped,
      content: 'inspection entries',
    });
  }

  write(entry: Omit<InspectionEntry, 'seq'>): void {
    if (this.isClosed) return;
    const seq = this.lastSeq + 1;
    const json = JSON.stringify({ seq, ...entry });
    this.append({ seq, json, bytes: ENTRY_BYTES + measureLetters(json) });
  }
}
