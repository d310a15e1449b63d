import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { KINDS, type Kind } from './definitions.js';
import { Server, ServerEnded } from './server.js';

/** All but the first five, and the number of lists, must be 0. */
export interface Figures {
  kills: number;
  runs: number;
  calls: number;
  /** Calls that had returned, and were made again because that was not kept yet. */
  calls_repeated: number;
  /** Runs that failed because the process was killed five times during the same call, or before they came further. */
  given_up: number;
  /** Runs that were accepted, and are not there. */
  lost: number;
  /** Runs whose cancellation was answered with 200, and that have ended otherwise. */
  cancels_lost: number;
  records_that_differ: number;
  events_that_differ: number;
  /** Runs in whose events a number is missing. */
  gaps: number;
  /** Walks through the list of runs, page by page, while runs are at work. */
  lists: number;
  /** Runs that were on two pages of a walk, or on none. */
  listed_wrongly: number;
  /** Settled runs whose summary in a list differs from their record. */
  summaries_that_differ: number;
  /** Outcomes of tasks and of items with two events. */
  published_twice: number;
  /** Calls that were made twice and must not be. */
  called_twice: number;
  /** Attempts before their delay was over. */
  early_retries: number;
}

type Event = Readonly<Record<string, unknown>>;

interface Outcome {
  readonly record: Readonly<Record<string, unknown>>;
  readonly events: readonly Event[];
}

interface TrialOptions {
  readonly folder: string;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  /** True when the server is also killed after some time, and not only by its tools. */
  readonly isTimed: boolean;
  readonly print: (line: string) => void;
}

/** Between the beginnings of two attempts: the retry delay of the shortest, without its jitter. */
const LEAST_DELAY_MS = 45;

/** Of so many settled runs of a list, the record is read. */
const LOOKED_AT = 5;

/** Kills a server in the middle of every kind of run, again and again, and compares each with an undisturbed one. */
export class Trial {
  readonly figures: Figures = {
    kills: 0,
    runs: 0,
    calls: 0,
    calls_repeated: 0,
    given_up: 0,
    lost: 0,
    cancels_lost: 0,
    records_that_differ: 0,
    events_that_differ: 0,
    gaps: 0,
    lists: 0,
    listed_wrongly: 0,
    summaries_that_differ: 0,
    published_twice: 0,
    called_twice: 0,
    early_retries: 0,
  };
  readonly #options: TrialOptions;
  readonly #server: Server;
  readonly #expected = new Map<Kind, Outcome>();

  constructor(options: TrialOptions) {
    this.#options = options;
    this.#server = new Server(options.folder, 'killed');
  }

  /** Resolves when the server was killed so often, and all runs have settled. */
  async run(kills: number): Promise<Figures> {
    await this.#runUndisturbed();
    await this.#start();
    try {
      for (let round = 1; this.figures.kills < kills; round++) {
        await this.#runRound(round);
        this.#options.print(JSON.stringify(this.figures));
      }
    } finally {
      await this.#server.end('SIGKILL');
    }
    this.#countCalls();
    return this.figures;
  }

  async #runUndisturbed(): Promise<void> {
    const server = new Server(this.#options.folder, 'undisturbed');
    await server.start(0);
    try {
      const compared = KINDS.filter(({ comparison }) => comparison === 'equal' || comparison === 'once');
      const ids = await Promise.all(compared.map((kind) => submit(server, kind, kind.name)));
      for (const [at, kind] of compared.entries()) {
        const id = ids[at] as string;
        while (!(await isSettled(server, id))) await wait(20);
        const outcome = await readOutcome(server, id);
        if (outcome === undefined) throw new Error(`the undisturbed run of ${kind.name} is not there`);
        this.#expected.set(kind, outcome);
      }
    } finally {
      await server.end('SIGTERM');
    }
  }

  /** Starts the server, which is killed sooner or later. */
  async #start(): Promise<void> {
    const { random, isTimed } = this.#options;
    const killsItself = !isTimed || random() < 0.5;
    await this.#server.start(killsItself ? 1 + Math.floor(random() * 250) : 0);
    if (killsItself) return;
    const timer = setTimeout(() => void this.#server.end('SIGKILL'), random() * 700);
    void this.#server.killed().finally(() => clearTimeout(timer));
  }

