import { ToolError } from '../../common/errors.js';
import type { Json, JsonObject } from '../../common/json/json.js';
import { EXPRESSION_LIMITS } from '../../common/limits.js';
import { shareLimit } from '../../common/memory/shared-limit.js';
import { runInSlices } from '../../common/scheduling/run-in-slices.js';
import type { RunSteps } from '../../common/scheduling/steps.js';
import { parseJsonInSteps } from '../../common/json/parse-json.js';
import { ProcessPool, type SizedPoolOptions } from '../../common/workers/process-pool.js';
import { type JsonResponse, WorkerError } from '../../common/workers/protocol.js';
import type { ToolContext } from '../tool.js';
import { failedExpression, toExpressionDataInSteps } from './evaluate.js';

/** The message to a worker process. Values travel as JSON: fastest, and safe to read. */
export interface EvaluationRequest {
  readonly source: string;
  /** JSON of an object with `input` and `bindings`, in pieces. */
  readonly data: readonly string[];
  readonly runId: string;
}

export interface ExpressionPoolOptions extends SizedPoolOptions {
  /** Reads long results; default: in slices of the event loop. */
  readonly runSteps?: RunSteps;
}

/** The process stops an evaluation itself after `hardTimeoutMs`; it is killed when it does not. */
const RESPONSE_TIMEOUT_MS = EXPRESSION_LIMITS.hardTimeoutMs + 1000;

/** The server holds the data of an expression as text, with its escapes, and as the message to the process. */
const MAX_DATA_LENGTH = 16 * 2 ** 20;

/** A process takes about 50 MB; more than this many would mostly idle. */
const MAX_PROCESSES = 8;

/** How many tenants keep a process of their own, even on a small machine. */
const MIN_PROCESSES = 4;

/**
 * Evaluates expressions in worker processes, so that an expression can neither block the server nor exhaust its
 * memory. One that exceeds its time or memory fails its task and kills its process; the next gets a new process. Each
 * process evaluates for one tenant only: evaluations of different tenants never share a heap.
 */
export class ExpressionPool {
  /** The processes that evaluate; a response is the result as JSON. */
  readonly #pool: ProcessPool<EvaluationRequest, JsonResponse>;
  readonly #runSteps: RunSteps;

  constructor(options: ExpressionPoolOptions) {
    const { file, parallelism, tenantShare, clock, launcher } = options;
    this.#runSteps = options.runSteps ?? runInSlices;
    const total = Math.min(Math.max(parallelism, 1), MAX_PROCESSES);
    this.#pool = new ProcessPool({
      file,
      memoryMiB: EXPRESSION_LIMITS.memoryMiB,
      atWork: shareLimit(total, tenantShare),
      maxProcesses: Math.max(total, MIN_PROCESSES),
      isolateTenants: true,
      clock,
      launcher,
    });
  }

  /**
   * Evaluates a JSONata expression. The timeout of the attempt pauses while the expression waits for a process, and its
   * signal drops or ends it.
   *
   * Rejects with a ToolError, not retryable, as `Evaluator.evaluate` throws it.
   */
  async evaluate(source: string, input: Json, bindings: JsonObject, context: ToolContext): Promise<Json> {
    const { run_id: runId, tenant_id: tenantId, signal } = context;
    const resumeTimeout = context.pauseTimeout();
    try {
      return await this.#pool.runAndRead(
        tenantId,
        async () => {
          const steps = toExpressionDataInSteps(input, bindings, MAX_DATA_LENGTH);
          return { source, data: await this.#runSteps(steps, tenantId), runId };
        },
        { timeoutMs: RESPONSE_TIMEOUT_MS, signal, onStart: resumeTimeout },
        async (response) => {
          if (!response.ok) throw ToolError.nonRetryable(response.error);
          return this.#runSteps(parseJsonInSteps(response.json), tenantId);
        },
      );
    } catch (error) {
      throw error instanceof WorkerError ? failedExpression(describe(error)) : error;
    } finally {
      // The process may never have started.
      resumeTimeout();
    }
  }

  /** Kills all processes. Evaluations that are waiting or are requested later fail. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}

function describe({ failure, message }: WorkerError): string {
  return failure === 'timed_out' ? `it ran for more than ${EXPRESSION_LIMITS.timeoutMs / 1000} s` : message;
}
