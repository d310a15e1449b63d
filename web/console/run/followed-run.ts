import { batch, signal } from '@preact/signals';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import type { DefinitionGraph } from '../../../lib/plans/graph.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import type { TaskPage } from '../../../lib/runs/tasks/task-record.js';
import type { Zoom } from '../../shared/model/zoom.js';
import { Feed, type FeedListener, type FeedState } from '../../shared/server/feed.js';
import type { PageScheduler } from '../../shared/server/page-scheduler.js';
import { RunConnection } from '../../shared/server/run-connection.js';
import type { Server } from '../../shared/server/server.js';
import { readView, type TaskSelection, type Tab, type View } from './model/addresses.js';
import { RunEvents } from './model/event-list.js';
import { type RunPart, TaskStates } from './model/task-states.js';

/** After events were missed, the tasks are read again this often while the run works. */
const TASKS_PAUSE_MS = 3000;

/** The record of a run that waits is read again after so long. */
const WAITS_PAUSE_MS = 3000;

/** Kinds of events that change the record of the run. */
const RECORDED: ReadonlySet<string> = new Set([
  'run',
  'sub_pipeline',
  'wave',
  'usage',
  'finish',
  'fail',
  'skip',
]);

/** The state of the page of one run: its record, its tasks and its events. */
export class FollowedRun extends RunConnection {
  /** Undefined until it was read. */
  readonly graph = signal<DefinitionGraph | undefined>(undefined);
  readonly view = signal<View>({ tab: 'graph', selection: undefined });
  /** The zoom of the run's graphs, also when another tab was shown meanwhile. */
  readonly zoom = signal<Zoom>('auto');
  /** Counts the changes of tasks and events, which are no signals themselves. */
  readonly version = signal(0);
  /** Counts changes of what a settled task has: its values are read again. */
  readonly settledCount = signal(0);
  readonly tasks = new TaskStates();
  readonly events = new RunEvents();
  #hasMissed = false;
  #readsTasks = false;

  constructor(server: Server, runId: string, scheduler: PageScheduler, hash: string) {
    super(server, runId, scheduler);
    this.view.value = readView(hash);
    this.record.subscribe((record) => this.report(this.#lookWhileWaiting(record)));
  }

  override start(): void {
    this.report(this.#readGraph());
    super.start();
  }

  /** No event says that what comes before a run that waits has settled. */
  async #lookWhileWaiting(record: RunRecord | undefined): Promise<void> {
    if (!record?.waiting_for) return;
    await this.scheduler.wait(WAITS_PAUSE_MS, this.closed);
    if (!this.closed.aborted && this.record.value === record) this.refreshRecord();
  }

  /** Shows a tab, a task or an item. */
  show({ tab, selection }: { readonly tab?: Tab; readonly selection?: TaskSelection | undefined }): void {
    const view = this.view.value;
    this.view.value = { tab: tab ?? view.tab, selection };
  }

  /** Shows what the address says. */
  follow(hash: string): void {
    this.view.value = readView(hash);
  }

  /** The pipelines of the run, in the order in which they run; the handlers of a plan last, in no sub-pipeline. */
  parts(): RunPart[] {
    const graph = this.graph.value;
    if (graph === undefined) return [];
    if (graph.kind === 'pipeline') return [{ subPipeline: undefined, graph: graph.graph }];
    const { waves, handlers } = graph.plan;
    const parts = waves.flat().flatMap(({ id }): RunPart[] => {
      const part = graph.pipelines[id];
      return part === undefined ? [] : [{ subPipeline: id, graph: part }];
    });
    return handlers === undefined ? parts : [...parts, { subPipeline: undefined, graph: handlers }];
  }

  /** Deletes the run, which must have settled. @throws ServerError */
  async remove(): Promise<void> {
    await this.server.open(this.path(), { method: 'DELETE' });
  }

  protected override openFeed(listener: FeedListener): Feed {
    return new Feed(this.server, this.path('/events'), listener, this.scheduler);
  }

  protected override changeState(state: FeedState): void {
    super.changeState(state);
    if (state.kind === 'ended') this.report(this.#readTasks());
    if (state.kind === 'live' && this.#hasMissed) this.report(this.#followTasks());
  }

  protected override missed(): void {
    this.#hasMissed = true;
    this.report(this.#followTasks());
  }

  protected override takeIn(entries: Iterable<string>): boolean {
    let settled = 0;
    let changesRecord = false;
    for (const text of entries) {
      const event = JSON.parse(text) as LiveEvent;
      this.tasks.addEvent(event);
      this.events.add(event);
      changesRecord ||= RECORDED.has(event.kind);
      if (event.kind === 'finish' || event.kind === 'fail' || event.kind === 'skip') settled++;
    }
    batch(() => {
      this.version.value++;
      this.settledCount.value += settled;
    });
    return changesRecord;
  }

  async #readGraph(): Promise<void> {
    const graph = await this.read<DefinitionGraph>(this.path('/graph'));
    if (graph === undefined) return;
    this.graph.value = graph;
    for (const part of this.parts()) this.tasks.addPart(part);
    await this.#readTasks();
  }

  /** Reads the tasks again and again while the run works: its events do not say everything any more. */
  async #followTasks(): Promise<void> {
    if (this.#readsTasks) return;
    this.#readsTasks = true;
    const { closed } = this;
    try {
      while (!closed.aborted && this.feed.value.kind === 'live') {
        await this.#readTasks();
        await this.scheduler.wait(TASKS_PAUSE_MS, closed);
      }
    } finally {
      this.#readsTasks = false;
    }
  }

  async #readTasks(): Promise<void> {
    let cursor: string | null = '';
    while (cursor !== null) {
      const query = new URLSearchParams({ values: 'false', limit: '500', ...(cursor !== '' && { cursor }) });
      const page: TaskPage | undefined = await this.read<TaskPage>(this.path(`/tasks?${query}`));
      for (const record of page?.tasks ?? []) this.tasks.addRecord(record);
      this.version.value++;
      cursor = page?.next_cursor ?? null;
    }
  }
}
