import type { Json } from '../common/json/json.js';
import { ellipsize, escapeMarkup, formatCount, formatNumber } from '../common/text.js';
import { cutValue } from '../runs/tasks/cut-value.js';
import { REPORT_LIMITS } from './report-limits.js';

/** A value may grow by so much when it is indented. */
const MAX_INDENTED = 3;

/** Deeper values are not indented. */
const MAX_DEPTH = 16;

/** Writes values as text that can be folded, until they are too long together: a report stays small enough to be mailed. */
export class ValueWriter {
  #lengthLeft: number = REPORT_LIMITS.valuesLength;
  /** Values that did not fit. */
  leftOut = 0;

  /**
   * @param name such as `output`
   * @param isCut it was cut before
   */
  write(name: string, value: Json, isCut = false, isOpen = false): string {
    const cut: string[] = [];
    const text = formatValue(cutValue(value, REPORT_LIMITS.valueLength, '', cut));
    const isShortened = isCut || cut.length > 0;
    const facts = [describeSize(value), ...(isShortened ? ['shortened'] : [])].join(', ');
    const summary = `<summary>${escapeMarkup(name)} <span class="soft">${facts}</span></summary>`;
    return this.#fold(summary, text, isOpen);
  }

  /** Writes a longer text, such as a stack. */
  writeText(name: string, text: string, isOpen = false): string {
    return this.#fold(`<summary>${escapeMarkup(name)}</summary>`, text, isOpen);
  }

  #fold(summary: string, text: string, isOpen: boolean): string {
    const escaped = escapeMarkup(text);
    if (escaped.length > this.#lengthLeft) {
      this.leftOut++;
      return `<details>${summary}<p class="soft">Left out: this report has ${formatNumber(REPORT_LIMITS.valuesLength)} characters of values, its maximum.</p></details>`;
    }
    this.#lengthLeft -= escaped.length;
    return `<details${isOpen ? ' open' : ''}>${summary}<pre tabindex="0">${escaped}</pre></details>`;
  }
}

/** A text as it is, everything else as JSON, with line breaks unless that makes it much longer. */
function formatValue(value: Json): string {
  if (typeof value === 'string') return value;
  const compact = JSON.stringify(value);
  if (isDeeper(value, MAX_DEPTH)) return compact;
  const indented = JSON.stringify(value, undefined, 2);
  return indented.length > MAX_INDENTED * compact.length + 1000 ? compact : indented;
}

function isDeeper(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  return Object.values(value).some((member: Json) => isDeeper(member, depth - 1));
}

function describeSize(value: Json): string {
  if (typeof value === 'string') return `text, ${formatCount(value.length, 'character')}`;
  if (typeof value !== 'object' || value === null) return escapeMarkup(JSON.stringify(value));
  if (Array.isArray(value)) return `list of ${formatNumber(value.length)}`;
  const count = Object.keys(value).length;
  return formatCount(count, 'field');
}

/** One line of text of anybody, cut. */
export function formatMessage(text: string): string {
  return escapeMarkup(ellipsize(text, REPORT_LIMITS.messageLength));
}

/** A time in UTC, to the millisecond. */
export function writeTime(iso: string): string {
  const time = escapeMarkup(iso);
  return `<time datetime="${time}">${time.replace('T', ' ').replace('Z', ' UTC')}</time>`;
}
