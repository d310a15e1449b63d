import { expect } from 'chai';
import { MODEL_LIMITS } from '../../lib/common/limits.js';
import { readModelConfig } from '../../lib/common/config/model-config.js';
import type { AnswerPart, ModelAnswer, ModelProvider } from '../../lib/models/model.js';
import { ModelError } from '../../lib/models/model.js';
import { Models, type ModelsOptions } from '../../lib/models/models.js';
import { type Deferred, deferred, settle } from '../support/deferred.js';
import { catchRejection } from '../support/rejection.js';
import { PauseCounter } from '../support/tool-context.js';
import { createCaller, type TestCaller } from './asking.js';

const END: AnswerPart = { type: 'end', finish: 'stop', usage: { input_tokens: 1, output_tokens: 1 } };

/** Holds every request until a spec lets it end. */
class HeldProvider implements ModelProvider {
  readonly name = 'held';
  /** In flight, or ended, by the last message. */
  readonly asked: string[] = [];
  readonly #held: Deferred<undefined>[] = [];

  async *stream({ messages }: Parameters<ModelProvider['stream']>[0]): AsyncGenerator<AnswerPart> {
    const held = deferred<undefined>();
    this.#held.push(held);
    this.asked.push(JSON.stringify(messages.at(-1)?.content));
    await held.promise;
    yield END;
  }

  /** Ends the request that has been in flight longest. */
  endFirst(): Promise<void> {
    this.#held.shift()?.resolve(undefined);
    return settle();
  }

