import { readModelConfig } from '../../lib/common/config/model-config.js';
import { createModels } from '../../lib/models/create-models.js';
import type { ModelAnswer, ModelRequest, TokenCounts } from '../../lib/models/model.js';
import type { ModelCaller, Models } from '../../lib/models/models.js';
import { ManualClock } from '../support/manual-clock.js';
import type { ModelServer } from './model-server.js';
import type { Wire } from './wires.js';

/** A key that no message may show. */
export const KEY = 'sk-proj-Zx81QvMn45RtLbKp77WyHd92';

/** A caller whose waits a spec can see. */
export interface TestCaller extends ModelCaller {
  readonly clock: ManualClock;
  readonly usage: readonly (TokenCounts & { readonly model: string })[];
  /** Resolves when the caller waits for the first time, for its turn or before it asks again. */
  readonly waits: Promise<void>;
  abort(): void;
}

/** @param isPatient lets the time pass when it waits; otherwise the spec advances the clock */
export function createCaller({ isPatient = false, tenant = 'tenant' } = {}): TestCaller {
  const clock = new ManualClock();
  const controller = new AbortController();
  const usage: (TokenCounts & { readonly model: string })[] = [];
  let noteWait: () => void = () => undefined;
  const waits = new Promise<void>((resolve) => {
    noteWait = resolve;
  });
  return {
    tenant_id: tenant,
    clock,
    signal: controller.signal,
    pauseTimeout: () => {
      queueMicrotask(() => {
        noteWait();
        if (isPatient) clock.advance(60_000);
      });
      return () => undefined;
    },
    onUsage: (model, counts) => void usage.push({ model, ...counts }),
    usage,
    waits,
    abort: () => controller.abort(new Error('the attempt has ended')),
  };
}

/** The models of a provider whose server is that of a spec. */
export function createTestModels(wire: Wire, { url }: Pick<ModelServer, 'url'>, key = KEY): Models {
  return createModels(readModelConfig(wire.variables(url, key)), { folders: [], random: () => 0 });
}

/** Asks a model. By default `Say hi`, with a caller who is patient. */
export function ask(
  wire: Wire,
  server: Pick<ModelServer, 'url'>,
  request: Partial<ModelRequest> = {},
  caller: ModelCaller = createCaller({ isPatient: true }),
  models: Models = createTestModels(wire, server),
): Promise<ModelAnswer> {
  const messages = [{ role: 'user' as const, content: 'Say hi' }];
  return models.generate({ model: wire.model, messages, ...request }, caller);
}
