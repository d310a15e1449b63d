import { Counter, type Registry } from 'prom-client';
import { MAX_MODELS_IN_METRICS } from '../common/limits.js';
import type { ModelUsage } from '../models/model.js';

/** The use of one model since the last read: adding to a plain number is much faster than to a Counter. */
interface Unread {
  readonly provider: string;
  readonly model: string;
  requests: number;
  input: number;
  output: number;
  cost: number | undefined;
}

/** Answers of language models, and their tokens. */
export class ModelMetrics {
  readonly #requests: Counter<'provider' | 'model'>;
  readonly #tokens: Counter<'provider' | 'model' | 'direction'>;
  /** Created with the first cost: without prices there is no such metric. */
  #cost: Counter<'provider' | 'model'> | undefined;
  readonly #registry: Registry;
  readonly #models = new Map<string, Unread>();
  /** Callers name models: beyond a number of them, they are counted as one. */
  readonly #named = new Map<string, number>();

  constructor(registry: Registry) {
    this.#registry = registry;
    const registers = [registry];
    this.#requests = new Counter({
      name: 'wavetrain_model_requests_total',
      help: 'Requests that language models have answered.',
      labelNames: ['provider', 'model'],
      registers,
      collect: () => this.#collect(),
    });
    this.#tokens = new Counter({
      name: 'wavetrain_model_tokens_total',
      help: 'Tokens of these requests (input) and of their answers (output), as the providers count them.',
      labelNames: ['provider', 'model', 'direction'],
      registers,
      collect: () => this.#collect(),
    });
  }

  record({ model: name, requests, input_tokens: input, output_tokens: output, cost }: ModelUsage): void {
    const unread = this.#getModel(name);
    unread.requests += requests;
    unread.input += input;
    unread.output += output;
    if (cost !== undefined) {
      unread.cost = (unread.cost ?? 0) + cost;
      this.#cost ??= this.#createCost();
    }
  }

  #createCost(): Counter<'provider' | 'model'> {
    return new Counter({
      name: 'wavetrain_model_cost_dollars_total',
      help: 'What these requests have cost in US dollars, at the prices that are configured.',
      labelNames: ['provider', 'model'],
      registers: [this.#registry],
      collect: () => this.#collect(),
    });
  }

  #getModel(name: string): Unread {
    const existing = this.#models.get(name);
    if (existing !== undefined) return existing;
    const slash = name.indexOf('/');
    const provider = name.slice(0, slash);
    const named = this.#named.get(provider) ?? 0;
    const isOther = named >= MAX_MODELS_IN_METRICS;
    if (isOther && !name.endsWith('/other')) return this.#getModel(`${provider}/other`);
    this.#named.set(provider, named + 1);
    const model = name.slice(slash + 1);
    const created = { provider, model, requests: 0, input: 0, output: 0, cost: undefined };
    this.#models.set(name, created);
    return created;
  }

  #collect(): void {
    for (const unread of this.#models.values()) {
      const { provider, model, requests, input, output, cost } = unread;
      this.#requests.inc({ provider, model }, requests);
      this.#tokens.inc({ provider, model, direction: 'input' }, input);
      this.#tokens.inc({ provider, model, direction: 'output' }, output);
      if (cost !== undefined) this.#cost?.inc({ provider, model }, cost);
      Object.assign(unread, { requests: 0, input: 0, output: 0, cost: undefined });
    }
  }
}
