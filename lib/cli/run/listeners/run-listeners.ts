import type { LiveEvent } from '../../../execution/events/event.js';
import type { RunRecord } from '../../../runs/record.js';
import type { CliContext } from '../../context.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import { PROGRAM } from '../../package-info.js';
import type { StopSignals } from '../../input/process-events.js';
import { printTransitions, wantsTransitions } from '../../runs/inspection/transitions.js';
import { LineFile, type WantedFile } from './line-file.js';
import { LiveInspector, readInspectMode } from './live-inspector.js';
import { RecordingFile } from './recording-file.js';
import type { RunBackend, StartOptions } from '../displayed-run.js';
import type { RunFlags } from '../submission.js';

type ListenerFlags = Pick<RunFlags, 'events' | 'record' | 'inspect' | 'json' | 'quiet'>;

/**
 * The receivers of a run's events besides the display: the files of `--events` and `--record`, the page of `--inspect`.
 */
export class RunListeners {
  readonly #flags: ListenerFlags;
  readonly #context: CliContext;
  #eventFile: LineFile | undefined;
  #recording: RecordingFile | undefined;
  #inspector: LiveInspector | undefined;
  #isOver = false;

  /** Opens what the flags ask for, or nothing if a part cannot be opened. @throws UsageError */
  static async open(
    flags: ListenerFlags,
    filesRead: readonly string[],
    context: CliContext,
  ): Promise<RunListeners> {
    const { events, record } = flags;
    const eventFile: WantedFile | undefined =
      events === undefined ? events : { flag: '--events', name: events };
    const recording: WantedFile | undefined =
      record === undefined ? record : { flag: '--record', name: record };
    const mode = readInspectMode(flags);
    const wanted = [eventFile, recording].filter((file) => file !== undefined);
    await LineFile.check(wanted, filesRead, context.cwd);
    const listeners = new RunListeners(flags, context);
    try {
      if (mode !== undefined) listeners.#inspector = await LiveInspector.open(context);
      if (eventFile !== undefined) listeners.#eventFile = await LineFile.open(eventFile, context.cwd);
      if (recording !== undefined) {
        const file = await LineFile.open(recording, context.cwd);
        listeners.#recording = await RecordingFile.create(file, context);
      }
      return listeners;
    } catch (error) {
      await listeners.close();
      throw error;
    }
  }

  private constructor(flags: ListenerFlags, context: CliContext) {
    this.#flags = flags;
    this.#context = context;
  }

  /** Receives each event of the run; undefined when nobody wants them. */
  get onEvent(): ((event: LiveEvent) => void) | undefined {
    const file = this.#eventFile;
    return file && ((event) => file.write(event));
  }

  /** There is a page that lets a paused run go on. */
  get hasPage(): boolean {
    return this.#inspector !== undefined;
  }

  /** Says where the page is, and waits for a viewer if the flags ask. Returns false if Ctrl-C came first: nothing must run. */
  async waitForViewer(signals: StopSignals): Promise<boolean> {
    const mode = readInspectMode(this.#flags);
    if (mode === undefined || this.#inspector === undefined) return true;
    return this.#inspector.waitForViewer(mode, signals);
  }

  /** Receives what the actors of the run do; undefined when nobody wants it, so that they are not recorded. */
  onInspection(backend: RunBackend, print: (line: string) => void): StartOptions['onInspection'] {
    const [recording, inspector] = [this.#recording, this.#inspector];
    const prints = wantsTransitions(this.#context.env);
    if (recording === undefined && inspector === undefined && !prints) return undefined;
    return (inspection, record) => {
      recording?.begin(inspection, record, backend);
      inspector?.begin(inspection, record, backend);
      if (prints) printTransitions(inspection, print);
    };
  }

  /** Call with the last record, before the run is forgotten. */
  async end(record: RunRecord): Promise<void> {
    this.#isOver = true;
    this.#inspector?.end(record);
    await this.#recording?.end(record);
  }

  async keepOpen(signals: StopSignals): Promise<void> {
    await this.#inspector?.keepOpen(signals);
  }

  /** Closes everything. Prints what could not be written, and returns the exit status of that. May be called twice. */
  async close(): Promise<ExitStatus> {
    const { stderr } = this.#context;
    const { record, json, quiet } = this.#flags;
    const isRecorded = this.#recording !== undefined && this.#isOver;
    const files = [this.#eventFile, this.#recording];
    this.#eventFile = this.#recording = undefined;
    let status: ExitStatus = EXIT.done;
    for (const file of files) {
      const problem = await file?.close();
      if (problem === undefined) continue;
      stderr.write(`${PROGRAM}: ${problem}\n`);
      status = EXIT.failed;
    }
    if (isRecorded && status === EXIT.done && !json && !quiet) {
      stderr.write(`recorded in ${record}: ${PROGRAM} inspect ${record} shows it\n`);
    }
    await this.#inspector?.close();
    this.#inspector = undefined;
    return status;
  }
}
