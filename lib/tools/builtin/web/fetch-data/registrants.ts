import { ToolError } from '../../../../common/errors.js';
import { isObject } from '../../../../common/json/json.js';

/** A company that files reports with the SEC. */
export interface Registrant {
  /** Ten digits. */
  readonly cik: string;
  /** Empty when the index does not list the company. */
  readonly ticker: string;
  /** As registered; empty likewise. */
  readonly name: string;
}

/** A ticker with the place where its shares are traded, or with their class. */
const TICKER_WITH_SUFFIX = /^([A-Z0-9]{1,6})[.-][A-Z]{1,3}$/;

/** The index of the companies that file with the SEC, by ticker, name and CIK number. */
export class RegistrantIndex {
  readonly #byCik = new Map<string, Registrant>();
  readonly #byTicker = new Map<string, Registrant>();
  /** By name in lower case. */
  readonly #byName = new Map<string, Registrant>();
  /** The keys of `#byName`, sorted. */
  readonly #names: readonly string[];

  private constructor(registrants: readonly Registrant[]) {
    for (const registrant of registrants) {
      addFirst(this.#byCik, registrant.cik, registrant);
      addFirst(this.#byTicker, registrant.ticker.toUpperCase(), registrant);
      addFirst(this.#byName, registrant.name.toLowerCase(), registrant);
    }
    this.#names = [...this.#byName.keys()].sort();
  }

  /**
   * @param index as `company_tickers.json` of the SEC: objects with `cik_str`, `ticker` and `title`
   * @throws ToolError when there is no company in it
   */
  static read(index: unknown): RegistrantIndex {
    const rows = typeof index === 'object' && index !== null ? Object.values(index) : [];
    const registrants = rows.flatMap((row: unknown): Registrant[] => {
      if (!isObject(row)) return [];
      const { cik_str: cik, ticker, title } = row;
      if (typeof ticker !== 'string' || typeof title !== 'string') return [];
      return [{ cik: String(cik).padStart(10, '0'), ticker, name: title }];
    });
    if (registrants.length > 0) return new RegistrantIndex(registrants);
    throw new ToolError('the SEC has answered without its index of companies');
  }

  /**
   * Finds a company by its CIK number, its ticker or its name as registered; otherwise those whose names begin with the
   * words of the input; otherwise by its ticker with a suffix, such as `AAPL.US`. A number need not be listed.
   *
   * @returns none, one, or all that the input may mean
   */
  find(input: string): readonly Registrant[] {
    const text = input.trim();
    if (/^\d{1,10}$/.test(text)) {
      const cik = text.padStart(10, '0');
      return [this.#byCik.get(cik) ?? { cik, ticker: '', name: '' }];
    }
    const [ticker, name] = [text.toUpperCase(), text.toLowerCase()];
    // The SEC writes BRK-B for what others write as BRK.B.
    const exact =
      this.#byTicker.get(ticker) ?? this.#byName.get(name) ?? this.#byTicker.get(ticker.replace('.', '-'));
    if (exact !== undefined) return [exact];
    const named = this.#findByWords(name);
    if (named.length > 0) return named;
    const [, shortened] = TICKER_WITH_SUFFIX.exec(ticker) ?? [];
    const registrant = shortened === undefined ? undefined : this.#byTicker.get(shortened);
    return registrant === undefined ? [] : [registrant];
  }

  /** Finds the companies whose names begin with words: `apple` is not how `applovin corp` begins. */
  #findByWords(words: string): Registrant[] {
    const found = new Map<string, Registrant>();
    if (!/[\p{L}\p{N}]/u.test(words)) return [];
    for (let at = this.#firstFrom(words); this.#names[at]?.startsWith(words) === true; at++) {
      const name = this.#names[at] ?? '';
      const registrant = this.#byName.get(name);
      if (registrant === undefined || /^[\p{L}\p{N}]/u.test(name.slice(words.length))) continue;
      addFirst(found, registrant.cik, registrant);
    }
    return [...found.values()];
  }

  /** Where the names begin that are not before a text. */
  #firstFrom(text: string): number {
    let [low, high] = [0, this.#names.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#names[middle] ?? '') < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function addFirst<T>(map: Map<string, T>, key: string, value: T): void {
  if (!map.has(key)) map.set(key, value);
}
