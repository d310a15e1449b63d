import { expect } from 'chai';
import type { InspectionEntry } from '../../../lib/runs/inspection/entry.js';
import type { OpenInspection } from '../../../lib/runs/inspection/inspection.js';
import type { SubmissionOptions } from '../../../lib/runs/registry-options.js';
import { DESCRIPTIONS } from '../../../scripts/statecharts/statecharts.js';
import { lightChart } from '../../../web/inspect/model/chart-state.js';
import { RunTimeline } from '../../../web/inspect/model/timeline.js';
import type { Statechart } from '../../../lib/runs/inspection/statechart.js';
import { parsePlan, planText, subPipelineText } from '../../support/definitions/parse-plan.js';
import { holdSlices } from '../../support/slices.js';
import { ControlledRuns } from '../controlled-runs.js';
import { entriesOf } from './inspections.js';

const TASKS = `tasks: [{id: a, tool: controlled}, {id: b, tool: controlled, await: [a]},
  {id: each, tool: controlled, await: [b], parallel_over: "{{pipeline.inputs.list}}", inputs: {n: "{{item}}"}}]`;
const RUN = `{id: held, goal: be held, inputs: {list: [1, 2]}, ${TASKS}}`;

const EDGES = new Map(DESCRIPTIONS.flatMap(({ transitions }) => transitions.map((edge) => [edge.id, edge])));

/** Completes every call, those that fail by their task. */
async function finish(runs: ControlledRuns, runId: string, failing: readonly string[] = []): Promise<void> {
  let handled = 0;
  while (!runs.registry.record(runId).finished_at) {
    for (const call of runs.controlled.calls.slice(handled)) {
      handled++;
      if (failing.includes(call.context.task_id)) call.reject(new Error('no luck'));
      else call.resolve(1);
    }
    if (runs.registry.record(runId).paused) runs.registry.resume(runId, 'step');
    await runs.waitUntilIdle();
  }
}

async function record(options: object, failing: readonly string[] = []): Promise<InspectionEntry[]> {
  const runs = new ControlledRuns({}, RUN);
  const opened: OpenInspection[] = [];
  const submission: SubmissionOptions = { onInspection: (inspection) => void opened.push(inspection) };
  const runId = await runs.registry.submit({ pipeline: runs.pipeline, ...options }, submission);
  await runs.waitUntilIdle();
  await finish(runs, runId, failing);
  const [inspection] = opened;
  if (inspection === undefined) throw new Error('the run is not recorded');
  return entriesOf(inspection.log);
}

/** Checks that every transition is in the drawings, and leads from where the actor was to where it is. */
function expectDrawn(entries: readonly InspectionEntry[]): void {
  for (const { seq, actor, src, event, from, state, transition } of entries) {
    const what = `${seq} ${actor} ${event}: ${from} > ${state}`;
    if (event === '@attached') expect(transition, what).to.equal(null);
    else {
      const edge = EDGES.get(transition ?? '');
      if (edge === undefined) throw new Error(`${what} has the transition ${transition}`);
      expect(edge.to, what).to.equal(`${src}.${state}`);
      if (event !== '@created') expect(edge.from, what).to.equal(`${src}.${from}`);
      if (event !== '@created') expect(event.startsWith(edge.event.replace(/\*$/, '')), what).to.equal(true);
    }
  }
}

const labelsOf = (entries: readonly InspectionEntry[], actor: string): (string | undefined)[] =>
  entries.flatMap((entry) => (entry.actor === actor ? [EDGES.get(entry.transition ?? '')?.label] : []));

