import type { PipelineCall, PipelineOutcome } from '../../tools/tool.js';
import type { CallingAttempt, InvocationServices, RunDependencies } from '../run-context.js';
import { InvocationModels } from './invocation-models.js';

/** The services of a run for one invocation, whose requests to language models are bounded. */
export class BoundedServices implements InvocationServices {
  readonly dependencies: RunDependencies;
  readonly #services: InvocationServices;
  readonly #models: InvocationModels;

  constructor(services: InvocationServices) {
    this.#services = services;
    this.#models = new InvocationModels(services.dependencies.models);
    this.dependencies = { ...services.dependencies, models: this.#models };
  }

  get prepared(): InvocationServices['prepared'] {
    return this.#services.prepared;
  }

  get parent(): InvocationServices['parent'] {
    return this.#services.parent;
  }

  get journal(): InvocationServices['journal'] {
    return this.#services.journal;
  }

  get session(): InvocationServices['session'] {
    return this.#services.session;
  }

  get memory(): InvocationServices['memory'] {
    return this.#services.memory;
  }

  get budget(): InvocationServices['budget'] {
    return this.#services.budget;
  }

  get nestedRuns(): InvocationServices['nestedRuns'] {
    return {
      run: (call: PipelineCall, attempt: CallingAttempt): Promise<PipelineOutcome> =>
        this.#services.nestedRuns.run(call, attempt, this.#models.within(attempt)),
    };
  }

  get invocations(): number {
    return this.#services.invocations;
  }

  set invocations(count: number) {
    this.#services.invocations = count;
  }
}
