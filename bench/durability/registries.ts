import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { checkDefinition } from '../../lib/pipelines/check.js';
import type { Pipeline } from '../../lib/pipelines/pipeline.js';
import { checkToEnd } from '../../lib/definition/text/source.js';
import { RunRegistry } from '../../lib/runs/registry.js';
import { SqliteStore } from '../../lib/runs/store/sqlite/sqlite-store.js';
import { DefinitionChecker } from '../../lib/submission/definition-checker.js';
import { Catalog } from '../../lib/tools/catalog.js';
import { defineTool } from '../../lib/tools/tool.js';
import { noop } from '../shapes.js';

const PROGRAM = fileURLToPath(new URL('../store-thread.cjs', import.meta.url));
/** The events that a server keeps by default. */
const EVENTS = 10_000;

/** Answers when it is opened; a process that ends before leaves its calls at work. */
class Gate {
  #isOpen = false;
  readonly #waiting: (() => void)[] = [];
  #calls = 0;
  #expected = 0;
  #reached: () => void = () => {};

  readonly tool = defineTool({
    name: 'gate',
    description: 'waits',
    inputs: {},
    openInputs: true,
    run: async () => {
      if (++this.#calls === this.#expected) this.#reached();
      if (!this.#isOpen) {
        await new Promise<void>((resolve) => {
          this.#waiting.push(resolve);
        });
      }
      return null;
    },
  });

  /** Resolves when so many calls have come from now on. */
  calls(count: number): Promise<void> {
    this.#calls = 0;
    this.#expected = count;
    return new Promise((resolve) => {
      this.#reached = resolve;
    });
  }

  open(): void {
    this.#isOpen = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  close(): void {
    this.#isOpen = false;
  }
}

export const gate = new Gate();

/** Returns nothing. */
const nothing = defineTool({
  name: 'nothing',
  description: 'returns nothing',
  inputs: {},
  openInputs: true,
  run: async () => null,
});

const catalog = new Catalog([noop, gate.tool, nothing]);

export function createPipeline(definition: unknown): Pipeline {
  const check = checkDefinition(definition, { catalog });
  if (!check.ok) throw new Error(check.problems.map(({ message }) => message).join('\n'));
  return check.pipeline;
}

/** As a server checks them, but without pauses. */
const checker = new DefinitionChecker({ check: async (steps) => checkToEnd(steps) }, catalog);

/** A folder with the file of one store. */
export class StoreFile {
  readonly #folder = mkdtempSync(join(tmpdir(), 'wavetrain-bench-'));
  readonly path = join(this.#folder, 'runs.db');

  /** The process ends here as far as the copy can tell. */
  copyAfterCrash(): string {
    const copy = join(this.#folder, 'copy.db');
    copyFileSync(this.path, copy);
    copyFileSync(`${this.path}-wal`, `${copy}-wal`);
    return copy;
  }

  get bytes(): number {
    return statSync(this.path).size;
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

/** Opens a registry that keeps its runs in a file, and goes on with those that are there. */
export async function openRegistry(path: string): Promise<RunRegistry> {
  const store = await SqliteStore.open(path, PROGRAM);
  const registry = new RunRegistry({ store, eventBuffer: EVENTS });
  await registry.restore(checker.revive);
  return registry;
}

/** Keeps its runs in memory, with their events, as a server does. */
export function createMemoryRegistry(): RunRegistry {
  return new RunRegistry({ eventBuffer: EVENTS });
}

/** Runs a pipeline to its end, and forgets it unless asked to keep it. */
export async function run(registry: RunRegistry, pipeline: Pipeline, isKept = false): Promise<void> {
  const runId = await registry.submit({ pipeline });
  const { status, error } = await registry.settled(runId);
  if (status !== 'succeeded') throw new Error(`the run has ${status}: ${error}`);
  if (!isKept) registry.forget(runId);
}

/** Counts the commits meanwhile: each is one request to the thread of the store. */
export async function countCommits(work: () => Promise<unknown>): Promise<number> {
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its worker
  const post = Worker.prototype.postMessage;
  let commits = 0;
  Worker.prototype.postMessage = function (message: { readonly kind?: string }, ...others) {
    if (message.kind === 'keep') commits++;
    post.call(this, message, ...others);
  };
  try {
    await work();
  } finally {
    Worker.prototype.postMessage = post;
  }
  return commits;
}
