import type { InvocationServices } from '../../run-context.js';

/** So much text makes an event of its own, or so much time: a model may send a thousand parts a second. */
const EVENT_LENGTH = 1000;
const EVENT_MS = 100;

type Place = { readonly task_id: string; readonly item?: number };

/** Writes the text of a model's answers into the live events as it arrives, several parts at once (D29). */
export class AnswerText {
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
