import type { WavetrainClient } from '../../client/client.js';
import { errorCode, errorMessage, WavetrainError } from '../../common/errors.js';
import type { AcceptedRun, RunRecord } from '../../runs/record.js';
import type { StopSignals } from '../input/process-events.js';
import { PROGRAM } from '../package-info.js';
import { serverFlag } from '../render/run-summary.js';
import type { Clock } from '../../common/clock.js';
import type { LiveEvent } from '../../execution/events/event.js';
import { type RunBackend, type StartOptions } from './displayed-run.js';
import { filesOnServer, type WrittenFiles } from './written-files.js';

interface BackendOptions {
  readonly submit: () => Promise<AcceptedRun>;
  readonly signals: StopSignals;
  /** The value of `--server`, for the commands in messages. */
  readonly server: string;
  /** Print the run id, which the other commands for runs take. */
  readonly announce: boolean;
  /** Where the files of the run are downloaded to; undefined: they stay on the server. */
  readonly outputFolder: string | undefined;
}

const CANCEL_LIMIT_MS = 5000;

/** Executes a run on a server, which keeps it. */
export class ServerBackend implements RunBackend {
  readonly reader: RunBackend['reader'];
  readonly #client: WavetrainClient;
  readonly #options: BackendOptions;
  readonly #clock: ServerClock;
  readonly #abort = new AbortController();
  #followed: Promise<void> | undefined;

  constructor(client: WavetrainClient, clock: ServerClock, options: BackendOptions) {
    this.reader = client;
    this.#client = client;
    this.#clock = clock;
    this.#options = options;
  }

  async start({ onEvent, print }: StartOptions): Promise<string> {
    const { submit, signals, server, announce } = this.#options;
    // Until the server has answered there is no run that could be cancelled.
    const stopped = signals.second.then((): never => {
      const message = `stopped before the server answered; the run may have started: ${PROGRAM} runs list${serverFlag(server)} shows it`;
      throw new WavetrainError('run_cancelled', message);
    });
    const { run_id } = await Promise.race([submit(), stopped]);
    if (announce) print(`submitted ${run_id}`);
    if (onEvent !== undefined) {
      const listener = { onEvent, print, clock: this.#clock };
      this.#followed = followEvents(this.#client, run_id, listener, this.#abort.signal);
    }
    return run_id;
  }

  async settled(runId: string): Promise<RunRecord> {
    try {
      await this.#followed;
      return await this.#client.settled(runId, { signal: this.#abort.signal });
    } catch (error) {
      if (errorCode(error) !== 'server_unreachable') throw error;
      const message = `${errorMessage(error)}\n  the run may continue: ${this.#watchCommand(runId)}`;
      throw new WavetrainError('server_unreachable', message, { cause: error });
    }
  }

  /** Rejects when the server does not answer in time: whoever stops a run does not wait for a server that hangs. */
  async cancel(runId: string, options: { readonly force?: boolean } = {}): Promise<RunRecord> {
    const limit = new AbortController();
    const timer = this.#clock.setTimeout(() => {
      const message = `the server has not answered within ${CANCEL_LIMIT_MS / 1000} s; the run may continue: ${this.#watchCommand(runId)}`;
      limit.abort(new WavetrainError('request_timeout', message));
    }, CANCEL_LIMIT_MS);
    try {
      return await this.#client.cancel(runId, { ...options, signal: limit.signal });
    } finally {
      this.#clock.clearTimeout(timer);
    }
  }

  async resume(runId: string, by: 'continue' | 'step'): Promise<void> {
    await this.#client[by](runId);
  }

  async writtenFiles(record: RunRecord, signals: Pick<StopSignals, 'first'>): Promise<WrittenFiles> {
    const { server, outputFolder: folder } = this.#options;
    if (folder === undefined) return filesOnServer(record, server);
    const { downloadArtifacts } = await import('../runs/files/download.js');
    const stop = new AbortController();
    void signals.first.then(() => stop.abort());
    return downloadArtifacts(this.#client, record, { folder, server, signal: stop.signal });
  }

  /** The server keeps the run; only its events are no longer read. */
  async release(): Promise<void> {
    this.#abort.abort();
  }

  #watchCommand(runId: string): string {
    return `${PROGRAM} runs watch ${runId}${serverFlag(this.#options.server)} shows it`;
  }
}

export interface ServerEventListener {
  readonly onEvent: (event: LiveEvent) => void;
  readonly print: (line: string) => void;
  /** Is set to the time of each event. */
  readonly clock: ServerClock;
}

export async function followEvents(
  client: WavetrainClient,
  runId: string,
  { onEvent, print, clock }: ServerEventListener,
  signal: AbortSignal,
): Promise<void> {
  for await (const event of client.events(runId, { signal })) {
    if (event.kind === 'gap') {
      print(`events ${event.after + 1} to ${event.next - 1} have been dropped by the server`);
    } else {
      clock.set(event);
      onEvent(event);
    }
  }
}

/**
 * Each event sets the monotonic time to its own, so that events of the past show their true durations. The events of
 * one run never go back (D27).
 */
export class ServerClock implements Clock {
  readonly #clock: Clock;
  #offsetMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set({ time }: LiveEvent): void {
    this.#offsetMs = Date.parse(time) - this.#clock.monotonicNow();
  }

  now(): number {
    return this.#clock.now();
  }

  monotonicNow(): number {
    return this.#clock.monotonicNow() + this.#offsetMs;
  }

  setTimeout(run: () => void, delayMs: number): unknown {
    return this.#clock.setTimeout(run, delayMs);
  }

  clearTimeout(timer: unknown): void {
    this.#clock.clearTimeout(timer);
  }
}
