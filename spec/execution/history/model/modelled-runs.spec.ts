import { config, expect } from 'chai';
import * as fc from 'fast-check';
import type { JsonObject } from '../../../../lib/common/json/json.js';
import { runToEnd } from '../../../../lib/common/scheduling/steps.js';
import type { LiveEvent } from '../../../../lib/execution/events/event.js';
import type { Fact } from '../../../../lib/execution/history/fact.js';
import { LocalExecutor } from '../../../../lib/execution/local-executor.js';
import type { ReadableRun } from '../../../../lib/execution/run/readable-run.js';
import { toRunRecord, toRunSummary } from '../../../../lib/runs/record.js';
import { listTasks } from '../../../../lib/runs/tasks/task-pages.js';
import { cases } from '../../../support/measuring/cases.js';
import { holdSlices } from '../../../support/slices.js';
import { describeRun, expectNoGap, KeptTestRun, type ScriptedCall } from '../kept-runs.js';
import { anyScenario, type ModelScenario, toDefinition } from './random-pipelines.js';
import {
  MISSING,
  type ModelFailure,
  type ModelState,
  nameOf,
  type Prediction,
  predictRun,
} from './run-model.js';

/** Runs the pipeline of a scenario to its end, and cancels it at its moment unless a process before has. */
async function play({ tasks, cancel }: ModelScenario, facts: readonly Fact[] = []): Promise<KeptTestRun> {
  const { head, tasks: definition } = toDefinition(tasks);
  const kept = new KeptTestRun(definition, facts, [], { head });
  let isDue = cancel !== undefined && facts.every(({ kind }) => kind !== 'cancel');
  const cancelNow = (): void => {
    isDue = false;
    kept.run.cancel(cancel?.force === true);
  };
  if (isDue && cancel?.during === undefined) cancelNow();
  await kept.runToEnd(() => {
    const isAtWork = kept.calls.some(({ key }) => key.startsWith(`${cancel?.during}[`));
    if (isDue && isAtWork) cancelNow();
  });
  return kept;
}

/** Lists what is left of the facts of a run after each crash, and the run that goes on from there. */
async function* crash(scenario: ModelScenario, first: KeptTestRun): AsyncGenerator<[string, KeptTestRun]> {
  let run = first;
  let where = '';
  for (const moment of scenario.crashes) {
    const { commits, facts } = run.log;
    const length = commits[moment % commits.length] ?? facts.length;
    where += `, after ${length} of ${facts.length} facts`;
    run = await play(scenario, facts.slice(0, length));
    yield [where, run];
  }
}

const TASK_STATES: Readonly<Record<string, ModelState>> = {
  finish: 'succeeded',
  fail: 'failed',
  skip: 'skipped',
};

/** Puts one text in the place of all those about missing values, which begin with the template. */
function toKnownError(error: string): string {
  return error.startsWith('{{') ? MISSING : error;
}

function toModelFailures(failures: readonly ModelFailure[]): ModelFailure[] {
  return failures.map((failure) => ({ ...failure, error: toKnownError(failure.error) }));
}

/** Reduces a run to the parts of its record, of its events and of the order of its tasks that the model predicts. */
function observe(
  { record, events }: KeptTestRun,
  { tasks }: ModelScenario,
): Omit<Prediction, 'calls' | 'waves'> {
  const { status, error, failed_task: failed, result, failures, skipped = [], progress } = record;
  const { handlers, handler_failures: handlerFailures } = record;
  const states = new Map<string, ModelState>(tasks.map(({ id }) => [id, 'not reached']));
  for (const event of events) {
    const state = TASK_STATES[event.kind];
    if (state !== undefined && 'task_id' in event) states.set(event.task_id, state);
  }
  return {
    status: status as Prediction['status'],
    error: error === null ? null : toKnownError(error),
    failedTask: failed === null ? null : nameOf(failed.task_id, failed.item),
    states: Object.fromEntries(states),
    outputs: result?.outputs ?? null,
    handlers,
    failures: toModelFailures(failures),
    handlerFailures: handlerFailures && toModelFailures(handlerFailures),
    skipped: skipped.map(({ task_id: id }) => id ?? ''),
    progress,
  };
}

