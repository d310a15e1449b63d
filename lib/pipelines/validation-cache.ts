import { createHash } from 'node:crypto';
import type { JsonObject } from '../common/json/json.js';
import { writeJsonInSteps } from '../common/json/json-writer.js';
import type { CheckSteps, DefinitionInput } from '../definition/text/source.js';
import type { CheckOptions } from './check-context.js';
import type { CheckResult } from './pipeline.js';

type ValidResult = CheckResult & { readonly ok: true };

/** Limit of all cached results together. */
const MAX_BYTES = 8 * 2 ** 20;

/**
 * Keeps the results of checks that found no errors, for callers that send the same definition again and again. A result
 * is reused when the keys of inputs and session are equal. Pipelines are immutable, so many runs may share one. A cache
 * serves the checks of one catalog.
 */
export class ValidationCache {
  readonly #maxBytes: number;
  /** In insertion order: the oldest entry is evicted first. */
  readonly #entries = new Map<string, { readonly result: ValidResult; readonly bytes: number }>();
  #bytes = 0;

  /** @param maxBytes estimated memory that the cached results may take */
  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the result for a definition, in steps; without one yet, calls `check`. */
  *get(
    input: DefinitionInput,
    { inputs, session, isChecked = false }: Omit<CheckOptions, 'catalog'>,
    check: () => CheckSteps<CheckResult>,
  ): CheckSteps<CheckResult> {
    const definition =
      'text' in input ? `text ${input.text}` : `value ${yield* writeJsonInSteps(input.value)}`;
    const known = isChecked ? 'checked ' : '';
    const key = shorten(`${known}${formatKeys(inputs)} ${formatKeys(session)} ${definition}`);
    const cached = this.#entries.get(key);
    if (cached !== undefined) return cached.result;
    const result = yield* check();
    if (result.ok) this.#add(key, result);
    return result;
  }

  #add(key: string, result: ValidResult): void {
    const bytes = result.pipeline.sizeBytes + 2 * key.length;
    // Another caller may have added the same definition in the meantime.
    if (bytes > this.#maxBytes || this.#entries.has(key)) return;
    this.#entries.set(key, { result, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#entries.delete(oldest);
      this.#bytes -= freed;
    }
  }
}

/** Longer keys are replaced by their hash, which takes longer to make and less memory to keep. */
const MAX_KEY_LENGTH = 4096;

function shorten(key: string): string {
  return key.length <= MAX_KEY_LENGTH ? key : createHash('sha256').update(key).digest('base64');
}

/** A check depends on which keys exist, but not on their values. */
function formatKeys(values: JsonObject | undefined): string {
  return values === undefined ? '' : JSON.stringify(Object.keys(values));
}
