import type { Problem } from '../definition/problem.js';
import { ToolError } from '../errors.js';
import type { Json } from '../json.js';
import type { Check, CheckAnother, GivenDefinition, Pipeline } from '../pipelines/pipeline.js';
import { decodeText } from '../tools/documents/text.js';
import type { PipelineCall } from '../tools/pipeline-call.js';
import type { FileAccess } from '../tools/tool.js';

/** Checks that are kept: a fan-out calls the same pipeline for every item. */
const MOST_KEPT = 16;

/** Problems that are told; the rest is counted. */
const TOLD = 3;

/** The pipelines that tasks of one run call: read inside the allowed folders (D51), checked by the one validator (D8). */
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
    const given = pipeline ?? undefined;
    if ((file === undefined) === (given === undefined)) {
      const found = file === undefined ? 'neither' : 'both';
      throw final(`exactly one of "file" and "pipeline" names the pipeline to run, and ${found} is given`);
    }
    const definition = file === undefined ? (given as Json) : await this.#read(file);
    const check = this.#checked(definition, Object.keys(inputs));
    if (check.ok) return check.pipeline;
    throw final(`${file === undefined ? 'the pipeline' : `"${file}"`} is not valid: ${told(check.problems)}`);
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

  /** Of the inputs only the keys matter, and of the session not even these: a missing key is only a warning (D9). */
  #checked(definition: Json, inputKeys: readonly string[]): Check {
    const inputs = JSON.stringify(inputKeys.toSorted());
    const kept = this.#kept.get(definition);
    if (kept?.inputs === inputs) return kept.check;
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

function told(problems: readonly Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const more = errors.length > TOLD ? [`and ${errors.length - TOLD} more`] : [];
  return [...errors.slice(0, TOLD).map(sentence), ...more].join('; ');
}

function sentence({ message, line, column, path, hint }: Problem): string {
  const place = line === undefined ? path : `line ${line}, column ${column ?? 1}`;
  return `${place === '' ? '' : `${place}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;
}

function final(message: string): ToolError {
  return new ToolError(message, { retryable: false });
}
