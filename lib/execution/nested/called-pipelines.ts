import { ToolError } from '../../common/errors.js';
import type { Json } from '../../common/json/json.js';
import { MAX_CALLED_DEFINITION_LENGTH } from '../../common/limits.js';
import { formatFirst } from '../../common/text.js';
import { formatProblem } from '../../definition/problems/problem.js';
import type { CheckNestedPipeline, CheckResult, Pipeline } from '../../pipelines/pipeline.js';
import { decodeText } from '../../tools/files/regular-file.js';
import type { FileAccess } from '../../tools/files/access.js';
import { isObjectUrl } from '../../tools/files/object-stores/object-url.js';
import type { PipelineCall } from '../../tools/tool.js';
import type { StepRunner } from '../prepare/step-runner.js';
import type { NestedRunLimiter } from './nested-run-limiter.js';

/** Maximum number of cached checks: a fan-out calls the same pipeline for every item. */
const MAX_CACHED_CHECKS = 16;

/** Maximum number of problems in an error message. */
const MAX_LISTED_PROBLEMS = 3;

/** The check of a pipeline, for the next call of it. */
interface CachedCheck {
  /** Names of the pipeline's inputs, which the check depends on, as JSON. */
  readonly inputKeys: string;
  readonly check: Promise<CheckResult>;
  /** The pipeline, whose memory is taken for the cache; undefined while it is being checked. */
  pipeline: Pipeline | undefined;
}

/** Loads the pipelines that tasks of one submitted run call, at every depth (D51), and checks them with the one validator (D8). */
export class CalledPipelines {
  readonly #check: CheckNestedPipeline;
  readonly #stepRunner: StepRunner;
  readonly #tenantId: string;
  /** Pending reads by file, so that items which call the same file together read it once. */
  readonly #pendingReads = new Map<string, Promise<string>>();
  readonly #limiter: Pick<NestedRunLimiter, 'tryRetainPipeline' | 'releasePipeline'>;
  /** Checks that are done or under way, so that items which call the same pipeline together check it once. */
  readonly #cache = new Map<Json, CachedCheck>();

  /** @param check of the submitted pipeline @param limiter counts the memory of cached pipelines */
  constructor(
    stepRunner: StepRunner,
    check: CheckNestedPipeline,
    tenantId: string,
    limiter: Pick<NestedRunLimiter, 'tryRetainPipeline' | 'releasePipeline'>,
  ) {
    this.#limiter = limiter;
    this.#stepRunner = stepRunner;
    this.#check = check;
    this.#tenantId = tenantId;
  }

  /**
   * Rejects with a non-retryable ToolError when the pipeline cannot be read or is not valid.
   *
   * @param files that the calling attempt may read
   */
  async load({ file, pipeline, inputs = {} }: PipelineCall, files: FileAccess): Promise<Pipeline> {
    const definition = typeof file === 'string' ? await this.#read(file, files) : (pipeline ?? null);
    const name = typeof file === 'string' ? `"${file}"` : 'the pipeline';
    if (typeof definition === 'string') assertLength(definition.length, name);
    // Only the keys of the inputs affect the check. Session keys do not: a missing one is only a warning (D9).
    const inputKeys = JSON.stringify(Object.keys(inputs).toSorted());
    const check = await (this.#findCheck(definition, inputKeys) ??
      this.#checkDefinition(definition, inputKeys, inputs));
    if (check.ok) return check.pipeline;
    const errors = check.problems.filter(({ severity }) => severity === 'error');
    const listed = formatFirst(errors, MAX_LISTED_PROBLEMS, formatProblem).join('; ');
    throw ToolError.nonRetryable(`${name} is not valid: ${listed}`);
  }

  #read(file: string, files: FileAccess): Promise<string> {
    const pending = this.#pendingReads.get(file);
    if (pending !== undefined) return pending;
    const read = files.read(file).then(({ bytes }) => decodeText(bytes, file));
    // The transfer of an object ends with the attempt that has begun it: others must not depend on it.
    if (isObjectUrl(file)) return read;
    const shared = read.finally(() => this.#pendingReads.delete(file));
    this.#pendingReads.set(file, shared);
    return shared;
  }

  #findCheck(definition: Json, inputKeys: string): Promise<CheckResult> | undefined {
    const cached = this.#cache.get(definition);
    return cached?.inputKeys === inputKeys ? cached.check : undefined;
  }

  #checkDefinition(definition: Json, inputKeys: string, inputs: object): Promise<CheckResult> {
    const input = typeof definition === 'string' ? { text: definition } : { value: definition };
    const values = { inputs: Object.fromEntries(Object.keys(inputs).map((key) => [key, null])) };
    const check = this.#stepRunner.check(this.#check(input, values), this.#tenantId);
    if (typeof definition === 'string' || Object.isFrozen(definition))
      this.#cacheCheck(definition, inputKeys, check);
    return check;
  }

  #cacheCheck(definition: Json, inputKeys: string, check: Promise<CheckResult>): void {
    this.#forget(definition);
    const cached: CachedCheck = { inputKeys, check, pipeline: undefined };
    this.#cache.set(definition, cached);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED_CHECKS && oldest !== undefined) this.#forget(oldest);
    check.then(
      (result) => {
        if (!result.ok || this.#cache.get(definition) !== cached) return;
        if (this.#limiter.tryRetainPipeline(result.pipeline)) cached.pipeline = result.pipeline;
        else this.#forget(definition);
      },
      // The next call tries again.
      () => this.#cache.get(definition) === cached && this.#forget(definition),
    );
  }

  #forget(definition: Json): void {
    const pipeline = this.#cache.get(definition)?.pipeline;
    this.#cache.delete(definition);
    if (pipeline !== undefined) this.#limiter.releasePipeline(pipeline);
  }

  /** Forgets all pipelines. Call when the run has settled. */
  clear(): void {
    for (const definition of this.#cache.keys()) this.#forget(definition);
  }
}

function assertLength(length: number, name: string): void {
  if (length <= MAX_CALLED_DEFINITION_LENGTH) return;
  const [size, limit] = [Math.ceil(length / 1024), MAX_CALLED_DEFINITION_LENGTH / 1024];
  throw ToolError.nonRetryable(`${name} has ${size} KiB; a pipeline that a task runs may have ${limit} KiB`);
}
