import { once } from 'node:events';
import type { OpenInspection } from '../../runs/inspection/inspection.js';
import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { distFile, readStatecharts } from '../package-info.js';
import type { StopSignals } from '../process-events.js';
import { UsageError } from '../usage-errors.js';
import type { TaskReader } from './inspect-run.js';
import type { ShownRun, ShownRunServer } from '../../http/routes/following/shown-run.js';

/** The part of a backend that the page of a run needs. */
export interface InspectedBackend extends Pick<TaskReader, 'task' | 'item'> {
  resume(runId: string, by: 'continue' | 'step'): Promise<void>;
  cancel(runId: string, options: { readonly force?: boolean }): Promise<unknown>;
  /** The record of a run that is kept. */
  readonly record?: ((runId: string) => RunRecord) | undefined;
}

const WAIT = 'wait';

/** Serves the page of one run of this process while the command lasts (`run --inspect`, D42). */
export class LiveInspector {
  readonly #server: ShownRunServer;
  readonly #opened: Promise<void>;
  readonly #context: CliContext;
  readonly #mode: string | true;
  readonly #show: (run: ShownRun) => void;
  #record: RunRecord | undefined;

  /** @throws UsageError for a mode that there is not */
  static async open(mode: string | true, context: CliContext): Promise<LiveInspector> {
    if (mode !== true && mode !== WAIT) {
      throw new UsageError(
        `--inspect=${mode} is not known`,
        'write --inspect, or --inspect=wait to wait for the page',
      );
    }
    const { serveShownRun } = await import('../lazy/server.js');
    let show: (run: ShownRun) => void = () => undefined;
    let onOpened = (): void => undefined;
    const run = new Promise<ShownRun>((resolve) => {
      show = resolve;
    });
    const opened = new Promise<void>((resolve) => {
      onOpened = resolve;
    });
    const statecharts = await readStatecharts();
    const server = await serveShownRun({ run, statecharts, webFolder: distFile('web'), onOpened });
    return new LiveInspector(mode, context, server, opened, show);
  }

  private constructor(
    mode: string | true,
    context: CliContext,
    server: ShownRunServer,
    opened: Promise<void>,
    show: (run: ShownRun) => void,
  ) {
    this.#mode = mode;
    this.#context = context;
    this.#server = server;
    this.#opened = opened;
    this.#show = show;
  }

  get url(): string {
    return this.#server.url;
  }

  /** Prints the address and, if it was asked for, waits until somebody has opened it, presses Enter or Ctrl-C. */
  async announce(signals: StopSignals): Promise<void> {
    const { stderr } = this.#context;
    stderr.write(`inspector: ${this.#server.url}\n`);
    if (this.#mode !== WAIT) return;
    stderr.write('the run begins when the page is open, or with Enter\n');
    await Promise.race([this.#opened, this.#enter(), signals.first]);
  }

  /** Shows the run. */
  begin({ log, origin }: OpenInspection, record: RunRecord, backend: InspectedBackend): void {
    const { run_id: runId } = record;
    this.#record = record;
    const act: ShownRun['act'] = async (action) => {
      if (action === 'cancel') await backend.cancel(runId, {});
      else await backend.resume(runId, action);
    };
    const readRecord = (): RunRecord =>
      (this.#record?.settled === true ? undefined : backend.record?.(runId)) ?? this.#record ?? record;
    const readTask: ShownRun['readTask'] = ({ taskId, item, options }) =>
      item === undefined ? backend.task(runId, taskId, options) : backend.item(runId, taskId, item, options);
    this.#show({ record: readRecord, log, origin, act, readTask });
  }

  /** Call with the last record, before the run is forgotten. */
  end(record: RunRecord): void {
    this.#record = { ...record, settled: true };
  }

  /** Keeps the page until Enter or Ctrl-C. */
  async linger(signals: StopSignals): Promise<void> {
    this.#context.stderr.write(`the run is over; ${this.#server.url} stays until Enter or Ctrl-C\n`);
    await Promise.race([this.#enter(), signals.first]);
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** Resolves with the next line that somebody types; never when standard input is no terminal. */
  async #enter(): Promise<void> {
    const { stdin } = this.#context;
    if (!('isTTY' in stdin) || stdin.isTTY !== true) return new Promise(() => undefined);
    stdin.resume();
    await once(stdin, 'data');
    stdin.pause();
  }
}
