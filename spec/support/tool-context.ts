import { ToolError } from '../../lib/common/errors.js';
import type { Json } from '../../lib/common/json/json.js';
import type { ConnectionSource } from '../../lib/tools/connections/connection.js';
import { RunConnections } from '../../lib/tools/connections/run-connections.js';
import type { ToolContext } from '../../lib/tools/tool.js';
import type { ArtifactContent } from '../../lib/tools/files/artifacts.js';
import { ManualClock } from './manual-clock.js';

/** A write of a tool to the blackboard. */
export interface WrittenValue {
  readonly key: string;
  readonly value: unknown;
  readonly append: boolean;
}

/** The context of a tool in a spec; records the writes and logs of the tool. */
export interface TestContext extends ToolContext {
  readonly clock: ManualClock;
  readonly writes: readonly WrittenValue[];
  readonly logs: readonly string[];
  /** The files that the tool has written. */
  readonly written: readonly (ArtifactContent & { readonly bytes: string | Uint8Array })[];
  /** Aborts the signal, like a timeout or a forced cancel. */
  abort(): void;
}

export interface TestContextOptions {
  readonly run_id?: string;
  readonly tenant_id?: string;
  readonly attempt?: number;
  readonly calls?: number;
  readonly item_index?: number | null;
  /** The values on the blackboard; writes are only recorded. */
  readonly session?: Record<string, Json>;
  /** The memory of the run, to share between attempts and invocations. */
  readonly memory?: Map<string, unknown>;
  readonly files?: ToolContext['files'];
  readonly fetch?: ToolContext['fetch'];
  readonly command?: ToolContext['command'];
  readonly connect?: ToolContext['connect'];
  readonly runPipeline?: ToolContext['runPipeline'];
  readonly holdMemory?: ToolContext['holdMemory'];
  readonly llm?: ToolContext['llm'];
  readonly connections?: ConnectionSource;
  /** Receives what the connections of the tool hide. */
  readonly hide?: (values: readonly string[]) => void;
}

/** Creates the context of one attempt; by default the first, without an item, with an empty blackboard and no files. */
export function toolContext(options: TestContextOptions = {}): TestContext {
  const controller = new AbortController();
  const session = new Map(Object.entries(options.session ?? {}));
  const writes: WrittenValue[] = [];
  const logs: string[] = [];
  const written: (ArtifactContent & { readonly bytes: string | Uint8Array })[] = [];
  return {
    run_id: options.run_id ?? '0190a000-0000-7000-8000-000000000000',
    tenant_id: options.tenant_id ?? 'tenant',
    task_id: 'task',
    item_index: options.item_index ?? null,
    attempt: options.attempt ?? 1,
    calls: options.calls ?? 1,
    invocation_key: 'run/task',
    signal: controller.signal,
    pauseTimeout: () => () => undefined,
    clock: new ManualClock(),
    memory: options.memory ?? new Map(),
    holdMemory: options.holdMemory ?? (() => undefined),
    llm: options.llm ?? { generate: () => Promise.reject(new ToolError('no models here')) },
    connections: new RunConnections(
      options.connections,
      options.tenant_id ?? 'tenant',
      options.hide ?? (() => undefined),
    ),
    files: options.files ?? { read: () => Promise.reject(new ToolError('no files here')) },
    blackboard: {
      getAll: () => Promise.resolve(Object.fromEntries(session)),
      readMany: (keys) =>
        Promise.resolve(Object.fromEntries([...session].filter(([key]) => keys.includes(key)))),
      write: (key, value, append = false) => void writes.push({ key, value, append }),
    },
    artifacts: {
      write: async (file) => {
        const { name, media_type } = file;
        const bytes =
          typeof file.bytes === 'string' || file.bytes instanceof Uint8Array
            ? file.bytes
            : await collect(file.bytes);
        written.push({ name, media_type, bytes });
        return { name, path: `/run/${name}`, media_type, size: Buffer.from(bytes).length };
      },
      open: (name) => {
        const found = written.find((file) => file.name === name);
        if (found === undefined) return Promise.reject(new ToolError(`the run has no file "${name}"`));
        const bytes = Buffer.from(found.bytes);
        return Promise.resolve({ size: bytes.length, media_type: found.media_type, pieces: toPieces(bytes) });
      },
    },
    authorities: [],
    connect: options.connect ?? (() => Promise.reject(new ToolError('no network here'))),
    fetch: options.fetch ?? (() => Promise.reject(new ToolError('no network here'))),
    command: options.command ?? (() => Promise.reject(new ToolError('no commands here'))),
    runPipeline: options.runPipeline ?? (() => Promise.reject(new ToolError('no pipelines here'))),
    log: (message) => void logs.push(message),
    writes,
    logs,
    written,
    abort: () => controller.abort(),
  };
}

async function* toPieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const collected: Uint8Array[] = [];
  // A piece is valid until the next one is asked for.
  for await (const piece of pieces) collected.push(Buffer.from(piece));
  return Buffer.concat(collected);
}

/** Counts the pauses of a time limit. Pass its `pauseTimeout` as that of a context. */
export class PauseCounter {
  /** Pauses that have begun. */
  begun = 0;
  /** Pauses that are not over yet. */
  open = 0;

  readonly pauseTimeout: ToolContext['pauseTimeout'] = () => {
    this.begun++;
    this.open++;
    let isPaused = true;
    return () => {
      if (isPaused) this.open--;
      isPaused = false;
    };
  };
}