  /** Does something with the server, and again with the next one for as long as it is killed meanwhile. */
  async #insist<T>(action: (server: Server) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await action(this.#server);
      } catch (error) {
        if (!(error instanceof ServerEnded)) throw error;
        await this.#server.killed();
        this.figures.kills++;
        await this.#start();
      }
    }
  }

  async #runRound(round: number): Promise<void> {
    const ids = new Map<Kind, string>();
    for (const kind of KINDS) ids.set(kind, await this.#submitSurely(kind, `${round}.${kind.name}`));
    const cancelled = new Set<string>();
    for (const [{ comparison }, id] of ids) {
      if (comparison !== 'cancelled' && comparison !== 'forced') continue;
      if (await this.#cancel(id, comparison === 'forced')) cancelled.add(id);
    }
    await this.#insist(async (server) => {
      for (const id of ids.values()) {
        while (!(await isSettled(server, id))) {
          await this.#checkLists(server, ids.values());
          await wait(20);
        }
      }
    });
    await this.#insist((server) => this.#checkLists(server, ids.values()));
    for (const [kind, id] of ids) {
      const outcome = await this.#insist((server) => readOutcome(server, id));
      this.#compare(kind, outcome, id);
      if (cancelled.has(id) && outcome?.record['status'] !== 'cancelled') this.figures.cancels_lost++;
    }
  }

  /** Walks through the runs, also through those that a search finds, and reads some of them, while others settle. */
  async #checkLists(server: Server, ids: Iterable<string>): Promise<void> {
    const { figures } = this;
    figures.lists++;
    const listed = await walk(server, '');
    const found = await walk(server, '&text=e');
    for (const runs of [listed, found]) {
      figures.listed_wrongly += runs.length - new Set(runs.map(({ run_id: id }) => id)).size;
    }
    const known = new Set(listed.map(({ run_id: id }) => id));
    for (const id of ids) if (!known.has(id)) figures.listed_wrongly++;
    for (const summary of listed.filter(({ settled }) => settled).slice(0, LOOKED_AT)) {
      const { body } = await server.request('GET', `/pipelines/runs/${String(summary['run_id'])}`);
      const differs = Object.keys(summary).some((field) => !isDeepStrictEqual(summary[field], body[field]));
      if (!differs) continue;
      figures.summaries_that_differ++;
      this.#options.print(`listed ${JSON.stringify(summary)}\nrecord ${JSON.stringify(body)}`);
    }
  }

  /** Returns whether the server has promised that the run is cancelled. */
  async #cancel(id: string, force: boolean): Promise<boolean> {
    const sent = { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ force }) };
    const { status } = await this.#insist((server) =>
      server.request('POST', `/pipelines/runs/${id}/cancel`, sent),
    );
    // The run had ended, or was cancelled already when the answer did not come.
    if (status !== 200 && status !== 400) throw new Error(`a cancel was answered with ${status}`);
    return status === 200;
  }

  /** A run is accepted once, also when the answer did not come (D36). An answered run is not lost. */
  async #submitSurely(kind: Kind, key: string): Promise<string> {
    const id = await this.#insist((server) => submit(server, kind, key));
    const again = await this.#insist((server) => submit(server, kind, key));
    if (again !== id) this.figures.lost++;
    return again;
  }

  #compare(kind: Kind, outcome: Outcome | undefined, id: string): void {
    const { figures } = this;
    const { name, comparison } = kind;
    figures.runs++;
    if (outcome === undefined) {
      figures.lost++;
      return this.#options.print(`${name} ${id} is lost`);
    }
    const { record, events } = outcome;
    if (events.some(({ seq }, at) => seq !== at + 1)) figures.gaps++;
    figures.published_twice += countTwice(events, this.#expected.get(kind)?.events ?? []);
    if (comparison === 'cancelled' || comparison === 'forced') {
      // The run may have ended before it was cancelled.
      if (record['status'] === 'cancelled' || record['status'] === 'succeeded') return;
      figures.records_that_differ++;
      return this.#options.print(`${name} ${id} is ${JSON.stringify(record)}`);
    }
    const refused = /must not be called twice/.test(String(record['error']));
    if (comparison === 'once' && record['status'] === 'failed' && refused) return;
    if (/the process ended \d+ times while /.test(String(record['error']))) {
      figures.given_up++;
      return;
    }
    const expected = this.#expected.get(kind);
    if (expected === undefined) throw new Error(`${name} has no undisturbed run`);
    if (JSON.stringify(record) !== JSON.stringify(expected.record)) {
      figures.records_that_differ++;
      this.#options.print(
        `${name} ${id}\nexpected ${JSON.stringify(expected.record)}\nfound    ${JSON.stringify(record)}`,
      );
    }
    const [ours, theirs] = [describeEvents(events), describeEvents(expected.events)];
    if (JSON.stringify(ours) === JSON.stringify(theirs)) return;
    figures.events_that_differ++;
    const missing = theirs.filter((event) => !ours.includes(event));
    const extra = ours.filter((event) => !theirs.includes(event));
    this.#options.print(`${name} ${id}\nmissing ${missing.join('\n')}\nextra   ${extra.join('\n')}`);
  }

  #countCalls(): void {
    const { figures } = this;
    const done = new Set<string>();
    /** When an attempt began last. */
    const begun = new Map<string, number>();
    for (const { tool, key, attempt, phase, at } of this.#server.calls) {
      const name = `${key} ${attempt}`;
      if (phase === 'done') {
        figures.calls++;
        if (done.has(name)) figures.calls_repeated++;
        done.add(name);
      } else {
        if (tool === 'work_once' && begun.has(name)) figures.called_twice++;
        begun.set(name, at);
        const before = begun.get(`${key} ${attempt - 1}`);
        if (before !== undefined && at - before < LEAST_DELAY_MS) figures.early_retries++;
      }
    }
  }
}

