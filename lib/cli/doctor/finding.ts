/** One thing that `doctor` looked at. */
export interface Finding {
  readonly name: string;
  /** `ok`; `missing` is no trouble by itself; `broken` keeps something from working. */
  readonly state: 'ok' | 'missing' | 'broken';
  /** What was found. Never a secret. */
  readonly found: string;
  /** What to do about it. */
  readonly advice?: string;
}
