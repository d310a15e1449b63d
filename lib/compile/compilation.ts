import type { CompileEvent, CompilePorts } from '../../machines/compile.js';
import type { Clock } from '../common/clock.js';
import { errorMessage, WavetrainError } from '../common/errors.js';
import { COMPILE_LIMITS } from '../common/limits.js';
import type { CheckSteps } from '../definition/text/source.js';
import { formatProblem, type Problem } from '../definition/problems/problem.js';
import { NO_TOKENS, sumUsage } from '../models/costs.js';
import { type FinishReason, ModelError, type ModelMessage } from '../models/model.js';
import type { ModelAccess, ModelCaller } from '../models/models.js';
import type { Catalog } from '../tools/catalog.js';
import { checkAnswer, type CheckedAnswer, findMistakes } from './check-answer.js';
import { readAnswer } from './read-answer.js';
import { createRepairRequest, joinErrors } from './repair-request.js';
import {
  type CompileEffort,
  CompileFailedError,
  type CompileProgress,
  type CompileResult,
  type RepairStep,
} from './result.js';

interface CompilationOptions {
  readonly request: ModelMessage;
  /** The system message. */
  readonly system: string;
  readonly catalog: Catalog;
  readonly models: ModelAccess;
  readonly model: string | undefined;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly tenantId: string;
  readonly runCheck: <T>(steps: CheckSteps<T>) => Promise<T>;
  readonly onProgress: ((progress: CompileProgress) => void) | undefined;
  readonly onWait: ModelCaller['onWait'];
  /** Sends an event to the machine. */
  readonly report: (event: CompileEvent) => void;
}

/** The text of an answer, and why the model ended it. */
interface Answer {
  readonly text: string;
  readonly finish: FinishReason;
}

/** Why there is no result. */
type Failure =
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'rejected'; readonly repeated: boolean }
  | { readonly type: 'declined'; readonly reason: string };

/** The question, the answers and the problems of one compilation; its machine decides what is done with them when. */
export class Compilation implements CompilePorts {
  readonly #options: CompilationOptions;
  readonly #history: RepairStep[] = [];
  /** The problems for which the last answer was rejected. */
  #problems: readonly Problem[] = [];
  #attempts = 0;
  #usage = NO_TOKENS;
  #model = '';
  #answer: Answer = { text: '', finish: 'stop' };
  #result: (CheckedAnswer & { readonly ok: true; readonly yaml: string }) | undefined;
  #failure: Failure | undefined;

  constructor(options: CompilationOptions) {
    this.#options = options;
    this.#model = options.model ?? '';
  }

  draft(): void {
    void this.#ask('drafting', () => []);
  }

