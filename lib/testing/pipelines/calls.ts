import { estimateLength } from '../../common/json/json-writer.js';
import type { JsonObject } from '../../common/json/json.js';
import { PIPELINE_TEST_LIMITS } from '../../definition/schema/fields.js';
import type { ExpectedCalls } from '../../definition/schema/test-schema.js';
import type { ToolContext } from '../../tools/tool.js';

/** The calls of the tool of one task, in the order of their items and attempts. */
export interface ReceivedCalls {
  readonly count: number;
  /** The inputs of each; undefined for those that are too long to be kept. Empty when only the number is expected. */
  readonly inputs: readonly (JsonObject | undefined)[];
}

export type ExpectedCallsByTask = Readonly<Record<string, ExpectedCalls>>;

interface Call {
  /** Numbers of the items, from the outer task to the inner one, and of the attempt. */
  readonly place: readonly number[];
  readonly inputs: JsonObject | undefined;
}

/** The calls of a case, of tasks whose calls it expects: inputs of others are not kept. */
export class CallRecorder {
  readonly #expected: ReadonlyMap<string, ExpectedCalls>;
  readonly #counts = new Map<string, number>();
  readonly #calls = new Map<string, Call[]>();
  #leftLength: number = PIPELINE_TEST_LIMITS.callsLength;

  constructor(expected: ExpectedCallsByTask) {
    this.#expected = new Map(Object.entries(expected));
  }

  /** @param names those by which a case may name the task of the call */
  note(names: readonly string[], inputs: JsonObject, context: ToolContext): void {
    for (const name of new Set(names)) {
      const expected = this.#expected.get(name);
      if (expected === undefined) continue;
      const count = (this.#counts.get(name) ?? 0) + 1;
      this.#counts.set(name, count);
      // More calls than are expected differ in their number alone.
      if (typeof expected === 'number' || count > PIPELINE_TEST_LIMITS.calls) continue;
      const calls = this.#calls.get(name) ?? [];
      this.#calls.set(name, calls);
      calls.push({ place: placeOf(context), inputs: this.#keep(inputs, expected) });
    }
  }

  /** Keeps the inputs that some expected call lists. */
  #keep(inputs: JsonObject, expected: readonly JsonObject[]): JsonObject | undefined {
    const listed = new Set(expected.flatMap((call) => Object.keys(call)));
    const kept = Object.fromEntries(Object.entries(inputs).filter(([name]) => listed.has(name)));
    const length = estimateLength(kept, this.#leftLength + 1);
    if (length > this.#leftLength) return undefined;
    this.#leftLength -= length;
    return kept;
  }

  get received(): ReadonlyMap<string, ReceivedCalls> {
    return new Map(
      Array.from(this.#counts, ([name, count]) => {
        const calls = this.#calls.get(name) ?? [];
        return [name, { count, inputs: calls.sort(byPlace).map(({ inputs }) => inputs) }];
      }),
    );
  }
}

function placeOf({ invocation_key: key, item_index: item, attempt }: ToolContext): readonly number[] {
  const outer = key
    .split('/')
    .slice(1, -1)
    .flatMap((caller) => caller.match(/\d+(?=\]|$)/g) ?? []);
  return [...outer.map(Number), item ?? 0, attempt];
}

function byPlace({ place: a }: Call, { place: b }: Call): number {
  const differing = a.findIndex((number, index) => number !== b[index]);
  return differing < 0 ? 0 : (a[differing] ?? 0) - (b[differing] ?? 0);
}
