import { batch, signal } from '@preact/signals';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import type { PlanGraph } from '../../../lib/plans/graph.js';
import type { Graph } from '../../../lib/pipelines/graph.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import type { TaskPage } from '../../../lib/runs/tasks/task-record.js';
import { Feed, type FeedState } from '../../shared/server/feed.js';
import type { Frames } from '../../shared/server/frame-loop.js';
import { messageOf, type Server, ServerError } from '../../shared/server/server.js';
import { readView, type TaskSelection, type Tab, type View, writeView } from './model/addresses.js';
import { RunEvents } from './model/event-list.js';
import { type RunPart, TaskStates } from './model/task-states.js';

/** Events that wait to be shown before the feed waits for the page. */
const MOST_WAITING = 5000;

/** The record is read again at most this often. */
const RECORD_PAUSE_MS = 400;

/** After events were missed, the tasks are read again this often while the run works. */
const TASKS_PAUSE_MS = 3000;

/** Kinds of events that change the record of the run. */
const RECORDED: ReadonlySet<string> = new Set(['run', 'sub_pipeline', 'wave', 'usage', 'finish', 'fail']);

/** Statuses that the feed meets too: the server does not answer, wants a key, or does not know the run. */
const FEED_SAYS: ReadonlySet<number> = new Set([0, 401, 404]);

/** What the server answers for the structure of a run. */
export type RunGraph =
  | { readonly kind: 'pipeline'; readonly graph: Graph }
  | { readonly kind: 'plan'; readonly plan: PlanGraph; readonly pipelines: Readonly<Record<string, Graph>> };

/**
 * What the page of one run shows: its record, its tasks and its events. Events are taken in once a frame and never for
 * long, so that the page stays quick however many come.
 */
export class FollowedRun {
  readonly server: Server;
  readonly runId: string;
  readonly record = signal<RunRecord | undefined>(undefined);
  /** Undefined until it was read. */
  readonly graph = signal<RunGraph | undefined>(undefined);
  readonly feed = signal<FeedState>({ kind: 'connecting' });
  readonly view = signal<View>({ tab: 'graph', selection: undefined });
  readonly problem = signal('');
  /** Counts the changes of tasks and events, which are no signals themselves. */
  readonly version = signal(0);
  /** Counts changes of what a settled task has: its values are read again. */
  readonly settledCount = signal(0);
  readonly tasks = new TaskStates();
  readonly events = new RunEvents();
  readonly #frames: Frames;
  #waiting: string[] = [];
  #onRoom: (() => void) | undefined;
  #feed: Feed | undefined;
  #isRecordStale = false;
  #readsRecord = false;
  #readsTasks = false;

  constructor(server: Server, runId: string, frames: Frames, hash: string) {
    this.server = server;
    this.runId = runId;
    this.#frames = frames;
    this.view.value = readView(hash);
  }

  /** Path of the API for this run. */
  path(rest = ''): string {
    return `/pipelines/runs/${encodeURIComponent(this.runId)}${rest}`;
  }

  /** Reads the run until it has settled or the session is closed. */
  start(): void {
    this.#feed = new Feed(this.server, this.path('/events'), this.#listener(), this.#frames);
    this.#report(this.#readGraph());
    this.#report(this.#feed.run());
    this.refreshRecord();
  }

  /** Tries again what needed a key, or has failed. */
  restart(): void {
    this.close();
    this.feed.value = { kind: 'connecting' };
    this.start();
  }

  /** Connects again at once. */
  retry(): void {
    this.#feed?.retry();
  }

  close(): void {
    this.#feed?.close();
  }

  /** Shows a tab, a task or an item. */
  show({ tab, selection }: { readonly tab?: Tab; readonly selection?: TaskSelection | undefined }): void {
    const view = this.view.value;
    this.view.value = { tab: tab ?? view.tab, selection };
    const hash = writeView(this.view.value);
    if (window.location.hash !== hash)
      window.history.replaceState(null, '', hash || window.location.pathname);
  }

  /** Shows what the address says. */
  follow(hash: string): void {
    this.view.value = readView(hash);
  }

