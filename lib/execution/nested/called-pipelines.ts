import { type Problem, sentence } from '../../definition/problem.js';
import { ToolError } from '../../common/errors.js';
import type { Json } from '../../common/json.js';
import { LONGEST_CALLED_DEFINITION } from '../../common/limits.js';
import type { Check, CheckAnother, GivenDefinition, Pipeline } from '../../pipelines/pipeline.js';
import { decodeText } from '../../tools/documents/format.js';
import type { PipelineCall } from '../../tools/pipeline-call.js';
import type { FileAccess } from '../../tools/tool.js';
import { inTurn } from '../event-loop-budget.js';

/** Checks that are kept: a fan-out calls the same pipeline for every item. */
const MOST_KEPT = 16;

/** Problems that are told; the rest is counted. */
const TOLD = 3;

/** The pipelines that tasks of one submitted run call, however deep: read inside the allowed folders (D51), checked by the one validator (D8). */
export class CalledPipelines {
  readonly #files: FileAccess;
  readonly #check: CheckAnother;
  /** Reads that are under way, so that items which call one file together open it once. */
  readonly #reading = new Map<string, Promise<string>>();
  readonly #kept = new Map<Json, { readonly inputs: string; readonly check: Check }>();

  constructor(files: FileAccess, check: CheckAnother) {
    this.#files = files;
    this.#check = check;
  }

  /** Rejects with a ToolError that no retry will mend. */
  async of({ file, pipeline, inputs = {} }: PipelineCall): Promise<Pipeline> {
    const definition = typeof file === 'string' ? await this.#read(file) : (pipeline ?? null);
    const what = typeof file === 'string' ? `"${file}"` : 'the pipeline';
    if (typeof definition === 'string') refuseLong(definition.length, what);
    const keys = Object.keys(inputs);
    const check = this.#keptCheck(definition, keys) ?? (await inTurn(() => this.#checked(definition, keys)));
    if (check.ok) return check.pipeline;
    throw final(`${what} is not valid: ${told(check.problems)}`);
  }

  #read(file: string): Promise<string> {
    const underWay = this.#reading.get(file);
    if (underWay !== undefined) return underWay;
    const reading = this.#files
      .read(file)
      .then(({ bytes }) => decodeText(bytes, file))
      .finally(() => this.#reading.delete(file));
    this.#reading.set(file, reading);
    return reading;
  }

  #keptCheck(definition: Json, inputKeys: readonly string[]): Check | undefined {
    const kept = this.#kept.get(definition);
    return kept?.inputs === JSON.stringify(inputKeys.toSorted()) ? kept.check : undefined;
  }

  /** Of the inputs only the keys matter, and of the session not even these: a missing key is only a warning (D9). */
  #checked(definition: Json, inputKeys: readonly string[]): Check {
    const inputs = JSON.stringify(inputKeys.toSorted());
    // Another item may have had it checked while this one waited for its turn.
    const kept = this.#keptCheck(definition, inputKeys);
    if (kept !== undefined) return kept;
    const given: GivenDefinition =
      typeof definition === 'string' ? { text: definition } : { value: definition };
    const check = this.#check(given, { inputs: Object.fromEntries(inputKeys.map((key) => [key, null])) });
    if (typeof definition === 'string' || Object.isFrozen(definition))
      this.#keep(definition, { inputs, check });
    return check;
  }

  #keep(definition: Json, checked: { readonly inputs: string; readonly check: Check }): void {
    this.#kept.set(definition, checked);
    if (this.#kept.size <= MOST_KEPT) return;
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.#kept.delete(oldest);
  }
}

function refuseLong(length: number, what: string): void {
  if (length <= LONGEST_CALLED_DEFINITION) return;
  const [found, limit] = [Math.ceil(length / 1024), LONGEST_CALLED_DEFINITION / 1024];
  throw final(`${what} has ${found} KiB, and a pipeline that a task runs may have ${limit} KiB`);
}

function told(problems: readonly Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const more = errors.length > TOLD ? [`and ${errors.length - TOLD} more`] : [];
  return [...errors.slice(0, TOLD).map(sentence), ...more].join('; ');
}

function final(message: string): ToolError {
  return new ToolError(message, { retryable: false });
}
