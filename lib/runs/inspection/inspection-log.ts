import { measureLetters } from '../../common/json/json.js';
import { INSPECTION_LIMITS } from '../../common/limits.js';
import type { MemoryBudget } from '../../execution/memory-budget.js';
import { BoundedLog } from '../bounded-log.js';
import type { InspectionEntry } from './entry.js';

/** An entry as it is kept: its text takes less memory than its objects, and is what readers are sent. */
export interface WrittenEntry {
  readonly seq: number;
  /** The InspectionEntry as JSON. */
  readonly json: string;
}

interface LogLimits {
  readonly entries: number;
  /** In bytes of memory. */
  readonly length: number;
}

/** Memory of an entry besides its text, in bytes. */
const ENTRY_BYTES = 64;

/** The last inspection entries of one run. */
export class InspectionLog extends BoundedLog<WrittenEntry> {
  /** @param dropped number of entries before the first, which are not known */
  constructor(budget?: MemoryBudget, limits: LogLimits = INSPECTION_LIMITS, dropped = 0) {
    const { entries, length } = limits;
    super({ most: entries, kept: Math.floor(entries / 2) + 1, bytes: length }, budget, dropped);
  }

  protected override get readers(): string {
    return 'a reader of inspection entries';
  }

  protected override measure({ json }: WrittenEntry): number {
    return ENTRY_BYTES + measureLetters(json);
  }

  append(entry: Omit<InspectionEntry, 'seq'>): void {
    if (this.isClosed) return;
    const seq = this.lastSeq + 1;
    this.add({ seq, json: JSON.stringify({ seq, ...entry }) });
  }
}