/** The inputs of a call that the model knows, by the name of the call. */
function toModelCall({ key, attempt, inputs }: ScriptedCall): [string, JsonObject] {
  const { ms: _ms, fails: _fails, value: _value, ...known } = inputs;
  const texts = Object.entries(known).map(([name, value]) =>
    typeof value === 'string' ? [name, toKnownError(value)] : [name, value],
  );
  return [`${key.replace('[null]', '')}#${attempt}`, Object.fromEntries(texts) as JsonObject];
}

/** Fails unless each wave begins when all of the one before has ended, with all of its tasks and no other (rule 2, D80). */
function expectWaveByWave(events: readonly LiveEvent[], { waves, status }: Prediction): void {
  const ran = events.filter((event) => event.kind in TASK_STATES || event.kind === 'start');
  const places = ran.map((event) => ('wave' in event ? event.wave : undefined));
  const numbers = waves.map(({ wave }) => wave);
  expect([...new Set(places)], 'the waves').to.deep.equal(numbers);
  expect(places, 'the order of the waves').to.deep.equal(
    places.toSorted((a, b) => numbers.indexOf(a ?? -1) - numbers.indexOf(b ?? -1)),
  );
  for (const { wave, list, ids } of waves) {
    const own = ran.filter((event) => 'wave' in event && event.wave === wave);
    const kinds = (id: string): string =>
      own.flatMap((event) => ('task_id' in event && event.task_id === id ? [event.kind] : [])).join(' ');
    for (const id of ids) expect(kinds(id), id).to.match(/^(start (finish|fail)|skip)$/);
    const begins = own.filter(({ kind }) => kind === 'start' || kind === 'skip');
    expect(begins.map((event) => ('task_id' in event ? event.task_id : ''))).to.deep.equal(ids);
    const lists = own.map((event) => ('handler' in event ? event.handler : undefined) ?? 'tasks');
    expect([...new Set(lists)]).to.deep.equal([list]);
  }
  const end = events.findIndex((event) => event.kind === 'run' && event.status === status);
  const handlers = events.flatMap((event, at) =>
    'handler' in event && event.handler !== undefined ? [at] : [],
  );
  for (const at of handlers) expect(at, 'the first handler').to.be.greaterThan(end);
}

/** Returns the record and the tasks of a run as JSON text. */
function show(run: ReadableRun): string {
  const { tasks } = runToEnd(listTasks(run, { limit: 100 }, () => undefined));
  return JSON.stringify({ record: toRunRecord(run), tasks }, null, 1);
}

async function expectFoldsAlike({ run, log, clock }: KeptTestRun): Promise<void> {
  const past = { summary: toRunSummary(run), facts: log.facts };
  const folded = await new LocalExecutor({ clock }).foldPart(run.prepared, past);
  expect(show(folded)).to.equal(show(run));
}

describe('A run of a random pipeline with conditions, tolerated failures and handlers', () => {
  const { truncateThreshold } = config;

  // A cancel by force lets nothing begin that waits for the next slice.
  beforeEach(holdSlices);

  // The message of a property has no diff.
  before(() => {
    config.truncateThreshold = 0;
  });

  after(() => {
    config.truncateThreshold = truncateThreshold;
  });

  it('ends as a model of the reference predicts, after crashes at any commits, too, and as its facts show (D77 to D80)', async () => {
    await fc.assert(
      fc.asyncProperty(anyScenario, async (scenario) => {
        const prediction = predictRun(scenario.tasks, scenario.cancel);
        const { calls, waves: _, ...expected } = prediction;
        const undisturbed = await play(scenario);
        expect(observe(undisturbed, scenario)).to.deep.equal(expected);
        expect(Object.fromEntries(undisturbed.calls.map(toModelCall))).to.deep.equal(calls);
        expect(undisturbed.calls).to.have.length(Object.keys(calls).length);
        expectWaveByWave(undisturbed.events, prediction);
        await expectFoldsAlike(undisturbed);
        for await (const [where, rebuilt] of crash(scenario, undisturbed)) {
          expect(observe(rebuilt, scenario), where).to.deep.equal(expected);
          expect(describeRun(rebuilt), where).to.deep.equal(describeRun(undisturbed));
          expect(calls, where).to.deep.include(Object.fromEntries(rebuilt.calls.map(toModelCall)));
          expectWaveByWave(rebuilt.events, prediction);
          expectNoGap(rebuilt);
          await expectFoldsAlike(rebuilt);
        }
      }),
      cases(400),
    );
  });
});
