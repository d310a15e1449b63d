import { expect } from 'chai';
import fc from 'fast-check';
import type { LiveEvent } from '../../lib/execution/events/event.js';
import { settle } from '../support/deferred.js';
import { HeldRuns } from './held-runs.js';

const TERMINAL = ['succeeded', 'failed', 'cancelled'];

/** What happens, and how many turns of the promises pass before it. */
const HAPPENING = fc.record({
  kind: fc.constantFrom('return', 'throw', 'cancel', 'force', 'end of the first', 'close'),
  turns: fc.nat(12),
});

/** The states that the run told of, in order, each of them once. */
function statesIn(events: readonly LiveEvent[]): string[] {
  return events.flatMap((event) => (event.kind === 'run' ? [event.status] : []));
}

describe('a cancel that races the end of a run (States and transitions)', () => {
  it('leaves exactly one terminal state, which never changes', async () => {
    const shape = fc.record({
      happenings: fc.array(HAPPENING, { minLength: 1, maxLength: 8 }),
      startsQueued: fc.boolean(),
    });
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(shape, async ({ happenings, startsQueued }) => {
        const held = new HeldRuns({ admission: { maxRunning: startsQueued ? 1 : 2, maxQueued: 5 } });
        const { registry, puppet } = held;
        const [first = ''] = await held.submitAll(['a']);
        const events: LiveEvent[] = [];
        const runId = await held.submit('a', { onEvent: (event) => void events.push(event) });
        const callOf = (id: string) => puppet.calls.find(({ context }) => context.run_id === id);
        const states: string[] = [];
        let accepted = 0;
        const look = (): void => {
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
        const acts: Record<string, () => void> = {
          return: () => callOf(runId)?.resolve('done'),
          throw: () => callOf(runId)?.reject(new Error('no luck')),
          cancel: () => cancel(false),
          force: () => cancel(true),
          'end of the first': () => callOf(first)?.resolve('done'),
          close: () => void registry.close(1000),
        };
        for (const { kind, turns } of happenings) {
          for (let turn = 0; turn < turns; turn++) {
            await Promise.resolve();
            look();
          }
          acts[kind]?.();
          look();
        }
        await held.filled();
        callOf(first)?.resolve('done');
        await registry.settled(first);
        await held.filled();
        callOf(runId)?.resolve('done');
        const { status } = await registry.settled(runId);
        look();
        await settle();
        look();
        seen.add(status);
        expect(states.filter((state) => TERMINAL.includes(state))).to.deep.equal([status]);
        expect(statesIn(events).filter((state) => TERMINAL.includes(state))).to.deep.equal([status]);
        if (accepted > 0) expect(status).to.equal('cancelled');
        expect(registry.load).to.deep.equal({ running: 0, queued: 0 });
      }),
      { numRuns: 300 },
    );
    expect([...seen].toSorted()).to.deep.equal(TERMINAL.toSorted());
  }).timeout(20_000);
});
