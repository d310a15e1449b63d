import { ToolError } from '../../common/errors.js';
import { DOCUMENT_LIMITS, SCAN_LIMITS } from '../../common/limits.js';
import { shareLimit } from '../../common/memory/shared-limit.js';
import { runInSlices } from '../../common/scheduling/run-in-slices.js';
import type { RunSteps } from '../../common/scheduling/steps.js';
import { parseJsonInSteps } from '../../common/json/parse-json.js';
import { ProcessPool, type SizedPoolOptions } from '../../common/workers/process-pool.js';
import { type JsonResponse, WorkerError } from '../../common/workers/protocol.js';
import type { ToolContext } from '../tool.js';
import { type DocumentContent, documentError } from './document.js';
import { ConcurrencyLimiter } from '../../common/scheduling/concurrency-limiter.js';
import { unpackImages } from './document-messages.js';
import { isLargeDocument, parseContent, type ParseRequest } from './parse-content.js';

/** The part of an attempt's context that parsing needs. */
export type ParseContext = Pick<ToolContext, 'tenant_id' | 'signal' | 'pauseTimeout'>;

export interface DocumentPoolOptions extends SizedPoolOptions {
  /** True when tenants never share a process. */
  readonly isolateTenants: boolean;
  /** Reads long contents; default: in slices of the event loop. */
  readonly runSteps?: RunSteps;
  readonly limits?: { readonly timeoutMs: number; readonly memoryMiB: number };
}

/** A process takes about 80 MB while it is idle. */
const MAX_PROCESSES = 4;

/** Most documents take long: expressions and texts come first. */
const PRIORITY = 15;

/**
 * Parses documents: small texts at once, everything else in processes that can be killed, since the libraries for PDF
 * and Office files can neither pause nor be bounded. A document that takes too much time or memory fails its task and
 * kills its process; the next gets a new one.
 */
export class DocumentPool {
  /** How many documents are in memory at once while they are read. */
  readonly readLimiter: ConcurrencyLimiter;
  /** The processes that parse; a response is the content as JSON. */
  readonly #pool: ProcessPool<ParseRequest, JsonResponse>;
  readonly #runSteps: RunSteps;
  readonly #limits: { readonly timeoutMs: number; readonly memoryMiB: number };

  constructor(options: DocumentPoolOptions) {
    const { file, parallelism, tenantShare, isolateTenants, clock, launcher } = options;
    this.#runSteps = options.runSteps ?? runInSlices;
    this.#limits = options.limits ?? DOCUMENT_LIMITS;
    this.readLimiter = new ConcurrencyLimiter(shareLimit(DOCUMENT_LIMITS.atOnce, tenantShare));
    const maxProcesses = Math.min(Math.max(parallelism, 1), MAX_PROCESSES);
    this.#pool = new ProcessPool({
      file,
      memoryMiB: this.#limits.memoryMiB,
      priority: PRIORITY,
      atWork: shareLimit(maxProcesses, tenantShare),
      maxProcesses,
      isolateTenants,
      clock,
      launcher,
    });
  }

  /**
   * Parses a document. The timeout of the attempt pauses while the document waits for a process, and its signal drops or
   * ends it. Rejects with a ToolError, not retryable, that says what is wrong with the document.
   */
  async parse(request: ParseRequest, context: ParseContext): Promise<DocumentContent> {
    const { tenant_id: tenantId, signal, pauseTimeout } = context;
    if (!isLargeDocument(request)) return await parseContent(request, signal);
    const timeoutMs = this.#limits.timeoutMs * (request.drawScans === true ? SCAN_LIMITS.timeFactor : 1);
    const resumeTimeout = pauseTimeout();
    try {
      const options = { timeoutMs, signal, onStart: resumeTimeout };
      return await this.#pool.runAndRead(
        tenantId,
        () => request,
        options,
        async (response) => {
          if (!response.ok) throw ToolError.nonRetryable(response.error);
          const content: unknown = await this.#runSteps(parseJsonInSteps(response.json), tenantId);
          if (request.drawScans === true) return this.#runSteps(unpackImages(content), tenantId);
          return content as DocumentContent;
        },
      );
    } catch (error) {
      throw error instanceof WorkerError ? this.#describe(error, request) : error;
    } finally {
      // The process may never have started, and a tool may go on without this document.
      resumeTimeout();
    }
  }

  /** Kills all processes. Documents that are waiting or come later fail. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  #describe(error: WorkerError, { source }: ParseRequest): ToolError {
    const { failure, message } = error;
    if (failure === 'closed' || failure === 'aborted')
      return ToolError.nonRetryable(`"${source}" was not read: ${message}`, error);
    // Reading the same document again takes as much.
    if (failure === 'timed_out' || failure === 'out_of_memory')
      return documentError(source, `takes too much to read: ${message}; split it`, error);
    return new ToolError(`"${source}" could not be read: ${message}`, { cause: error });
  }
}
