import { expect } from 'chai';
import fc from 'fast-check';
import type { AdmissionLimits } from '../../../lib/runs/queue/admission.js';
import { ControlledRuns } from '../controlled-runs.js';
import { cases } from '../../support/measuring/cases.js';

const SERVER: AdmissionLimits = { maxRunning: 64, maxQueued: 10_000, tenantShare: 10 };

/** Runs that pause before their only task, and runs that do not. */
class PausingRuns extends ControlledRuns {
  isPaused(runId: string): boolean {
    return this.registry.record(runId).paused;
  }

  queueOf(...tenants: string[]): unknown {
    return this.registry.list({ limit: 1, counts: true, tenants }).queue;
  }
}

describe('Runs with breakpoints in the queue (D42, D25)', () => {
  it('have half of the slots: a run without any of their tenant starts at once, behind 300 of them', async () => {
    const runs = new PausingRuns({ admission: SERVER });
    for (let count = 0; count < 300; count++) await runs.submitPausing('alice');
    expect(runs.registry.queries.load).to.deep.equal({ running: 32, queued: 268 });
    const own = await runs.submit('alice');
    expect(runs.getStatus(own)).to.equal('running');
    expect(runs.queueOf('alice')).to.deep.equal({ queued: 268, waits_for: 'breakpoints' });
    await runs.complete(own);
    expect(runs.getStatus(own)).to.equal('succeeded');
  });

  it('have half of what a tenant is guaranteed while others have their half, and no more', async () => {
    const runs = new PausingRuns({ admission: SERVER });
    for (let count = 0; count < 40; count++) await runs.submitPausing('alice');
    const ofBob: string[] = [];
    for (let count = 0; count < 6; count++) ofBob.push(await runs.submitPausing('bob'));
    expect(ofBob.map((runId) => runs.isPaused(runId))).to.deep.equal([true, true, true, true, false, false]);
    expect(runs.queueOf('bob')).to.deep.equal({ queued: 2, waits_for: 'breakpoints' });
    for (let count = 0; count < 7; count++)
      expect(runs.getStatus(await runs.submit('bob'))).to.equal('running');
  });

  it('start in their order, tenants in turn, when others of them have ended', async () => {
    const runs = new PausingRuns({ admission: { maxRunning: 2, maxQueued: 10 } });
    const first = await runs.submitPausing('alice');
    const [second, third] = [await runs.submitPausing('alice'), await runs.submitPausing('alice')];
    const other = await runs.submitPausing('bob');
    const begun: string[] = [];
    for (let current: string | undefined = first; current !== undefined; ) {
      begun.push(current);
      await runs.registry.cancel(current);
      await runs.waitUntilIdle();
      current = [second, third, other].find((runId) => runs.isPaused(runId));
    }
    expect(begun).to.deep.equal([first, second, other, third]);
    expect(runs.registry.queries.load).to.deep.equal({ running: 0, queued: 0 });
  });

  it('have the only slot when there is one', async () => {
    const runs = new PausingRuns({ admission: { maxRunning: 1, maxQueued: 10 } });
    expect(runs.isPaused(await runs.submitPausing('alice'))).to.equal(true);
    expect(runs.getStatus(await runs.submit('alice'))).to.equal('queued');
    expect(runs.queueOf('alice')).to.deep.equal({ queued: 1, waits_for: 'server' });
  });

  it('are ended when the server ends, whether they wait for their half or for a slot', async () => {
    const runs = new PausingRuns({ admission: { maxRunning: 2, maxQueued: 10 } });
    const runIds = [
      await runs.submitPausing('a'),
      await runs.submitPausing('a'),
      await runs.submitPausing('b'),
    ];
    await runs.registry.close(0);
    expect(runIds.map((runId) => runs.getStatus(runId))).to.deep.equal([
      'cancelled',
      'cancelled',
      'cancelled',
    ]);
    expect(runs.registry.queries.load).to.deep.equal({ running: 0, queued: 0 });
  });

  it('never have more than their half, and nobody waits who has room, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(
        LIMITS,
        fc.array(ACT, { minLength: 10, maxLength: 40, size: 'max' }),
        async (admission, acts) => {
          const model = new Model(admission);
          for (const act of acts) {
            await model.do(act);
            model.check();
          }
        },
      ),
      cases(60),
    );
  });
});

const LIMITS = fc.record({
  maxRunning: fc.integer({ min: 1, max: 6 }),
  maxQueued: fc.constant(100),
  tenantShare: fc.constantFrom(0, 0, 30, 50),
});