describe('The transition of an inspection entry (D35)', () => {
  beforeEach(holdSlices);

  it('is that of the machine whose guard held, also where several lead between the same states', async () => {
    const entries = await record({ breakpoints: { before: ['a', 'b'], on_failure: true } }, ['each']);
    expectDrawn(entries.filter(({ event }) => event !== 'xstate.stop'));
    expect(labelsOf(entries, 'run')).to.deep.equal([
      undefined,
      'begin [pausesBeforeWave]',
      'step / runOneWave, beginWave',
      'wave.settled [pausesBeforeWave] / storeWaveOutcome',
      'step / runOneWave, beginWave',
      'wave.settled [pausesBeforeWave] / storeWaveOutcome',
      'step / runOneWave, beginWave',
      'wave.settled [pausesOnFailure] / storeWaveOutcome',
      'step [hasFailedTask]',
    ]);
  });

  it('is that of the hand-written logics, whose events stand for many', async () => {
    const entries = await record({}, []);
    expectDrawn(entries);
    expect(labelsOf(entries, 'run/wave/each')).to.deep.equal([
      '[it has items]',
      'done(fan-out)',
      'task.settled [ok]',
    ]);
    expect(labelsOf(entries, 'run/wave').slice(1, 3)).to.deep.equal([
      'wave.begin [all tasks have started]',
      'done(any) [no task is left]',
    ]);
  });

  it('is that of the machines of a plan and of its sub-runs', async () => {
    const runs = new ControlledRuns();
    const plan = parsePlan(planText([subPipelineText('extract', '{id: a, tool: controlled}')]), {
      tools: [runs.controlled.tool],
    });
    const opened: OpenInspection[] = [];
    const onInspection = (inspection: OpenInspection): void => void opened.push(inspection);
    const runId = await runs.registry.submitPlan({ plan }, { onInspection });
    await runs.waitUntilIdle();
    await runs.complete(runId);
    const entries = opened.flatMap(({ log }) => entriesOf(log));
    expectDrawn(entries);
    expect(labelsOf(entries, 'plan').at(-1)).to.equal('sub-runs.settled [allSucceeded]');
    expect(labelsOf(entries, 'plan/sub-runs/extract')[0]).to.equal('');
  });

  it('is also that of entries that are made of events, where only one is possible', async () => {
    const runs = new ControlledRuns({ eventBuffer: 1000 }, RUN);
    const runId = await runs.submit();
    await finish(runs, runId, ['each']);
    const { log, origin } = await runs.registry.queries.inspection(runId);
    expect(origin).to.equal('events');
    const entries = entriesOf(log);
    expect(labelsOf(entries, 'run/wave/each')).to.deep.equal(['[it has items]', 'task.settled [not ok]']);
    expect(labelsOf(entries, 'run/wave').slice(1, 3)).to.deep.equal([
      'wave.report',
      'wave.begin [all tasks have started]',
    ]);
    expect(entries.find(({ event }) => event === 'wave.settled')).to.include({ transition: null });
  });
});

describe('The drawing of the inspector', () => {
  const [chart] = DESCRIPTIONS.filter(({ id }) => id === 'run').map(
    ({ id, title, states, transitions }): Statechart => ({
      id,
      title,
      width: 0,
      height: 0,
      nodes: states.map((state) => ({ ...state, x: 0, y: 0, width: 0, height: 0 })),
      edges: transitions.map((edge) => ({ ...edge, points: [], labelBox: null })),
    }),
  );

  const light = (transition: string | undefined): string[] => {
    const timeline = new RunTimeline(() => {});
    const fields = { actor: 'run', src: 'run', event: 'wave.settled', from: 'running', state: 'paused' };
    timeline.add(
      JSON.stringify({ seq: 1, time: '2026-01-01T00:00:00.000Z', status: 'active', ...fields, transition }),
    );
    if (chart === undefined) throw new Error('there is no chart');
    return lightChart(chart, timeline.entries[0]).edges.map(({ label }) => label);
  };

  it('lights exactly the edge that was taken', () => {
    expect(light('run.running:wave.settled:5')).to.deep.equal([
      'wave.settled [pausesBeforeWave] / storeWaveOutcome',
    ]);
  });

  it('lights those that are possible when the entry does not say, as in older recordings', () => {
    const both = [
      'wave.settled [pausesOnFailure] / storeWaveOutcome',
      'wave.settled [pausesBeforeWave] / storeWaveOutcome',
    ];
    expect(light(undefined)).to.deep.equal(both);
    expect(light('run.gone:wave.settled:0')).to.deep.equal(both);
  });
});