type Summary = Readonly<Record<string, unknown>>;

/** Lists all runs on pages of five. */
async function walk(server: Server, filter: string): Promise<Summary[]> {
  const runs: Summary[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await server.request('GET', `/pipelines/runs?limit=5${filter}${cursor}`);
    if (status !== 200) throw new Error(`a list was answered with ${status}: ${JSON.stringify(body)}`);
    runs.push(...(body['runs'] as Summary[]));
    if (body['next_cursor'] === null) return runs;
    cursor = `&cursor=${body['next_cursor'] as string}`;
  }
}

async function submit(server: Server, { path, body }: Kind, key: string): Promise<string> {
  const headers = { 'Content-Type': 'application/yaml', 'Idempotency-Key': key };
  const answer = await server.request('POST', path, { headers, body });
  if (answer.status !== 202) throw new Error(`a run was refused: ${JSON.stringify(answer)}`);
  return answer.body['run_id'] as string;
}

/** A run that is lost has settled as well. */
async function isSettled(server: Server, id: string): Promise<boolean> {
  const { status, body } = await server.request('GET', `/pipelines/runs/${id}`);
  return status === 404 || body['settled'] === true;
}

/** Undefined when there is no such run. The last events may come after the record: when they are kept. */
async function readOutcome(server: Server, id: string, tries = 100): Promise<Outcome | undefined> {
  const record = await server.request('GET', `/pipelines/runs/${id}`);
  const page = await server.request('GET', `/pipelines/runs/${id}/events`);
  if (record.status !== 200 || page.status !== 200) return undefined;
  const last = (page.body['events'] as readonly Event[]).findLast(({ kind }) => kind === 'run');
  if (last?.['status'] !== record.body['status'] && tries > 0) {
    await wait(20);
    return readOutcome(server, id, tries - 1);
  }
  const { status, error, result, failures, progress, sub_pipelines } = record.body;
  return {
    record: { status, error, result, failures, progress, sub_pipelines },
    events: page.body['events'] as readonly Event[],
  };
}

/** Leaves out times and the order, which may differ from run to run. */
function describeEvents(events: readonly Event[]): string[] {
  return events
    .map((event) => JSON.stringify({ ...event, seq: 0, time: '', run_id: '', duration_ms: 0, delay_ms: 0 }))
    .toSorted();
}

/** Counts the outcomes that have an event already, unless they had as many in the undisturbed run: pipelines in a retried task. */
function countTwice(events: readonly Event[], undisturbed: readonly Event[]): number {
  const expected = countOutcomes(undisturbed);
  let twice = 0;
  for (const [name, count] of countOutcomes(events)) twice += Math.max(0, count - (expected.get(name) ?? 1));
  return twice;
}

function countOutcomes(events: readonly Event[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, task_id, item, sub_pipeline, within, phase } of events) {
    if (kind !== 'finish' && kind !== 'fail' && (kind !== 'item' || phase === 'start')) continue;
    const name = JSON.stringify([kind, task_id, item, sub_pipeline, within, phase]);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

export function countFaults(figures: Figures): number {
  const { kills: _, runs, calls, calls_repeated, given_up, lists, ...faults } = figures;
  return Object.values(faults).reduce((sum, count) => sum + count, 0);
}
