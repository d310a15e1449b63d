import { ToolError } from '../../common/errors.js';
import { formatNumber } from '../../common/text.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import { MemoryBudget } from '../memory-budget.js';

/** Memory of a nested run without its tasks: its actors, its work, its session and what waits for it. */
const NESTED_RUN_BYTES = 20 * 1024;

/** Memory of one task of a nested run, besides what every task takes. */
const NESTED_TASK_BYTES = 2 * 1024;

/**
 * Limits the nested runs of one submitted run, at every depth, by number and by memory: fan-outs inside fan-outs can
 * request millions of them. After a refusal it refuses all others: the submitted run is going to fail (D49).
 */
export class NestedRunLimiter {
  readonly #budget: MemoryBudget;
  readonly #max: number;
  /** Number of nested runs and caches by pipeline: a pipeline takes memory once. */
  readonly #userCounts = new Map<Pipeline, number>();
  #active = 0;
  #refusal: ToolError | undefined;

  /** @param budget of the submitted run @param max nested runs at once */
  constructor(budget: MemoryBudget, max: number) {
    this.#budget = budget;
    this.#max = max;
  }

  /** Number of nested runs at work. */
  get active(): number {
    return this.#active;
  }

  /** @throws ToolError, not retryable, when there are too many nested runs */
  acquire(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#active >= this.#max) {
      this.#refuse(`this run already has ${formatNumber(this.#max)} nested pipelines, the maximum`);
    }
    this.#active++;
  }

  release(): void {
    this.#active--;
  }

  /** Reserves memory for a nested run, from its budget or that of the submitted one. @throws ToolError, not retryable */
  reserve(budget: MemoryBudget, bytes: number): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (!budget.tryReserve(bytes)) this.#refuseMemory();
  }

  /** Reserves the memory of a pipeline, unless a nested run uses it already. @throws ToolError, not retryable */
  retainPipeline(pipeline: Pipeline): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (!this.tryRetainPipeline(pipeline)) this.#refuseMemory();
  }

  /** Like `retainPipeline`; returns false, and takes nothing, when the submitted run has no memory left. */
  tryRetainPipeline(pipeline: Pipeline): boolean {
    const users = this.#userCounts.get(pipeline) ?? 0;
    if (users === 0 && !this.#budget.tryReserve(pipeline.sizeBytes)) return false;
    this.#userCounts.set(pipeline, users + 1);
    return true;
  }

  /** Returns the memory of a pipeline that nobody uses any more. */
  releasePipeline(pipeline: Pipeline): void {
    const users = (this.#userCounts.get(pipeline) ?? 0) - 1;
    if (users > 0) this.#userCounts.set(pipeline, users);
    else if (this.#userCounts.delete(pipeline)) this.#budget.release(pipeline.sizeBytes);
  }

  #refuseMemory(): never {
    const active = formatNumber(this.#active);
    this.#refuse(
      `no memory for another nested pipeline: ${active} of them and all else in this run take ${this.#budget.limitText}`,
    );
  }

  #refuse(reason: string): never {
    this.#refusal = ToolError.nonRetryable(`${reason}; lower fan_out_concurrency`);
    throw this.#refusal;
  }
}

/** The memory of one nested run. It counts against the outer run until the nested run ends. */
export class NestedRunBudget extends MemoryBudget {
  readonly #outer: MemoryBudget;
  readonly #limiter: NestedRunLimiter;
  #pipeline: Pipeline | undefined;

  /** @throws ToolError, not retryable, when the limiter allows no other run */
  constructor(outer: MemoryBudget, limiter: NestedRunLimiter) {
    super(Number.POSITIVE_INFINITY);
    this.#outer = outer;
    this.#limiter = limiter;
    limiter.acquire();
    try {
      limiter.reserve(this, NESTED_RUN_BYTES);
    } catch (refusal) {
      limiter.release();
      throw refusal;
    }
  }

  /** Reserves the memory of the pipeline and of its run with its inputs. @throws ToolError, not retryable */
  reserveFor(pipeline: Pipeline, inputBytes: number): void {
    this.#limiter.retainPipeline(pipeline);
    this.#pipeline = pipeline;
    this.#limiter.reserve(this, inputBytes + NESTED_TASK_BYTES * pipeline.tasks.size);
  }

  override tryReserve(bytes: number): boolean {
    return !this.isClosed && this.#outer.tryReserve(bytes) && super.tryReserve(bytes);
  }

  /** As in the base class. Counts nothing once the nested run has ended, whatever its tools still make. */
  override reserve(bytes: number): void {
    if (this.isClosed) return;
    this.#outer.reserve(bytes);
    super.tryReserve(bytes);
  }

  override release(bytes: number): void {
    if (this.isClosed) return;
    super.release(bytes);
    this.#outer.release(bytes);
  }

  /** Releases everything when the nested run has ended. */
  override close(): void {
    this.#outer.release(this.usedBytes);
    super.close();
    this.#limiter.release();
    if (this.#pipeline !== undefined) this.#limiter.releasePipeline(this.#pipeline);
  }
}
