import { expect } from 'chai';
import fc from 'fast-check';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { settle } from '../../support/deferred.js';
import { ControlledRuns } from '../controlled-runs.js';
import { cases } from '../../support/measuring/cases.js';

const TERMINAL = ['succeeded', 'failed', 'cancelled'];

/** An action, and the number of microtask ticks before it. */
const ACTION = fc.record({
  kind: fc.constantFrom('return', 'throw', 'cancel', 'force', 'end the first', 'close'),
  ticks: fc.nat(12),
});

/** The statuses in the run events, in order. */
function readStatuses(events: readonly LiveEvent[]): string[] {
  return events.flatMap((event) => (event.kind === 'run' ? [event.status] : []));
}

describe('RunRegistry: a cancel that races with the end of a run', () => {
  it('leaves exactly one terminal status, which never changes', async () => {
    const shape = fc.record({
      actions: fc.array(ACTION, { minLength: 1, maxLength: 8 }),
      startsQueued: fc.boolean(),
    });
    const endings = new Set<string>();
    await fc.assert(
      fc.asyncProperty(shape, async ({ actions, startsQueued }) => {
        const fixture = new ControlledRuns({ admission: { maxRunning: startsQueued ? 1 : 2, maxQueued: 5 } });
        const { registry, controlled } = fixture;
        const [first = ''] = await fixture.submitAll(['a']);
        const events: LiveEvent[] = [];
        const runId = await fixture.submit('a', { onEvent: (event) => void events.push(event) });
        const callOf = (id: string) => controlled.calls.find(({ context }) => context.run_id === id);
        const states: string[] = [];
        let accepted = 0;
        const check = (): void => {
          const { status, settled } = registry.record(runId);
          if (states.at(-1) !== status) states.push(status);
          if (settled) expect(TERMINAL).to.include(status);
        };
        const cancel = (force: boolean): void => {
          const wasOver = TERMINAL.includes(registry.record(runId).status);
          registry.cancel(runId, { force }).then(
            ({ status }) => {
              accepted++;
              expect(status).to.equal('cancelled');
            },
            (error: unknown) => {
              expect(error).to.include({ code: 'run_already_terminal' });
              expect(wasOver).to.equal(true);
            },
          );
        };
        const perform: Record<string, () => void> = {
          return: () => callOf(runId)?.resolve('done'),
          throw: () => callOf(runId)?.reject(new Error('no luck')),
          cancel: () => cancel(false),
          force: () => cancel(true),
          'end the first': () => callOf(first)?.resolve('done'),
          close: () => void registry.close(1000),
        };
        for (const { kind, ticks } of actions) {
          for (let tick = 0; tick < ticks; tick++) {
            await Promise.resolve();
            check();
          }
          perform[kind]?.();
          check();
        }
        await fixture.waitUntilIdle();
        callOf(first)?.resolve('done');
        await registry.settled(first);
        await fixture.waitUntilIdle();
        callOf(runId)?.resolve('done');
        const { status } = await registry.settled(runId);
        check();
        await settle();
        check();
        endings.add(status);
        expect(states.filter((state) => TERMINAL.includes(state))).to.deep.equal([status]);
        expect(readStatuses(events).filter((state) => TERMINAL.includes(state))).to.deep.equal([status]);
        if (accepted > 0) expect(status).to.equal('cancelled');
        expect(registry.queries.load).to.deep.equal({ running: 0, queued: 0 });
      }),
      cases(300),
    );
    expect([...endings].toSorted()).to.deep.equal(TERMINAL.toSorted());
  });
});
