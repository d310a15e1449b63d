import { createHash } from 'node:crypto';
import type { Clock } from '../../../common/clock.js';
import { errorMessage } from '../../../common/errors.js';
import type { JsonObject } from '../../../common/json/json.js';
import { JsonWriter } from '../../../common/json/json-writer.js';
import { StepCounter, type Steps } from '../../../common/scheduling/steps.js';
import { warnHost } from '../../../common/warnings.js';
import type { Tool } from '../../../tools/tool.js';
import type { CachedOutput, CacheFolder, CacheKey } from './cached-output.js';
import { MemoryCache } from './memory-cache.js';

/** Outputs of invocations that equal ones reuse, in any run (D65). A cache that fails is a cache miss: it fails no task. */
export class OutputCache {
  readonly #memory: MemoryCache;
  readonly #folder: CacheFolder | undefined;
  readonly #clock: Clock;
  readonly #writing = new Set<Promise<void>>();
  #hasWarned = false;

  constructor(clock: Clock, folder?: CacheFolder, memory = new MemoryCache()) {
    this.#clock = clock;
    this.#folder = folder;
    this.#memory = memory;
  }

  /** Resolves with the output of an equal invocation that has not expired. Never rejects. */
  async get(key: CacheKey): Promise<CachedOutput | undefined> {
    return this.#memory.get(key, this.#clock.now()) ?? this.#readFolder(key);
  }

  async #readFolder(key: CacheKey): Promise<CachedOutput | undefined> {
    try {
      return await this.#folder?.read(key);
    } catch (error) {
      this.#warn('read', error);
      return undefined;
    }
  }

  /** Keeps an output: in memory at once, and on disk when `written` resolves. @param ttlMs `Infinity` for ever */
  set(key: CacheKey, cached: CachedOutput, ttlMs: number): void {
    const expiresAt = this.#clock.now() + ttlMs;
    this.#memory.set(key, cached, expiresAt);
    if (this.#folder === undefined) return;
    const writing = this.#folder
      .write(key, cached, expiresAt)
      .catch((error: unknown) => this.#warn('written', error))
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }

  /** Resolves when all outputs are on disk, or cannot be. Never rejects. */
  async written(): Promise<void> {
    await Promise.all(this.#writing);
  }

  #warn(verb: 'read' | 'written', error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    warnHost(`outputs of the cache cannot be ${verb}: ${errorMessage(error)}`);
  }
}

/** Changes when what a key covers changes. */
const KEY_VERSION = '1';

/** More inputs count in the order in which they were written: to sort them takes too long for one step. */
const MAX_SORTED_NAMES = 5000;

/** The length of a step, in characters that are hashed, and the characters that take as long as an input besides its value. */
const STEP_LENGTH = 64 * 1024;
const INPUT_LENGTH = 250;

/** Hashes what makes invocations equal, in steps: inputs may be long. */
export function* computeCacheKey(tenantId: string, tool: Tool, inputs: JsonObject): Steps<CacheKey> {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([KEY_VERSION, tenantId, tool.name, toolVersion(tool)]));
  const step = new StepCounter(STEP_LENGTH);
  const names = Object.keys(inputs);
  if (names.length <= MAX_SORTED_NAMES) names.sort();
  for (const name of names) {
    const writer = new JsonWriter(inputs[name]);
    hash.update(`\n${JSON.stringify(name)}:`);
    for (let chunk = writer.next(); chunk !== ''; chunk = writer.next()) {
      hash.update(chunk);
      step.add(chunk.length + INPUT_LENGTH);
      if (step.isOver()) yield;
    }
  }
  return { tenantId, hash: hash.digest('hex') };
}

/** A tool without a version has another one when the text of its function changes. */
function toolVersion({ version, run }: { readonly version?: string; readonly run: unknown }): string {
  return version ?? String(run);
}