const ACT = fc.record({
  kind: fc.constantFrom(
    'submit',
    'submit',
    'pausing',
    'pausing',
    'pausing',
    'continue',
    'end',
    'end',
    'cancel',
  ),
  tenant: fc.constantFrom('a', 'b', 'c'),
  at: fc.nat(1000),
});

type Act = typeof ACT extends fc.Arbitrary<infer T> ? T : never;

interface ModelRun {
  readonly id: string;
  readonly tenant: string;
  readonly isPausable: boolean;
}

/** Knows the limits, and looks at the states of the runs. */
class Model {
  readonly #runs: PausingRuns;
  readonly #slots: number;
  readonly #guaranteed: number;
  #open: ModelRun[] = [];

  constructor(admission: Required<AdmissionLimits>) {
    this.#runs = new PausingRuns({ admission });
    this.#slots = admission.maxRunning;
    this.#guaranteed = Math.ceil((admission.maxRunning * admission.tenantShare) / 100);
  }

  async do({ kind, tenant, at }: Act): Promise<void> {
    const runs = this.#runs;
    if (kind === 'submit') this.#add(await runs.submit(tenant), tenant, false);
    else if (kind === 'pausing') this.#add(await runs.submitPausing(tenant), tenant, true);
    else if (kind === 'continue') {
      const id = pick(
        this.#open.filter((run) => runs.isPaused(run.id)),
        at,
      )?.id;
      if (id !== undefined) runs.registry.resume(id, 'continue');
    } else if (kind === 'end') {
      const id = pick(
        this.#begun.filter((run) => !runs.isPaused(run.id)),
        at,
      )?.id;
      if (id !== undefined) await runs.complete(id);
    } else {
      const id = pick(this.#open, at)?.id;
      if (id !== undefined) await runs.registry.cancel(id, { force: true });
    }
    await runs.waitUntilIdle();
    this.#open = this.#open.filter(({ id }) => !runs.registry.record(id).settled);
  }

  #add(id: string, tenant: string, isPausable: boolean): void {
    this.#open.push({ id, tenant, isPausable });
  }

  get #begun(): ModelRun[] {
    return this.#open.filter(({ id }) => this.#runs.getStatus(id) === 'running');
  }

  check(): void {
    const begun = this.#begun;
    const waiting = this.#open.filter((run) => !begun.includes(run));
    const pausable = begun.filter(({ isPausable }) => isPausable);
    const half = { total: Math.ceil(this.#slots / 2), guaranteed: Math.ceil(this.#guaranteed / 2) };
    const whole = { total: this.#slots, guaranteed: this.#guaranteed };
    expect(this.#runs.registry.queries.load).to.deep.equal({ running: begun.length, queued: waiting.length });
    expect(pausable.length).to.be.at.most(half.guaranteed === 0 ? half.total : 2 * half.total);
    for (const { tenant, isPausable } of waiting) {
      const hasSlot = hasRoom(whole, begun, tenant);
      if (!isPausable) expect(hasSlot, 'a slot for a run without breakpoints').to.equal(false);
      // Runs that wait for a slot take part of the half, too: only without shares is it known that none does.
      else if (whole.guaranteed === 0) expect(hasSlot && hasRoom(half, pausable, tenant)).to.equal(false);
      const { waits_for: reason } = this.#runs.queueOf(tenant) as { waits_for: string };
      expect(reason).to.not.equal(null);
      if (waiting.every((run) => run.tenant !== tenant || !run.isPausable))
        expect(reason).to.not.equal('breakpoints');
      if (hasSlot) expect(reason).to.equal('breakpoints');
    }
    for (const one of [true, false]) this.#checkOrder(begun, waiting, one);
  }

  /** Of one tenant, runs of one kind begin in the order in which they were submitted. */
  #checkOrder(begun: readonly ModelRun[], waiting: readonly ModelRun[], isPausable: boolean): void {
    for (const tenant of ['a', 'b', 'c']) {
      const isOf = (run: ModelRun): boolean => run.tenant === tenant && run.isPausable === isPausable;
      const last = this.#open.indexOf(begun.findLast(isOf) as ModelRun);
      const next = waiting.find(isOf);
      if (next !== undefined) expect(this.#open.indexOf(next)).to.be.greaterThan(last);
    }
  }
}

function hasRoom(
  limit: { total: number; guaranteed: number },
  used: readonly ModelRun[],
  tenant: string,
): boolean {
  if (used.length < limit.total) return true;
  return (
    used.length < 2 * limit.total && used.filter((run) => run.tenant === tenant).length < limit.guaranteed
  );
}

function pick<T>(among: readonly T[], at: number): T | undefined {
  return among[at % among.length];
}