  repair(): void {
    void this.#ask('repairing', () => {
      const { yaml = '' } = this.#history.at(-1) ?? {};
      const request = createRepairRequest(yaml, this.#problems, this.#options.catalog.names());
      return [
        // Some providers refuse an empty message.
        { role: 'assistant', content: yaml.trim() === '' ? '# an empty answer' : yaml },
        { role: 'user', content: request },
      ];
    });
  }

  check(): void {
    void this.#check();
  }

  /** Returns the result, after the machine has ended. @throws the error that has ended the compilation */
  conclude(): CompileResult {
    if (this.#result === undefined) throw this.#describeFailure();
    this.#options.signal.throwIfAborted();
    const { definition, problems, yaml } = this.#result;
    // The accepted draft was sent back for its warnings: it is no failure, and nothing after it has led to it.
    const accepted = this.#history.findIndex((step) => step.yaml === yaml);
    return {
      ...definition,
      yaml_text: yaml,
      ...this.#effort(),
      repair_history: accepted < 0 ? this.#history : this.#history.slice(0, accepted),
      warnings: [...problems.map(formatProblem), ...this.#describeMissedRepair()],
    };
  }

  /** A valid answer counts, even if the model could not be asked to fix what the validator warned of. */
  #describeMissedRepair(): string[] {
    if (this.#failure?.type !== 'error') return [];
    return [`the model could not be asked to fix this: ${errorMessage(this.#failure.error)}`];
  }

  #effort(): CompileEffort {
    return {
      attempts: this.#attempts,
      repair_history: this.#history,
      usage: this.#usage,
      model: this.#model,
    };
  }

  /** Asks the model, with messages after the request. Never rejects, whatever fails. */
  async #ask(state: CompileProgress['state'], createMessages: () => readonly ModelMessage[]): Promise<void> {
    try {
      this.#attempts++;
      this.#options.onProgress?.({ state, attempt: this.#attempts });
      this.#answer = await this.#generate([this.#options.request, ...createMessages()]);
      this.#options.report({ type: 'answered' });
    } catch (error) {
      this.#stop(error);
    }
  }

  /** Stops the model when its answer is longer than any definition needs to be. */
  async #generate(messages: readonly ModelMessage[]): Promise<Answer> {
    const { models, model, system, signal } = this.#options;
    const tooLong = new AbortController();
    let texts: string[] = [];
    let length = 0;
    const onText = (text: string): void => {
      texts.push(text);
      length += text.length;
      if (length > COMPILE_LIMITS.answerLength) tooLong.abort();
    };
    // An answer that was cut begins again.
    const onRequest = (): void => {
      texts = [];
      length = 0;
    };
    try {
      const caller = { ...this.#caller(AbortSignal.any([signal, tooLong.signal])), onRequest };
      const answer = await models.generate({ model, purpose: 'compile', system, messages, onText }, caller);
      return tooLong.signal.aborted ? { ...answer, finish: 'length' } : answer;
    } catch (error) {
      if (!tooLong.signal.aborted || signal.aborted) throw error;
      return { text: texts.join(''), finish: 'length' };
    }
  }

  #caller(signal: AbortSignal): ModelCaller {
    const { tenantId, clock, onWait } = this.#options;
    return {
      onWait,
      tenant_id: tenantId,
      clock,
      signal,
      // A compilation has no time limit of its own; each answer has one.
      pauseTimeout: () => () => {},
      onUsage: (model, usage) => {
        this.#model = model;
        this.#usage = sumUsage(this.#usage, usage);
      },
    };
  }

  async #check(): Promise<void> {
    try {
      this.#options.onProgress?.({ state: 'validating', attempt: this.#attempts });
      const event = await this.#judge();
      this.#options.signal.throwIfAborted();
      this.#options.report(event);
    } catch (error) {
      this.#stop(error);
    }
  }

  async #judge(): Promise<CompileEvent> {
    const answer = readAnswer(this.#answer.text.slice(0, COMPILE_LIMITS.answerLength));
    const incomplete = describeIncomplete(this.#answer.finish);
    if ('cannot' in answer) {
      this.#failure = { type: 'declined', reason: answer.cannot };
      return { type: 'declined' };
    }
    const { yaml } = answer;
    if (incomplete !== undefined) return this.#reject(yaml, [incomplete]);
    const { runCheck, catalog } = this.#options;
    const checked = await runCheck(checkAnswer(yaml, catalog));
    if (!checked.ok) return this.#reject(yaml, checked.problems);
    const mistakes = findMistakes(checked.problems);
    const isFirst = this.#result === undefined;
    this.#result = { ...checked, yaml };
    return isFirst && mistakes.length > 0 ? this.#reject(yaml, mistakes) : { type: 'accepted' };
  }

  #reject(yaml: string, problems: readonly Problem[]): CompileEvent {
    const repeated = this.#history.some((earlier) => earlier.yaml === yaml);
    this.#problems = problems;
    this.#history.push({ yaml, error: joinErrors(problems) });
    this.#failure = { type: 'rejected', repeated };
    return { type: 'rejected', repeated };
  }

  #stop(error: unknown): void {
    this.#failure = { type: 'error', error };
    this.#options.report({ type: 'stop' });
  }

  #describeFailure(): unknown {
    const failure = this.#failure;
    if (failure?.type === 'error') {
      this.#options.signal.throwIfAborted();
      return describeProviderError(failure.error);
    }
    if (failure?.type === 'declined') {
      const message = `the model says that it cannot write this pipeline: ${failure.reason}`;
      return new CompileFailedError(message, this.#effort(), { yaml: '', error: failure.reason });
    }
    const last = this.#history.at(-1) ?? { yaml: '', error: '' };
    const times = this.#attempts === 1 ? 'in one attempt' : `in ${this.#attempts} attempts`;
    const why = failure?.repeated === true ? ', and repeats itself' : '';
    const message = `the model wrote no valid pipeline ${times}${why}: ${last.error}`;
    return new CompileFailedError(message, this.#effort(), last);
  }
}

/** An answer that is not whole may look valid, and do less than it should. */
function describeIncomplete(finish: FinishReason): Problem | undefined {
  const problem = { code: 'too_large', path: '', severity: 'error' } as const;
  if (finish === 'length') {
    const hint = 'write a shorter one: fewer tasks, shorter texts, no comments';
    return { ...problem, message: 'the answer was cut, because it is too long', hint };
  }
  if (finish !== 'filter') return undefined;
  const message = 'the provider withheld a part of the answer';
  return { ...problem, message, hint: 'write it in other words' };
}

/** The causes that a change of the configuration cures: a key, an address, the name of a model. */
const MISCONFIGURED: ReadonlySet<string> = new Set(['misconfigured', 'bad_request']);

/** Turns a failed request into an error with a code. */
function describeProviderError(error: unknown): unknown {
  if (error instanceof WavetrainError || !(error instanceof Error) || error.name !== 'ToolError')
    return error;
  const { cause } = error;
  if (cause instanceof WavetrainError) return cause;
  const isOurs = ModelError.is(cause) && MISCONFIGURED.has(cause.kind);
  const code = isOurs ? 'provider_misconfigured' : 'provider_failed';
  return new WavetrainError(code, errorMessage(error), { fault: 'service', cause: error });
}
