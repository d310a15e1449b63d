import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryPool } from '../../../lib/common/memory/memory-pool.js';
import { measureEvent } from '../../../lib/execution/events/journal.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { Pipeline } from '../../../lib/pipelines/pipeline.js';
import { type RunRecord } from '../../../lib/runs/record.js';
import { settle } from '../../support/deferred.js';
import { parsePlan, planText, subPipelineText } from '../../support/definitions/parse-plan.js';
import { MIB, PooledRuns } from './pooled-runs.js';
import { cases } from '../../support/measuring/cases.js';

const NESTED = '{id: n, goal: g, tasks: [{id: x, tool: controlled}, {id: y, tool: mock, await: [x]}]}';

/** Pipelines with everything that takes memory: texts, fan-outs, retries, timeouts, writes, nested runs. */
const DEFINITIONS = [
  '{id: a, tool: controlled, inputs: {v: "<{{pipeline.inputs.text}}>"}}, {id: b, tool: controlled, await: [a], inputs: {v: "!{{a.output}}"}}',
  '{id: a, tool: controlled, retry: 2, timeout: 3, parallel_over: "{{pipeline.inputs.items}}", inputs: {v: "{{item}} {{pipeline.inputs.text}}"}}, {id: b, tool: mock, await: [a], inputs: {v: "{{a.output}}"}}',
  '{id: a, tool: store, inputs: {key: k, value: "{{pipeline.inputs.text}}", append: true}}, {id: b, tool: controlled, retry: 1, await: [a], inputs: {v: "{{session.k}}"}}',
  `{id: a, tool: run_pipeline, retry: 1, timeout: 5, parallel_over: "{{pipeline.inputs.items}}", inputs: {session: {k: "{{item}}"}, pipeline: ${NESTED}}}`,
  '{id: a, tool: controlled, inputs: {v: "{{pipeline.inputs.missing}}"}}, {id: b, tool: controlled}',
].map((tasks) => `{id: p, goal: g, inputs: {items: [], text: "", missing: []}, tasks: [${tasks}]}`);

const ACT = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('submit' as const), which: fc.nat(5), size: fc.nat(20_000) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('return' as const), at: fc.nat(99), size: fc.nat(40_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('fail' as const), at: fc.nat(99), size: fc.nat(9000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('write' as const), at: fc.nat(99), size: fc.nat(40_000) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(6000) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('cancel', 'force', 'forget', 'rerun', 'read'),
      at: fc.nat(99),
    }),
  },
);

type Act = typeof ACT extends fc.Arbitrary<infer A> ? A : never;

/** A pool that fails the spec when more is returned than was taken. */
class StrictPool extends MemoryPool {
  override release(tenantId: string, bytes: number): void {
    expect(bytes).to.be.at.least(0).and.at.most(this.usedBy(tenantId));
    super.release(tenantId, bytes);
  }
}

class RandomRuns extends PooledRuns {
  readonly runIds: string[] = [];
  readonly releases: (() => void)[] = [];
  readonly #pipelines: readonly Pipeline[];
  readonly #plan;

  constructor(total: number) {
    const limit = { total, guaranteed: total / 4 };
    super(limit, new StrictPool(limit));
    const tools = [this.controlled.tool];
    this.#pipelines = DEFINITIONS.map((text) => parsePipeline(text, { tools }));
    const subPipelines = ['a', 'b'].map((id) => subPipelineText(id, '{id: t, tool: controlled, retry: 1}'));
    this.#plan = parsePlan(planText(subPipelines), { tools });
  }

  async perform(act: Act): Promise<void> {
    switch (act.kind) {
      case 'submit':
        return this.#submit(act.which, act.size);
      case 'return':
        return this.#pick(this.controlled.calls, act.at)?.resolve('r'.repeat(act.size));
      case 'fail':
        return this.#pick(this.controlled.calls, act.at)?.reject(new Error('e'.repeat(act.size)));
      case 'write': {
        const call = this.#pick(this.controlled.calls, act.at);
        try {
          call?.context.blackboard.write(`k${act.at % 3}`, 'w'.repeat(act.size), act.at % 2 === 0);
        } catch (error) {
          call?.reject(error);
        }
        return;
      }
      case 'wait':
        this.clock.advance(act.ms);
        return;
      default:
        return this.#change(act.kind, act.at);
    }
  }