  /** The pipelines of the run, in the order in which they run. */
  parts(): RunPart[] {
    const graph = this.graph.value;
    if (graph === undefined) return [];
    if (graph.kind === 'pipeline') return [{ subPipeline: undefined, graph: graph.graph }];
    return graph.plan.waves.flat().flatMap(({ id }) => {
      const part = graph.pipelines[id];
      return part === undefined ? [] : [{ subPipeline: id, graph: part }];
    });
  }

  /** Sends `continue`, `step` or `cancel` to the run. @throws ServerError */
  async act(action: 'continue' | 'step' | 'cancel', body?: object): Promise<void> {
    this.record.value = await this.server.post<RunRecord>(this.path(`/${action}`), body);
  }

  refreshRecord(): void {
    this.#isRecordStale = true;
    if (this.#readsRecord) return;
    this.#readsRecord = true;
    this.#report(this.#readRecord());
  }

  #report(promise: Promise<unknown>): void {
    this.#frames.report(promise, (error) => (this.problem.value = messageOf(error)));
  }

  #listener() {
    return {
      onEntry: (text: string): void => {
        this.#waiting.push(text);
        this.#frames.request(() => this.#takeIn());
      },
      onState: (state: FeedState): void => {
        this.feed.value = state;
        if (state.kind === 'ended') this.#report(this.#readTasks());
        if (state.kind === 'ended' || state.kind === 'live') this.refreshRecord();
      },
      onGap: (): void => this.#report(this.#followTasks()),
      keepUp: (): Promise<void> => {
        if (this.#waiting.length < MOST_WAITING) return Promise.resolve();
        return new Promise((resolve) => (this.#onRoom = resolve));
      },
    };
  }

  /** Takes in waiting events for as long as a frame allows. */
  #takeIn(): void {
    const mayGoOn = this.#frames.budget();
    let taken = 0;
    let settled = 0;
    let changesRecord = false;
    while (taken < this.#waiting.length && mayGoOn()) {
      const event = JSON.parse(this.#waiting[taken++] ?? '') as LiveEvent;
      this.tasks.addEvent(event);
      this.events.add(event);
      changesRecord ||= RECORDED.has(event.kind);
      if (event.kind === 'finish' || event.kind === 'fail') settled++;
    }
    this.#waiting = this.#waiting.slice(taken);
    batch(() => {
      this.version.value++;
      this.settledCount.value += settled;
    });
    if (changesRecord) this.refreshRecord();
    if (this.#waiting.length > 0) this.#frames.request(() => this.#takeIn());
    else this.#onRoom?.();
  }

  async #readGraph(): Promise<void> {
    const graph = await this.#readOrMiss(this.server.getJson<RunGraph>(this.path('/graph')));
    if (graph === undefined) return;
    this.graph.value = graph;
    for (const part of this.parts()) this.tasks.addPart(part);
    await this.#readTasks();
  }

  /** Reads the tasks again and again while the run works: its events do not say everything any more. */
  async #followTasks(): Promise<void> {
    if (this.#readsTasks) return;
    this.#readsTasks = true;
    while (this.feed.value.kind === 'live') {
      await this.#readTasks();
      await this.#frames.wait(TASKS_PAUSE_MS);
    }
    this.#readsTasks = false;
  }

  async #readTasks(): Promise<void> {
    let cursor: string | null = '';
    while (cursor !== null) {
      const query = new URLSearchParams({ values: 'false', limit: '500', ...(cursor !== '' && { cursor }) });
      const page: TaskPage | undefined = await this.#readOrMiss(
        this.server.getJson<TaskPage>(this.path(`/tasks?${query}`)),
      );
      for (const record of page?.tasks ?? []) this.tasks.addRecord(record);
      this.version.value++;
      cursor = page?.next_cursor ?? null;
    }
  }

  async #readRecord(): Promise<void> {
    try {
      while (this.#isRecordStale) {
        this.#isRecordStale = false;
        const record = await this.#readOrMiss(this.server.getJson<RunRecord>(this.path()));
        if (record !== undefined) this.record.value = record;
        await this.#frames.wait(RECORD_PAUSE_MS);
      }
    } finally {
      this.#readsRecord = false;
    }
  }

  /** The feed says when the run or the server is gone, or a key is needed. */
  async #readOrMiss<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof ServerError && FEED_SAYS.has(error.status)) return undefined;
      throw error;
    }
  }
}
