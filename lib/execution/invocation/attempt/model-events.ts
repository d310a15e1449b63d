import { MODEL_LIMITS } from '../../../common/limits.js';
import { cutText } from '../../../common/text.js';
import type { TokenCounts } from '../../../models/model.js';
import type { InvocationServices } from '../../run-context.js';

/** So much text makes an event of its own, or so much time: a model may send a thousand parts a second. */
const EVENT_LENGTH = 1000;
const EVENT_MS = 100;

type Place = { readonly task_id: string; readonly item?: number };

/**
 * Writes the requests of an attempt to language models into the live events (D29): which model they wait for, the text of
 * answers as it arrives, several parts at once, and their tokens.
 */
export class ModelEvents {
  readonly #services: InvocationServices;
  readonly #place: Place;
  readonly #nextRequest: () => number;
  #request = 0;
  #text = '';
  #sinceMs = 0;

  /** @param nextRequest numbers the requests of the attempt */
  constructor(services: InvocationServices, place: Place, nextRequest: () => number) {
    this.#services = services;
    this.#place = place;
    this.#nextRequest = nextRequest;
  }

  /** Call when a model is asked; the returned function when it has begun to answer, or the request has ended. */
  waitFor(model: string): () => void {
    const { clock } = this.#services.dependencies;
    const timer = clock.setTimeout(() => this.#reportWait(model), MODEL_LIMITS.waitNoticeMs);
    return () => clock.clearTimeout(timer);
  }

  #reportWait(model: string): void {
    const { journal } = this.#services;
    if (!journal.isObserved) return;
    const shown = this.#show(model);
    journal.write({ kind: 'log', ...this.#place, message: `waits for ${shown}`, waits_for: shown });
  }

  /** Writes, and adds up for the record, the tokens of an answer. */
  addUsage(name: string, usage: TokenCounts): void {
    const { journal } = this.#services;
    const model = this.#show(name);
    this.flush();
    journal.addUsage(model, usage);
    journal.write({ kind: 'usage', ...this.#place, usage: { model, requests: 1, ...usage } });
  }

  /** The name of a model may be that of a template, and have a secret in it. */
  #show(model: string): string {
    return cutText(this.#services.prepared.secrets.mask(model), MODEL_LIMITS.nameLength);
  }

  /** Call before a request is sent, also when it is repeated: its text begins anew. */
  begin(): void {
    this.flush();
    this.#request = this.#nextRequest();
  }

  add(part: string): void {
    if (!this.#services.journal.isObserved) return;
    const nowMs = this.#services.dependencies.clock.monotonicNow();
    if (this.#text === '') this.#sinceMs = nowMs;
    this.#text += part;
    // A secret may stand across two events, of which neither would be masked: such a run writes an answer at once.
    if (this.#services.prepared.secrets.masker !== undefined) return;
    if (this.#text.length >= EVENT_LENGTH || nowMs - this.#sinceMs >= EVENT_MS) this.flush();
  }

  /** Writes what has not been written yet. */
  flush(): void {
    if (this.#text === '') return;
    const text = this.#services.prepared.secrets.mask(this.#text);
    this.#text = '';
    this.#services.journal.write({ kind: 'text', ...this.#place, request: this.#request, text });
  }
}