  async #submit(which: number, size: number): Promise<void> {
    const tenant_id = which % 2 === 0 ? 'alice' : 'bob';
    const inputs = { items: Array.from({ length: size % 7 }, (_, n) => n), text: 't'.repeat(size) };
    const pipeline = this.#pipelines[which];
    const submitted =
      pipeline === undefined
        ? this.registry.submitPlan({ plan: this.#plan, tenant_id })
        : this.registry.submit({ pipeline, inputs, tenant_id, collect_events: size % 2 === 0 });
    await submitted.then(
      (runId) => this.runIds.push(runId),
      (error: unknown) => expect(error).to.include({ code: 'queue_full' }),
    );
  }

  async #change(kind: string, at: number): Promise<void> {
    const runId = this.#pick(this.runIds, at);
    if (runId === undefined) return;
    try {
      if (kind === 'cancel' || kind === 'force')
        await this.registry.cancel(runId, { force: kind === 'force' });
      else if (kind === 'forget') this.registry.forget(runId);
      else if (kind === 'rerun') this.runIds.push(await this.registry.rerun(runId, { from: 'failed' }));
      else {
        const release = this.registry.queries.retain(runId);
        if (release) this.releases.push(release);
      }
    } catch (error) {
      expect(error).to.have.property('code');
    }
  }

  #pick<T>(from: readonly T[], at: number): T | undefined {
    return from[at % Math.max(1, from.length)];
  }

  /** The length of the texts in all records that can be read, which is less than what their runs take. */
  get keptLength(): number {
    const { runs } = this.registry.list({ limit: 1000 });
    return runs.reduce((sum, { run_id }) => sum + textLength(this.registry.record(run_id)), 0);
  }
}

/** Each text counts once: a record repeats the error of a failure in its events. */
function textLength({ result, failures }: RunRecord): number {
  return JSON.stringify([result?.outputs ?? result?.sub_results ?? null, failures.map(({ error }) => error)])
    .length;
}

/** The longest message that a run keeps of an error. */
const MAX_ERROR_LENGTH = 4_100;

/** The bytes that a run of one pipeline keeps once it has settled, without its events, and the length of what its calls gave. */
async function keptByRun(which: number, acts: readonly Act[]) {
  const runs = new RandomRuns(64 * MIB);
  let returned = 0;
  let errors = 0;
  await runs.perform({ kind: 'submit', which, size: 500 });
  // However busy the machine is: a run that is cancelled before its pipelines are compiled keeps less.
  while (runs.controlled.calls.length === 0) await settle(1);
  for (const act of acts) {
    // Larger than everything that the run keeps for itself.
    await runs.perform('size' in act ? { ...act, size: 20 * act.size } : act);
    // No record shows what was written; a failed attempt keeps nothing of it.
    if (act.kind === 'write') await runs.perform({ ...act, kind: 'fail', size: 1 });
    if (act.kind === 'return') returned += 20 * act.size;
    if (act.kind === 'fail') errors += Math.min(20 * act.size, MAX_ERROR_LENGTH);
    await settle(1);
  }
  const [runId = ''] = runs.runIds;
  await runs.registry.cancel(runId, { force: true }).catch(() => undefined);
  await settle(3);
  expect(runs.registry.record(runId).settled).to.equal(true);
  const { events } = runs.registry.queries.events(runId).readAfter(0, 10_000);
  const eventBytes = events.reduce((sum, event) => sum + measureEvent(event), 0);
  return { bytes: runs.memory.usedBytes - eventBytes, returned, errors, keptLength: runs.keptLength };
}

describe('The memory of any runs (D25, D26)', () => {
  it('is at least what they keep, never exceeds twice the limit, and is all free when they are forgotten', async () => {
    const properties = fc.record({
      total: fc.integer({ min: 60_000, max: 600_000 }),
      acts: fc.array(ACT, { maxLength: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(properties, async ({ total, acts }) => {
        const runs = new RandomRuns(total);
        for (const act of acts) {
          await runs.perform(act);
          await settle(1);
          expect(runs.memory.usedBytes)
            .to.be.at.least(runs.keptLength - 1000)
            .and.at.most(2 * total);
        }
        for (const runId of runs.runIds) runs.registry.forget(runId);
        for (const release of runs.releases) release();
        await settle(2);
        for (const call of runs.controlled.calls) call.resolve('late');
        runs.clock.advance(100_000);
        await settle(2);
        expect([runs.memory.usedBytes, runs.memory.usedBy('alice'), runs.memory.usedBy('bob')]).to.eql([
          0, 0, 0,
        ]);
      }),
      cases(150),
    );
  });

  it('is only what a run keeps once it has settled, however its attempts ended', async () => {
    const acts = fc.array(
      ACT.filter(({ kind }) => kind !== 'submit' && kind !== 'rerun' && kind !== 'forget'),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(5), acts, async (which, all) => {
        const { bytes: untouched } = await keptByRun(which, []);
        const { bytes, returned, errors, keptLength } = await keptByRun(which, all);
        // A failed run keeps the outputs of its succeeded tasks, for a rerun, and a nested run its own error; no record
        // of the run shows either.
        expect(bytes).to.be.below(untouched + 10_000 + 2 * (returned + errors + keptLength));
      }),
      cases(150),
    );
  });
});
