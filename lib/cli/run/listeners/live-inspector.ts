import { once } from 'node:events';
import { toIsoTime } from '../../../common/clock.js';
import type { OpenInspection } from '../../../runs/inspection/inspection.js';
import type { RunRecord } from '../../../runs/record.js';
import type { CliContext } from '../../context.js';
import { distFile } from '../../../common/files.js';
import { readPackageJson, readStatecharts } from '../../package-info.js';
import type { StopSignals } from '../../input/process-events.js';
import type { ShownRun, ShownRunServer } from '../../../http/inspector/shown-run.js';
import type { RunBackend } from '../displayed-run.js';
import type { RunFlags } from '../submission.js';
import { readCall } from '../task-reader.js';
import { isTty } from '../../input/ask.js';
import { UsageError } from '../../input/usage-errors.js';

/** How `--inspect` shows a run: `wait` begins it when its page is open. */
export type InspectMode = 'show' | 'wait';

/** Reads `--inspect`; undefined without it. @throws UsageError for a mode that there is not */
export function readInspectMode({ inspect = false }: Pick<RunFlags, 'inspect'>): InspectMode | undefined {
  if (inspect === false) return undefined;
  if (inspect === true) return 'show';
  if (inspect === 'wait') return inspect;
  throw new UsageError(
    `--inspect=${inspect} is not known`,
    'write --inspect, or --inspect=wait to wait for the page',
  );
}

/** Serves the page of one run of this process while the command lasts (`run --inspect`, D42). */
export class LiveInspector {
  readonly #context: CliContext;
  readonly #server: ShownRunServer;
  readonly #opened: Promise<void>;
  readonly #show: (run: ShownRun) => void;
  #readRecord: (() => RunRecord) | undefined;

  static async open(context: CliContext): Promise<LiveInspector> {
    const { serveShownRun } = await import('../../lazy/server.js');
    const run = createDeferred<ShownRun>();
    const opened = createDeferred<void>();
    const statecharts = await readStatecharts();
    const server = await serveShownRun({
      run: run.promise,
      statecharts,
      webFolder: distFile('web'),
      onOpened: opened.resolve,
    });
    return new LiveInspector(context, server, opened.promise, run.resolve);
  }

  private constructor(
    context: CliContext,
    server: ShownRunServer,
    opened: Promise<void>,
    show: (run: ShownRun) => void,
  ) {
    this.#context = context;
    this.#server = server;
    this.#opened = opened;
    this.#show = show;
  }

  /** Prints the address, and waits in mode `wait` for a viewer or Enter. Returns false if Ctrl-C came first: nothing must run. */
  async waitForViewer(mode: InspectMode, signals: StopSignals): Promise<boolean> {
    const { stderr } = this.#context;
    stderr.write(`inspector: ${this.#server.url}\n`);
    if (mode !== 'wait') return true;
    stderr.write(`the run begins when the page is open${this.#hasKeyboard ? ', or with Enter' : ''}\n`);
    await this.#waitForEnter(signals, this.#opened);
    return !signals.hasCome;
  }

  begin({ log, origin }: OpenInspection, record: RunRecord, backend: RunBackend): void {
    const { run_id: runId } = record;
    this.#readRecord = () => backend.queries?.record(runId) ?? record;
    const { version } = readPackageJson();
    this.#show({
      record: () => this.#readRecord?.() ?? record,
      log,
      origin,
      failedCalls: async (query) => (await backend.queries?.failedCalls(runId, query)) ?? [],
      describe: () => ({ version, recorded_at: toIsoTime(this.#context.clock.now()) }),
      live: {
        cancel: async (force) => void (await backend.cancel(runId, { force })),
        resume: (by) => backend.resume(runId, by),
        call: (taskId, item, { sub_pipeline, ...query }) =>
          readCall(runId, backend.reader, { task_id: taskId, item, sub_pipeline }, query),
        items: (taskId, query) => backend.reader.items(runId, taskId, query),
      },
    });
  }

  /** Call with the last record, before the run is forgotten. */
  end(record: RunRecord): void {
    this.#readRecord = () => record;
  }

  /** Keeps the page until Enter or Ctrl-C; not when Ctrl-C has come before, which is the wish to end. */
  async keepOpen(signals: StopSignals): Promise<void> {
    if (signals.hasCome) return;
    const end = this.#hasKeyboard ? 'Enter or Ctrl-C' : 'Ctrl-C';
    this.#context.stderr.write(`the run is over; ${this.#server.url} stays until ${end}\n`);
    await this.#waitForEnter(signals);
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  get #hasKeyboard(): boolean {
    return isTty(this.#context.stdin);
  }

  /** Waits for Enter, a signal, or something else, and then leaves standard input to others. */
  async #waitForEnter(signals: StopSignals, other?: Promise<void>): Promise<void> {
    const { stdin } = this.#context;
    const waiting = new AbortController();
    const enter = this.#hasKeyboard ? [readOnce(stdin, waiting.signal)] : [];
    try {
      await Promise.race([signals.first, ...(other === undefined ? [] : [other]), ...enter]);
    } finally {
      waiting.abort();
      await Promise.all(enter);
    }
  }
}

/** Resolves with the next bytes, or when nobody waits for them any more. */
async function readOnce(stdin: NodeJS.ReadableStream, signal: AbortSignal): Promise<void> {
  stdin.resume();
  try {
    await once(stdin, 'data', { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stdin.pause();
  }
}

function createDeferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
