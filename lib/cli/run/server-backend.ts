import type { WavetrainClient } from '../../client/client.js';
import { errorCode, errorMessage, WavetrainError } from '../../common/errors.js';
import type { RunRecord } from '../../runs/record.js';
import { PROGRAM } from '../package-info.js';
import type { StopSignals } from '../process-events.js';
import { serverFlag } from '../render/run-summary.js';
import { followEvents, type ServerClock } from '../runs/watch.js';
import type { RunBackend, StartOptions } from './run-backend.js';
import type { PreparedSubmission } from './submission.js';
import { filesOnServer, type WrittenFiles } from './written-files.js';

interface BackendOptions {
  readonly submit: PreparedSubmission['submit'];
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
  readonly reader: WavetrainClient;
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
