import { signal } from '@preact/signals';
import type { JsonObject } from '../../../../lib/common/json/json.js';
import type { Problem } from '../../../../lib/definition/problems/problem.js';
import type { Graph } from '../../../../lib/pipelines/drawing/graph.js';
import type { PlanStatistics } from '../../../../lib/plans/statistics.js';
import type { ReadablePaths } from '../model/readable-paths.js';
import { type DrawnGraph, drawPlan, isTextOf } from '../model/drawn-graph.js';
import { messageOf, type Server, ServerError } from '../../../shared/server/server.js';

type DefinitionKind = 'pipeline' | 'plan';

/** A text, as it is sent to be checked. */
interface CheckedText {
  readonly text: string;
  readonly kind: DefinitionKind;
  /** The values that say, besides the text, with which files the text is checked. */
  readonly place: JsonObject;
}

/** The server's verdict on a text. */
export interface CheckState {
  /**
   * `idle`: nothing was asked yet. `checking`: the server was asked. `unreachable`: the server does not answer, and is
   * asked again. `refused`: the server does not check this text, such as one that is too long.
   */
  readonly status: 'idle' | 'checking' | 'checked' | 'unreachable' | 'refused';
  /** The text that was checked last, which the positions of the problems and the fixes are of. */
  readonly text: string;
  readonly isOk: boolean;
  readonly problems: readonly Problem[];
  /** Of the last text that could be read, until the text is that of another definition. */
  readonly graph: DrawnGraph | undefined;
  /** The graph is that of the text as it was last sent to be checked. */
  readonly isGraphCurrent: boolean;
  /** Why the server is unreachable, or has refused the text. */
  readonly reason: string;
}

const NOTHING: CheckState = {
  status: 'idle',
  text: '',
  isOk: false,
  problems: [],
  graph: undefined,
  isGraphCurrent: false,
  reason: '',
};

interface Report {
  readonly ok: boolean;
  readonly problems: readonly Problem[];
  readonly stats: PlanStatistics | null;
  readonly paths?: readonly ReadablePaths[];
}

/** The timers of the window, or of a spec. */
export interface Timers {
  set(task: () => void, milliseconds: number): number;
  clear(timer: number): void;
}

/** After the last keystroke. */
const PAUSE_MS = 300;
const RETRY_MS = 2000;
const LONGEST_RETRY_MS = 30_000;

/** The most characters that the server checks as a text: a longer one would be sent in vain. */
export const MOST_CHECKED = 256 * 1024;

/**
 * Has the server check a text after each change, with never more than one request in flight: what is typed meanwhile is
 * checked when it has answered. Where it does not answer, it is asked again.
 */
export class Checker {
  readonly state = signal<CheckState>(NOTHING);
  /** The paths that the templates of the last text that could be read can read: a half-written text may be none. */
  paths: readonly ReadablePaths[] = [];
  readonly #server: Pick<Server, 'post'>;
  readonly #read: () => CheckedText;
  readonly #timers: Timers;
  #timer = 0;
  #isAsking = false;
  #isOutdated = false;
  #isClosed = false;
  #retryMs = RETRY_MS;

  /** @param read returns the text as it is now */
  constructor(server: Pick<Server, 'post'>, read: () => CheckedText, timers: Timers) {
    this.#server = server;
    this.#read = read;
    this.#timers = timers;
  }

  /** The text has changed. */
  changed(pauseMs = PAUSE_MS): void {
    this.#isOutdated = true;
    if (this.#isAsking || this.#isClosed) return;
    this.#timers.clear(this.#timer);
    this.#timer = this.#timers.set(() => void this.#check(), pauseMs);
  }

  close(): void {
    this.#isClosed = true;
    this.#timers.clear(this.#timer);
  }

  #set(change: Partial<CheckState>): void {
    this.state.value = { ...this.state.value, ...change };
  }

  async #check(): Promise<void> {
    const read = this.#read();
    const { text } = read;
    this.#isAsking = true;
    this.#isOutdated = false;
    this.#set({ status: 'checking' });
    let nextMs: number | undefined;
    try {
      await this.#ask(read);
      this.#retryMs = RETRY_MS;
    } catch (error) {
      nextMs = this.#onError(error, text);
    }
    this.#isAsking = false;
    if (this.#isOutdated) this.changed(0);
    else if (nextMs !== undefined) this.changed(nextMs);
  }

  async #ask({ text, kind, place }: CheckedText): Promise<void> {
    if (text.trim() === '') {
      this.paths = [];
      this.#set({ ...NOTHING, status: 'checked' });
      return;
    }
    if (text.length > MOST_CHECKED) {
      const reason = `The text is longer than ${MOST_CHECKED / 1024} KiB, the most that the server checks and runs as a text.`;
      this.#set({ status: 'refused', isOk: false, problems: [], reason, ...this.#keepGraph(text) });
      return;
    }
    const report = await this.#server.post<Report>(`/${kind}s/validate?paths=true`, { yaml: text, ...place });
    const { ok, problems, paths = [] } = report;
    if (this.#isClosed) return;
    if (paths.length > 0) this.paths = paths;
    const drawn = ok
      ? { graph: await this.#draw(text, kind, report.stats), isGraphCurrent: true }
      : this.#keepGraph(text);
    this.#set({ status: 'checked', text, isOk: ok, problems, reason: '', ...drawn });
  }

  /** The last graph, for a text that has none. */
  #keepGraph(text: string): Pick<CheckState, 'graph' | 'isGraphCurrent'> {
    const { graph } = this.state.value;
    return { graph: graph && isTextOf(graph, text) ? graph : undefined, isGraphCurrent: false };
  }

  #draw(text: string, kind: DefinitionKind, stats: PlanStatistics | null): DrawnGraph | Promise<DrawnGraph> {
    if (kind === 'plan' && stats !== null) return drawPlan(stats);
    return this.#server.post<Graph>('/pipelines/graph', { yaml: text });
  }

  /** Returns after how many milliseconds to ask again. */
  #onError(error: unknown, text: string): number | undefined {
    const isLasting =
      error instanceof ServerError && error.status >= 400 && error.status < 500 && error.status !== 429;
    if (isLasting) {
      this.#set({
        status: 'refused',
        isOk: false,
        problems: [],
        reason: error.message,
        ...this.#keepGraph(text),
      });
      return undefined;
    }
    const isChanged = text !== this.state.value.text;
    this.#set({ status: 'unreachable', reason: messageOf(error), ...(isChanged && this.#keepGraph(text)) });
    const next = this.#retryMs;
    this.#retryMs = Math.min(next * 2, LONGEST_RETRY_MS);
    return next;
  }
}
