import { expect } from 'chai';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import type { PipelineRun } from '../../../lib/execution/run/pipeline-run.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { Pipeline } from '../../../lib/pipelines/pipeline.js';
import { toRunRecord } from '../../../lib/runs/record.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { ControlledTool, type PendingCall } from '../../support/controlled-tool.js';
import { settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';

const INNER = `{id: inner, goal: g, tasks: [
  {id: a, tool: controlled, retry: 2}, {id: b, tool: controlled, await: [a]}]}`;

/** Each shape runs INNER inside its task; the task has a time limit of a second. */
const SHAPES: Readonly<Record<string, string>> = {
  'in a task': task('run_pipeline', INNER),
  'in a task of a pipeline in a task': task('run_pipeline', pipelineOf(task('run_pipeline', INNER))),
  'in items of a fan-out': task(
    'run_pipeline',
    INNER,
    ', parallel_over: "{{pipeline.inputs.list}}"',
    ', inputs: {i: "{{item}}"}',
  ),
  'in a tool that does not wait for it': task('hasty', INNER),
  'in a tool that runs it again and again': task('stubborn', INNER),
};

function task(tool: string, pipeline: string, fields = '', inputs = ''): string {
  return `{id: call, tool: ${tool}, timeout: 1${fields}, inputs: {pipeline: ${pipeline}${inputs}}}`;
}

function pipelineOf(tasks: string): string {
  return `{id: outer, goal: g, inputs: {list: [1, 2]}, tasks: [${tasks}]}`;
}

const input = { pipeline: { description: 'to run', verbatim: true, required: true } } as const;

const hasty = defineTool({
  name: 'hasty',
  description: 'does not wait for what it runs',
  inputs: input,
  run: ({ pipeline }, { runPipeline }) => {
    void runPipeline({ pipeline });
    void Promise.resolve().then(() => void runPipeline({ pipeline }));
  },
});

const stubborn = defineTool({
  name: 'stubborn',
  description: 'runs a pipeline until it was refused four times',
  inputs: input,
  run: async ({ pipeline }, { runPipeline, log }) => {
    for (let refusals = 0; refusals < 4; refusals++) {
      await runPipeline({ pipeline }).catch((error: unknown) => log(String(error)));
    }
  },
});

/** Ways to end a run; each waits for the microtask of the case before it acts. */
const ENDS: Readonly<Record<string, (run: PipelineRun, clock: ManualClock) => void>> = {
  'a forced cancel': (run) => run.cancel(true),
  'a cancel': (run) => run.cancel(false),
  'a cancel, then force': (run) => {
    run.cancel(false);
    run.cancel(true);
  },
  'force and a timeout at once': (run, clock) => {
    run.cancel(true);
    clock.advance(1000);
  },
  'a timeout and force at once': (run, clock) => {
    clock.advance(1000);
    run.cancel(true);
  },
  'a timeout and a cancel at once': (run, clock) => {
    clock.advance(1000);
    run.cancel(false);
  },
};

/** Of the first microtasks of a run; a nested run begins within them. */
const MICROTASKS = 24;
const TERMINAL = ['succeeded', 'failed', 'cancelled'];

/** One run of the model: everything that it does before and after it has settled. */
class ModelRun {
  readonly clock = new ManualClock();
  readonly controlled: ControlledTool;
  readonly events: LiveEvent[] = [];
  readonly run: PipelineRun;
  /** Tool calls that have returned or failed; only the others can be aborted. */
  readonly #answered = new Set<PendingCall>();

  constructor(pipeline: Pipeline, controlled: ControlledTool) {
    this.controlled = controlled;
    controlled.calls.length = 0;
    const executor = new LocalExecutor({ clock: this.clock, random: () => 0.5 });
    this.run = executor.createRun({ pipeline, collect_events: true });
    this.run.journal.subscribe((event) => void this.events.push(event));
    void this.run.begin();
  }

  /** Lets time pass and every tool return until the run has settled. */
  async drain(): Promise<void> {
    for (let ticks = 0; !this.run.isSettled; ticks++) {
      if (ticks > 1000) throw new Error('the run does not settle');
      for (const call of this.controlled.calls) this.answer(call, true);
      this.clock.advance(100);
      await settle(1);
    }
  }

  answer(call: PendingCall | undefined, succeeds: boolean): void {
    if (call === undefined) return;
    this.#answered.add(call);
    if (succeeds) call.resolve('done');
    else call.reject(new Error('no luck'));
  }

  /** The tool calls that neither returned nor were told to stop. */
  get abandoned(): readonly PendingCall[] {
    return this.controlled.calls.filter((call) => !this.#answered.has(call) && !call.context.signal.aborted);
  }

  /** Does whatever tools may still do after their run: log, write, run a pipeline, return or fail. */
  async disturb(): Promise<void> {
    for (const [position, call] of this.controlled.calls.entries()) {
      const { log, blackboard, runPipeline } = call.context;
      log('still here');
      blackboard.write('key', 'value');
      if (position === 0) void runPipeline({ pipeline: INNER });
      this.answer(call, position % 2 === 0);
    }
    this.clock.advance(60_000);
    await settle(2);
  }

  /** Returns what must not change any more. */
  get seen(): unknown {
    const { controlled, events, run } = this;
    return { record: toRunRecord(run), calls: controlled.calls.length, events: events.length };
  }
}

describe('Cancelling a run while its tasks begin nested runs (D21, D49)', () => {
  const controlled = new ControlledTool();
  const { stackTraceLimit } = Error;
  let cases = 0;

  // Of some ten thousand errors that nobody prints, the stacks would take a third of the time.
  before(() => {
    Error.stackTraceLimit = 0;
  });

  for (const [shape, tasks] of Object.entries(SHAPES)) {
    it(`ends what runs ${shape}, at every microtask and in every way`, async () => {
      const pipeline = parsePipeline(pipelineOf(tasks), { tools: [controlled.tool, hasty, stubborn] });
      for (const [how, end] of Object.entries(ENDS)) {
        for (let microtask = 0; microtask < MICROTASKS; microtask++) {
          for (let answered = 0; answered < 14; answered++) {
            await check(pipeline, `${how} after ${microtask} microtasks, ${answered}`, async (model) => {
              for (let passed = 0; passed < microtask; passed++) {
                // In some cases, the first tools return or fail while nested runs begin.
                if (passed === answered) model.answer(controlled.calls[0], passed % 2 === 0);
                await Promise.resolve();
              }
              end(model.run, model.clock);
            });
          }
        }
      }
    });
  }

  async function check(
    pipeline: Pipeline,
    title: string,
    end: (model: ModelRun) => Promise<void>,
  ): Promise<void> {
    cases++;
    const model = new ModelRun(pipeline, controlled);
    await end(model);
    await model.drain();
    const { run, events } = model;
    const seen = model.seen;
    expect(model.abandoned, title).to.deep.equal([]);
    await model.disturb();
    expect(model.seen, title).to.deep.equal(seen);
    const statuses = events.flatMap((event) => (event.kind === 'run' ? event.status : []));
    expect(statuses.filter((status) => TERMINAL.includes(status))).to.deep.equal([run.status]);
    expect(model.clock.pending, title).to.equal(0);
  }

  after(() => {
    Error.stackTraceLimit = stackTraceLimit;
    expect(cases).to.be.at.least(10_000);
  });
});