  async endAll(): Promise<void> {
    while (this.#held.length > 0) await this.endFirst();
  }
}

function createModels(
  provider: ModelProvider,
  options: Pick<ModelsOptions, 'inFlight' | 'random'> = {},
): Models {
  const config = readModelConfig({ OPENAI_API_KEY: 'k', COMPATIBLE_BASE_URL: 'http://127.0.0.1/v1' });
  return new Models({ config, loadProvider: () => Promise.resolve(provider), random: () => 0, ...options });
}

function ask(models: Models, caller: TestCaller, content = 'x', model = 'openai/m'): Promise<ModelAnswer> {
  return models.generate({ model, messages: [{ role: 'user', content }] }, caller);
}

/** A provider that fails so often with an error before it answers. */
function failing(times: number, error: ModelError, asked: { count: number } = { count: 0 }): ModelProvider {
  return {
    name: 'failing',
    // oxlint-disable-next-line require-yield
    async *stream(): AsyncGenerator<AnswerPart> {
      if (asked.count++ < times) throw error;
      yield END;
    },
  };
}

describe('requests to language models (D50)', () => {
  it('lets 8 requests to a provider be in flight, of all callers together, and more with an option', async () => {
    for (const [options, most] of [
      [{}, MODEL_LIMITS.inFlight],
      [{ inFlight: 20 }, 20],
    ] as const) {
      const provider = new HeldProvider();
      const models = createModels(provider, options);
      const answers = Array.from({ length: 30 }, () => ask(models, createCaller()));
      await settle();
      expect(provider.asked).to.have.length(most);
      await provider.endFirst();
      expect(provider.asked).to.have.length(most + 1);
      await provider.endAll();
      await Promise.all(answers);
    }
  });

  it('limits each provider on its own', async () => {
    const provider = new HeldProvider();
    const models = createModels(provider);
    const answers = [
      ...Array.from({ length: 20 }, () => ask(models, createCaller())),
      ask(models, createCaller(), 'other', 'compatible/m'),
    ];
    await settle();
    expect(provider.asked).to.have.length(9);
    expect(provider.asked).to.include('"other"');
    await provider.endAll();
    await Promise.all(answers);
  });

  it('serves a tenant beside another one that has a thousand requests (D25)', async () => {
    const provider = new HeldProvider();
    const models = createModels(provider);
    const greedy = Array.from({ length: 1000 }, () => ask(models, createCaller({ tenant: 'a' })));
    const modest = ask(models, createCaller({ tenant: 'b' }), 'modest');
    await settle();
    expect(provider.asked).to.include('"modest"');
    await provider.endAll();
    await Promise.all([...greedy, modest]);
  });

  it('pauses the time limit of the attempt while it waits for its turn, and not while it is answered', async () => {
    const provider = new HeldProvider();
    const models = createModels(provider, { inFlight: 1 });
    const first = ask(models, createCaller());
    const pauses = new PauseCounter();
    const second = ask(models, { ...createCaller(), pauseTimeout: pauses.pauseTimeout });
    await settle();
    expect(pauses).to.include({ begun: 1, open: 1 });
    await provider.endFirst();
    expect(provider.asked).to.have.length(2);
    expect(pauses).to.include({ begun: 1, open: 0 });
    await provider.endAll();
    await Promise.all([first, second]);
  });

  it('leaves the queue when the attempt ends', async () => {
    const provider = new HeldProvider();
    const models = createModels(provider, { inFlight: 1 });
    const first = ask(models, createCaller());
    const caller = createCaller();
    const second = ask(models, caller);
    await settle();
    caller.abort();
    expect(await catchRejection(second)).to.have.property('retryable', false);
    await provider.endAll();
    await first;
    expect(provider.asked).to.have.length(1);
  });

  it('gives its place to others while it waits to ask again', async () => {
    const provider = failing(
      1,
      new ModelError('rate_limit', 'slow down', { status: 429, retryAfterMs: 5000 }),
    );
    const models = createModels(provider, { inFlight: 1 });
    const caller = createCaller();
    const first = ask(models, caller);
    await caller.waits;
    expect(await ask(models, createCaller())).to.include({ text: '' });
    caller.clock.advance(5000);
    expect(await first).to.include({ text: '' });
  });

  it('waits 1, 2, 4 and 8 s before it asks again, and then gives up with the number of requests', async () => {
    const asked = { count: 0 };
    const models = createModels(failing(99, new ModelError('overloaded', 'busy', { status: 529 }), asked));
    const pauses = new PauseCounter();
    const caller = { ...createCaller(), pauseTimeout: pauses.pauseTimeout };
    const answer = catchRejection(ask(models, caller));
    for (const [requests, ms] of [1000, 2000, 4000, 8000].entries()) {
      await settle();
      expect(asked.count).to.equal(requests + 1);
      caller.clock.advance(ms - 1);
      await settle();
      expect(asked.count).to.equal(requests + 1);
      caller.clock.advance(1);
    }
    expect(await answer).to.include({ message: 'openai/m: busy (tried 5 times)', retryable: true });
    expect(pauses).to.include({ begun: 4, open: 0 });
    expect(caller.clock.pending).to.equal(0);
  });

  it('waits no longer than 60 s, whatever a provider asks for, and says to the task how long the provider asked for', async () => {
    const error = new ModelError('rate_limit', 'tomorrow', { status: 429, retryAfterMs: 86_400_000 });
    const models = createModels(failing(99, error));
    const caller = createCaller({ isPatient: true });
    const given = await catchRejection(ask(models, caller));
    expect(caller.clock.monotonicNow()).to.equal(4 * 60_000);
    expect(given).to.have.property('retryAfterMs', 86_400_000);
  });

  for (const [retryAfterMs, random, ms] of [
    [0, 0, 1000],
    [0, 0.5, 1250],
    [5000, 0, 5000],
    [5000, 0.5, 5250],
    [86_400_000, 1, 66_000],
  ] as const) {
    it(`waits ${ms} ms when the provider asks for ${retryAfterMs} ms and the chance is ${random}`, async () => {
      const error = new ModelError('rate_limit', 'slow down', { status: 429, retryAfterMs });
      const models = createModels(failing(1, error), { random: () => random });
      const caller = createCaller({ isPatient: false });
      const answer = ask(models, caller);
      await caller.waits;
      await settle();
      expect(caller.clock.pending).to.equal(1);
      caller.clock.advance(ms - 1);
      await settle();
      expect(caller.clock.pending).to.equal(1);
      caller.clock.advance(1);
      await answer;
    });
  }

  it('ends while it waits to ask again when the attempt ends', async () => {
    const asked = { count: 0 };
    const models = createModels(failing(99, new ModelError('server', 'broken'), asked));
    const caller = createCaller();
    const answer = catchRejection(ask(models, caller));
    await caller.waits;
    caller.abort();
    expect(await answer).to.be.instanceOf(Error);
    expect(asked.count).to.equal(1);
    expect(caller.clock.pending).to.equal(0);
  });

  for (const kind of ['misconfigured', 'bad_request'] as const) {
    it(`does not ask again after ${kind}`, async () => {
      const asked = { count: 0 };
      const models = createModels(failing(99, new ModelError(kind, 'no'), asked));
      expect(await catchRejection(ask(models, createCaller()))).to.include({
        message: 'openai/m: no',
        retryable: false,
      });
      expect(asked.count).to.equal(1);
    });
  }

  it('ends an answer that takes longer than 15 minutes, however steadily it arrives', async () => {
    const asked: AbortSignal[] = [];
    const caller = createCaller({ isPatient: true });
    const provider: ModelProvider = {
      name: 'slow',
      async *stream(_, signal): AsyncGenerator<AnswerPart> {
        asked.push(signal);
        while (!signal.aborted) {
          yield { type: 'progress' };
          caller.clock.advance(60_000);
          await settle();
        }
        throw signal.reason;
      },
    };
    const error = await catchRejection(ask(createModels(provider), caller));
    expect(error).to.have.property('message').that.includes('no complete answer within 900 s');
    expect(asked).to.have.length(5);
  });

  it('refuses a request with more text than any model reads, before it asks', async () => {
    const provider = new HeldProvider();
    const text = 'x'.repeat(MODEL_LIMITS.promptLength + 1);
    const error = await catchRejection(ask(createModels(provider), createCaller(), text));
    expect(error).to.have.property('message').that.includes('8,388,609 characters').and.includes('select');
    expect(error).to.have.property('retryable', false);
    expect(provider.asked).to.deep.equal([]);
  });

  it('loads a provider once, and again after it could not be loaded', async () => {
    let loads = 0;
    const models = new Models({
      config: readModelConfig({ OPENAI_API_KEY: 'k' }),
      loadProvider: () => {
        loads++;
        if (loads === 1) return Promise.reject(new Error('no such file'));
        return Promise.resolve(failing(0, new ModelError('server', '')));
      },
    });
    expect(await catchRejection(ask(models, createCaller()))).to.have.property('message', 'no such file');
    await Promise.all([ask(models, createCaller()), ask(models, createCaller())]);
    expect(loads).to.equal(2);
  });

  it('loads the providers that callers may name in advance, and again when one was asked that could not be loaded', async () => {
    const loaded: string[] = [];
    const models = new Models({
      config: { ...readModelConfig({ OPENAI_API_KEY: 'k' }), allowed: ['openai/*', 'anthropic/claude'] },
      loadProvider: (name) => {
        loaded.push(name);
        return Promise.reject(new Error('no such file'));
      },
    });
    await models.preload();
    expect(loaded).to.deep.equal(['openai', 'anthropic']);
    expect(await catchRejection(ask(models, createCaller()))).to.have.property('message', 'no such file');
    expect(loaded).to.deep.equal(['openai', 'anthropic', 'openai']);
  });

  it('says to the task what to set when a model that comes from a template needs it', async () => {
    const models = createModels(new HeldProvider());
    const asked = ask(models, createCaller(), 'x', 'anthropic/claude-haiku-4-5');
    expect(await catchRejection(asked)).to.include({
      message: 'the model "anthropic/claude-haiku-4-5" needs the variable ANTHROPIC_API_KEY',
      retryable: false,
    });
  });

  it('say for which model somebody waits, until its first text, or its end', async () => {
    const steps: string[] = [];
    const onWait = (model: string) => {
      steps.push(`asked ${model}`);
      return () => void steps.push('answered');
    };
    const provider: ModelProvider = {
      name: 'talking',
      async *stream(): AsyncGenerator<AnswerPart> {
        yield { type: 'progress' };
        steps.push('at work');
        yield { type: 'text', text: 'hi' };
        steps.push('has begun');
        yield END;
      },
    };
    await ask(createModels(provider), { ...createCaller(), onWait });
    expect(steps).to.deep.equal(['asked openai/m', 'at work', 'answered', 'has begun', 'answered']);
    steps.length = 0;
    const broken = failing(1, new ModelError('bad_request', 'no'));
    await catchRejection(ask(createModels(broken), { ...createCaller(), onWait }));
    expect(steps).to.deep.equal(['asked openai/m', 'answered']);
  });
});
