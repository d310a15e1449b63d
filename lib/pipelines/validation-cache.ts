import type { JsonObject } from '../common/json.js';
import type { Catalog } from '../tools/catalog.js';
import { type Check, checkDefinition, checkPipeline } from './check.js';

/** What the check of a definition depends on, beside the catalog. */
export interface Given {
  readonly inputs?: JsonObject | undefined;
  readonly session?: JsonObject | undefined;
}

type GoodCheck = Check & { readonly ok: true };

interface Known {
  readonly check: GoodCheck;
  readonly bytes: number;
}

/** Of all that is remembered. */
const LIMIT_BYTES = 8 * 2 ** 20;

/**
 * The one validator for those who send the same definitions again and again: a good one that came with the same keys
 * of inputs and session is not checked once more. A pipeline never changes, so many runs may share it.
 */
export class KnownPipelines {
  readonly #catalog: Catalog;
  readonly #limitBytes: number;
  /** In the order in which they came: the first is forgotten first. */
  readonly #known = new Map<string, Known>();
  #bytes = 0;

  /** @param limitBytes what those that are remembered may take in memory, roughly */
  constructor(catalog: Catalog, limitBytes = LIMIT_BYTES) {
    this.#catalog = catalog;
    this.#limitBytes = limitBytes;
  }

  /** As `checkPipeline`, of YAML or JSON. */
  ofText(text: string, given: Given): Check {
    return this.#check('text', text, given, (options) => checkPipeline(text, options));
  }

  /** As `checkDefinition`, of a definition that came as an object. */
  ofValue(value: object, given: Given): Check {
    return this.#check('value', JSON.stringify(value), given, (options) => checkDefinition(value, options));
  }

  #check(
    kind: string,
    text: string,
    { inputs, session }: Given,
    check: (options: Parameters<typeof checkDefinition>[1]) => Check,
  ): Check {
    const key = `${kind} ${keysOf(inputs)} ${keysOf(session)} ${text}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known.check;
    const made = check({ catalog: this.#catalog, ...(inputs && { inputs }), ...(session && { session }) });
    if (made.ok) this.#remember(key, made);
    return made;
  }

  #remember(key: string, check: GoodCheck): void {
    const bytes = check.pipeline.weight + 2 * key.length;
    if (bytes > this.#limitBytes) return;
    this.#known.set(key, { check, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#known) {
      if (this.#bytes <= this.#limitBytes) return;
      this.#known.delete(oldest);
      this.#bytes -= freed;
    }
  }
}

/** A check asks which keys there are, and not for their values. */
function keysOf(given: JsonObject | undefined): string {
  return given === undefined ? '' : JSON.stringify(Object.keys(given));
}
