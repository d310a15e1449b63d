import { expect } from 'chai';
import fc from 'fast-check';
import { TaskPools } from '../../../../lib/common/scheduling/task-pools.js';
import { LocalExecutor } from '../../../../lib/execution/local-executor.js';
import { parsePipeline } from '../../../../lib/pipelines/load.js';
import { ControlledTool, type PendingCall } from '../../../support/controlled-tool.js';
import { settle } from '../../../support/deferred.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { cases } from '../../../support/measuring/cases.js';

interface Submitted {
  readonly tenant: string;
  readonly items: number;
  readonly concurrency: number | null;
}

const runs = fc.array(
  fc.record<Submitted>({
    tenant: fc.constantFrom('a', 'b', 'c'),
    items: fc.integer({ min: 1, max: 6 }),
    concurrency: fc.constantFrom(null, 1, 2),
  }),
  { minLength: 1, maxLength: 6 },
);

/** The next step of the spec: ends a call at work, cancels a run, or submits the next one. */
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('return', 'return', 'fail', 'cancel', 'force', 'submit'),
    which: fc.nat({ max: 100 }),
  }),
  { maxLength: 30 },
);

/** Runs of several tenants that share one pool, with a tool that the spec holds by hand. */
class PooledProcess {
  readonly pools: TaskPools;
  readonly atWork: PendingCall[] = [];
  readonly #controlled = new ControlledTool();
  readonly #executor: LocalExecutor;
  readonly #clock = new ManualClock();
  readonly #ids: string[] = [];
  readonly #places: number;
  #seen = 0;

  constructor(places: number) {
    this.#places = places;
    this.pools = new TaskPools(new Map([['erp', places]]));
    this.#executor = new LocalExecutor({ clock: this.#clock, pools: this.pools });
  }

  async submit({ tenant, items, concurrency }: Submitted): Promise<void> {
    const fanOut = `parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}, fan_out_concurrency: ${concurrency}`;
    const text = `{id: p, goal: g, tasks: [{id: f, tool: controlled, pool: erp, on_item_error: collect, retry: 1, ${fanOut}}]}`;
    const inputs = { list: Array.from({ length: items }, (_, index) => index) };
    const pipeline = parsePipeline(text, { tools: [this.#controlled.tool], inputs });
    const run = this.#executor.createRun({ pipeline, inputs, tenant_id: tenant });
    void run.begin();
    this.#ids.push(run.id);
    await this.look();
  }

  /** Lets everything happen that can, and expects that no place is taken twice and none is free while somebody waits. */
  async look(): Promise<void> {
    await settle();
    this.atWork.push(...this.#controlled.calls.slice(this.#seen));
    this.#seen = this.#controlled.calls.length;
    const { inUse = 0, waiting = 0 } = this.pools.get('erp') ?? {};
    const aborted = this.atWork.filter(({ context }) => context.signal.aborted);
    for (const call of aborted) this.atWork.splice(this.atWork.indexOf(call), 1);
    expect(inUse).to.equal(this.atWork.length);
    expect(inUse).to.be.at.most(this.#places);
    if (waiting > 0) expect(inUse).to.equal(this.#places);
  }

  async end(which: number, fails: boolean): Promise<void> {
    const [call] = this.atWork.splice(which % Math.max(1, this.atWork.length), 1);
    if (fails) call?.reject(new Error('no'));
    else call?.resolve(1);
    await this.look();
  }

  async cancel(which: number, force: boolean): Promise<void> {
    const id = this.#ids[which % Math.max(1, this.#ids.length)];
    // One that has ended, or is cancelled already, rejects.
    if (id !== undefined) await this.#executor.cancel(id, { force }).catch(() => undefined);
    await this.look();
  }

  /** Ends all calls as they come, until every run has settled. */
  async finish(): Promise<void> {
    const isSettled = (id: string): boolean => this.#executor.getRun(id).isSettled;
    for (let turn = 0; !this.#ids.every(isSettled); turn++) {
      expect(turn, 'a call waits for ever').to.be.lessThan(500);
      this.#clock.advance(60_000);
      await this.look();
      await this.end(0, false);
    }
  }
}

describe('A pool, whatever its calls do (D81)', () => {
  it('has never more calls at work than places, leaves no place free while one waits, and gives everybody a place', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), runs, steps, async (places, submitted, taken) => {
        const process = new PooledProcess(places);
        const left = [...submitted];
        for (const { kind, which } of taken) {
          const next = kind === 'submit' ? left.shift() : undefined;
          if (next !== undefined) await process.submit(next);
          else if (kind === 'cancel' || kind === 'force') await process.cancel(which, kind === 'force');
          else await process.end(which, kind === 'fail');
        }
        for (const next of left) await process.submit(next);
        await process.finish();
        const { inUse, waiting } = process.pools.get('erp') ?? {};
        expect([inUse, waiting]).to.deep.equal([0, 0]);
      }),
      cases(100),
    );
  });

  it('serves tenants in turn: while two wait, neither gets two places more than the other', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 4, max: 12 }),
        fc.integer({ min: 4, max: 12 }),
        async (places, ofA, ofB) => {
          const process = new PooledProcess(places);
          const order: string[] = [];
          await process.submit({ tenant: 'a', items: ofA, concurrency: null });
          await process.submit({ tenant: 'b', items: ofB, concurrency: null });
          const [isA, isB] = [new Set(process.atWork), new Set<PendingCall>()];
          while (process.atWork.length > 0) {
            await process.end(0, false);
            for (const call of process.atWork) {
              if (isA.has(call) || isB.has(call)) continue;
              isB.add(call);
              order.push(call.context.tenant_id);
            }
          }
          const together = 2 * Math.min(ofA - places, ofB);
          for (let at = 0; at + 1 < together; at += 2) {
            expect(order.slice(at, at + 2).toSorted()).to.deep.equal(['a', 'b']);
          }
          expect(order).to.have.length(ofA - places + ofB);
        },
      ),
      cases(50),
    );
  });
});
