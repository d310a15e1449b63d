import type { JsonObject } from '../common/json.js';
import type { Catalog } from '../tools/catalog.js';
import { type CheckOptions, checkDefinition, checkPipeline } from './check.js';
import type { CheckResult, RunValues } from './pipeline.js';

type ValidResult = CheckResult & { readonly ok: true };

interface CacheEntry {
  readonly result: ValidResult;
  readonly bytes: number;
}

/** Limit of all cached results together. */
const MAX_BYTES = 8 * 2 ** 20;

/**
 * Validates definitions and caches the valid ones, for callers that send the same definition again and again. A result
 * is reused when the keys of inputs and session are equal. Pipelines are immutable, so many runs may share one.
 */
export class ValidationCache {
  readonly #catalog: Catalog;
  readonly #maxBytes: number;
  /** In insertion order: the oldest entry is evicted first. */
  readonly #entries = new Map<string, CacheEntry>();
  #bytes = 0;

  /** @param maxBytes estimated memory that the cached results may take */
  constructor(catalog: Catalog, maxBytes = MAX_BYTES) {
    this.#catalog = catalog;
    this.#maxBytes = maxBytes;
  }

  /** Checks YAML or JSON, as `checkPipeline` does. */
  checkText(text: string, values: RunValues): CheckResult {
    return this.#check('text', text, values, (options) => checkPipeline(text, options));
  }

  /** Checks a definition that came as an object, as `checkDefinition` does. */
  checkValue(value: object, values: RunValues): CheckResult {
    return this.#check('value', JSON.stringify(value), values, (options) => checkDefinition(value, options));
  }

  #check(
    kind: string,
    text: string,
    { inputs, session }: RunValues,
    check: (options: CheckOptions) => CheckResult,
  ): CheckResult {
    const key = `${kind} ${formatKeys(inputs)} ${formatKeys(session)} ${text}`;
    const cached = this.#entries.get(key);
    if (cached !== undefined) return cached.result;
    const result = check({ catalog: this.#catalog, inputs, session });
    if (result.ok) this.#add(key, result);
    return result;
  }

  #add(key: string, result: ValidResult): void {
    const bytes = result.pipeline.sizeBytes + 2 * key.length;
    if (bytes > this.#maxBytes) return;
    this.#entries.set(key, { result, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#entries.delete(oldest);
      this.#bytes -= freed;
    }
  }
}

/** A check depends on which keys exist, but not on their values. */
function formatKeys(values: JsonObject | undefined): string {
  return values === undefined ? '' : JSON.stringify(Object.keys(values));
}
