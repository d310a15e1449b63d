import { ToolError } from '../../lib/common/errors.js';
import type { Json } from '../../lib/common/json.js';
import type { ToolContext } from '../../lib/tools/tool.js';
import { ManualClock } from './manual-clock.js';

/** A write that a tool made to the blackboard. */
export interface WrittenValue {
  readonly key: string;
  readonly value: unknown;
  readonly append: boolean;
}

/** What surrounds a tool in a spec, and what the tool did to it. */
export interface TestContext extends ToolContext {
  readonly clock: ManualClock;
  readonly writes: readonly WrittenValue[];
  readonly logs: readonly string[];
  /** Tells the tool to stop, as a timeout or a forced cancel would. */
  abort(): void;
}

export interface TestContextOptions {
  readonly attempt?: number;
  readonly item_index?: number | null;
  /** What the blackboard holds; writes are only noted. */
  readonly session?: Record<string, Json>;
  /** Shared with another attempt or invocation of the same run. */
  readonly memory?: Map<string, unknown>;
  readonly files?: ToolContext['files'];
  readonly run_pipeline?: ToolContext['run_pipeline'];
}

/** A context for one attempt: first attempt, no item, empty blackboard and no files unless said otherwise. */
export function toolContext(options: TestContextOptions = {}): TestContext {
  const controller = new AbortController();
  const session = new Map(Object.entries(options.session ?? {}));
  const writes: WrittenValue[] = [];
  const logs: string[] = [];
  return {
    run_id: '0190a000-0000-7000-8000-000000000000',
    task_id: 'task',
    item_index: options.item_index ?? null,
    attempt: options.attempt ?? 1,
    signal: controller.signal,
    clock: new ManualClock(),
    memory: options.memory ?? new Map(),
    files: options.files ?? { read: () => Promise.reject(new ToolError('no files here')) },
    blackboard: {
      get_all: () => Promise.resolve(Object.fromEntries(session)),
      read_many: (keys) =>
        Promise.resolve(Object.fromEntries([...session].filter(([key]) => keys.includes(key)))),
      write: (key, value, append = false) => void writes.push({ key, value, append }),
    },
    run_pipeline: options.run_pipeline ?? (() => Promise.reject(new ToolError('no pipelines here'))),
    log: (message) => void logs.push(message),
    writes,
    logs,
    abort: () => controller.abort(),
  };
}
