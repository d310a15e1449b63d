import { createActor } from 'xstate';
import { compileMachine, compilePorts } from '../../machines/compile.js';
import { type Clock, systemClock } from '../common/clock.js';
import { WavetrainError } from '../common/errors.js';
import { COMPILE_LIMITS } from '../common/limits.js';
import { formatNumber } from '../common/text.js';
import { type CheckSteps, checkToEnd } from '../definition/text/source.js';
import type { ModelAccess } from '../models/models.js';
import { builtinCatalog, type Catalog } from '../tools/catalog.js';
import { Compilation } from './compilation.js';
import type { CompileProgress, CompileResult } from './result.js';

export interface CompilePromptOptions {
  /** Asks language models. */
  readonly models: ModelAccess;
  /** `provider/model`. Default: the model that is configured for `compile` (D50). */
  readonly model?: string | undefined;
  /** How often the model is asked to repair its answer, 0 to 5. Default 2. */
  readonly maxRepairs?: number | undefined;
  /** The tools that the definition may call. Default: the built-in ones. */
  readonly catalog?: Catalog | undefined;
  /** Lets tasks call the tool `command` (D88). Default: false, the definition starts no programs. */
  readonly allowCommands?: boolean | undefined;
  /** Ends the compilation, which rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: CompileProgress) => void) | undefined;
  /** Called when the model is asked; the returned function when its first text arrives, or the request ends. */
  readonly onWait?: ((model: string) => () => void) | undefined;
  /** Shares what models can answer at once. Default `default`. */
  readonly tenant_id?: string | undefined;
  readonly clock?: Clock | undefined;
  /** Does the steps of a check. Default: at once. */
  readonly runCheck?: (<T>(steps: CheckSteps<T>) => Promise<T>) | undefined;
}

/**
 * Has a language model write a pipeline or a plan, and checks it with the validator, which says what to repair. Runs
 * nothing of it.
 *
 * Rejects with a CompileFailedError when no answer was valid; `invalid_options` for an empty or too long request or a
 * wrong number of repairs; `provider_misconfigured` or `provider_failed` when the model does not answer, which no
 * repair could help.
 *
 * @param prompt what the pipeline shall do, in plain words; at most 20,000 characters
 */
export async function compile(prompt: string, options: CompilePromptOptions): Promise<CompileResult> {
  const { models, model, maxRepairs = COMPILE_LIMITS.repairs } = options;
  const { signal = new AbortController().signal } = options;
  const request = checkPrompt(prompt);
  checkRepairs(maxRepairs);
  signal.throwIfAborted();
  models.assertConfigured('compile', model);
  // Building the description of the language loads the library of schemas.
  const { createRequestMessage, createSystemMessage } = await import('./prompt.js');
  const tools = options.catalog ?? builtinCatalog();
  const catalog = options.allowCommands === true ? tools : tools.withoutBuiltin('command');
  const actor = createActor(compileMachine, { input: { repairsLeft: maxRepairs } });
  const compilation = new Compilation({
    request: createRequestMessage(request),
    system: createSystemMessage(catalog, request),
    catalog,
    models,
    model,
    signal,
    clock: options.clock ?? systemClock,
    tenantId: options.tenant_id ?? 'default',
    runCheck: options.runCheck ?? checkHere,
    onProgress: options.onProgress,
    onWait: options.onWait,
    report: (event) => actor.send(event),
  });
  compilePorts.bind(actor, compilation);
  const ended = new Promise<void>((resolve, reject) => {
    actor.subscribe({ complete: resolve, error: reject });
  });
  try {
    actor.start();
    await ended;
  } finally {
    compilePorts.release(actor);
  }
  return compilation.conclude();
}

async function checkHere<T>(steps: CheckSteps<T>): Promise<T> {
  return checkToEnd(steps);
}

/** Returns the request without the space around it. @throws WavetrainError `invalid_options` */
function checkPrompt(prompt: string): string {
  const request = prompt.trim();
  if (request === '') throw invalid('the prompt is empty: say in plain words what the pipeline shall do');
  if (request.length <= COMPILE_LIMITS.promptLength) return request;
  const [length, limit] = [formatNumber(request.length), formatNumber(COMPILE_LIMITS.promptLength)];
  throw invalid(
    `the prompt has ${length} characters, and the limit is ${limit}: say what to do in fewer words`,
  );
}

function checkRepairs(count: number): void {
  if (Number.isInteger(count) && count >= 0 && count <= COMPILE_LIMITS.mostRepairs) return;
  throw invalid(`the number of repairs must be a whole number from 0 to ${COMPILE_LIMITS.mostRepairs}`);
}

function invalid(message: string): WavetrainError {
  return new WavetrainError('invalid_options', message);
}
