import { expect } from 'chai';
import fc from 'fast-check';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { MemoryBudget } from '../../../lib/execution/memory-budget.js';
import { EventLog } from '../../../lib/runs/event-log.js';
import { takeWarnings } from '../../support/warnings.js';
import { cases } from '../../support/measuring/cases.js';

function event(seq: number): LiveEvent {
  return { kind: 'log', seq, time: '2026-01-01T00:00:00.000Z', run_id: 'r', task_id: 'a', message: `${seq}` };
}

function createLog(capacity: number, count: number): EventLog {
  const log = new EventLog(capacity);
  for (let seq = 1; seq <= count; seq++) log.append(event(seq));
  return log;
}

function numbersAfter(log: EventLog, seq: number, limit = 1000): number[] {
  return log.readAfter(seq, limit).events.map((one) => one.seq);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, position) => from + position);
}

describe('EventLog (D30)', () => {
  it('returns the events after a given number in order, and reports a gap when some were dropped', () => {
    const shapes = fc.record({
      capacity: fc.integer({ min: 1, max: 12 }),
      count: fc.nat(60),
      after: fc.nat(70),
      limit: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(shapes, ({ capacity, count, after, limit }) => {
        const log = createLog(capacity, count);
        expect(log.lastSeq).to.equal(count);
        expect(log.size).to.be.within(Math.min(count, capacity), 2 * capacity);
        const first = count - log.size + 1;
        const { events, gap } = log.readAfter(after, limit);
        expect(gap).to.equal(after + 1 < first);
        const from = Math.max(first, after + 1);
        expect(events.map(({ seq }) => seq)).to.deep.equal(range(from, count).slice(0, limit));
      }),
      cases(500),
    );
  });

  it('neither loses nor repeats events for a reader that stays within the capacity', () => {
    const bursts = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 40 });
    fc.assert(
      fc.property(bursts, fc.integer({ min: 1, max: 5 }), (sizes, limit) => {
        const log = new EventLog(5);
        const read: number[] = [];
        let seq = 0;
        for (const size of sizes) {
          for (let more = 0; more < size; more++) log.append(event(++seq));
          for (;;) {
            const { events, gap } = log.readAfter(read.at(-1) ?? 0, limit);
            expect(gap).to.equal(false);
            if (events.length === 0) break;
            read.push(...events.map((one) => one.seq));
          }
        }
        expect(read).to.deep.equal(range(1, seq));
      }),
    );
  });

  it('keeps fewer events when their texts are long', () => {
    const log = new EventLog(100);
    for (let seq = 1; seq <= 100; seq++)
      log.append({ ...event(seq), message: 'x'.repeat(4000) } as LiveEvent);
    expect(log.size).to.be.within(10, 30);
    expect(log.lastSeq).to.equal(100);
    expect(log.readAfter(0, 1).gap).to.equal(true);
  });

  it('takes the memory of its events from the run, and drops old events when there is none left', () => {
    const budget = new MemoryBudget(2000);
    const log = new EventLog(100, budget);
    for (let seq = 1; seq <= 20; seq++) log.append(event(seq));
    expect(budget.usedBytes).to.be.within(200 * log.size, 2000);
    expect(log.size).to.be.within(4, 10);
    expect([log.lastSeq, numbersAfter(log, 0).at(-1)]).to.deep.equal([20, 20]);
    expect(log.readAfter(0, 10).gap).to.equal(true);
  });

  it('reports a gap for an event that there is no memory for, and wakes its readers', () => {
    const log = new EventLog(100, new MemoryBudget(100));
    let calls = 0;
    log.subscribe(() => calls++);
    log.append(event(1));
    expect([log.size, log.lastSeq, calls]).to.deep.equal([0, 1, 1]);
    expect(log.readAfter(0, 10)).to.deep.equal({ events: [], gap: true });
    expect(log.readAfter(1, 10)).to.deep.equal({ events: [], gap: false });
  });

  it('ignores events appended after close()', () => {
    const log = createLog(10, 2);
    expect(log.isClosed).to.equal(false);
    log.close();
    log.append(event(3));
    expect(log.isClosed).to.equal(true);
    expect(numbersAfter(log, 0)).to.deep.equal([1, 2]);
  });

  it('does not change a batch that was already returned', () => {
    const log = createLog(2, 2);
    const { events } = log.readAfter(0, 10);
    for (const seq of [3, 4, 5, 6]) log.append(event(seq));
    expect(events.map(({ seq }) => seq)).to.deep.equal([1, 2]);
  });

  it('calls subscribers for each event and for the close until they unsubscribe', () => {
    const log = new EventLog(5);
    const calls: string[] = [];
    const stopA = log.subscribe(() => void calls.push(`a ${log.lastSeq}`));
    log.subscribe(() => void calls.push(`b ${log.isClosed ? 'end' : log.lastSeq}`));
    log.append(event(1));
    stopA();
    log.append(event(2));
    log.close();
    log.close();
    expect(calls).to.deep.equal(['a 1', 'b 1', 'b 2', 'b end']);
  });

  it('calls each subscriber once although it unsubscribes and subscribes again meanwhile', () => {
    const log = new EventLog(5);
    let calls = 0;
    let others = 0;
    const resubscribe = (): void => {
      stop();
      if (++calls < 50) stop = log.subscribe(resubscribe);
      stopOther();
    };
    let stop = log.subscribe(resubscribe);
    const stopOther = log.subscribe(() => void others++);
    log.append(event(1));
    expect([calls, others]).to.deep.equal([1, 0]);
    log.append(event(2));
    expect(calls).to.equal(2);
  });

  it('removes a subscriber that throws, with a warning, and still calls the others', async () => {
    const log = new EventLog(5);
    let calls = 0;
    log.subscribe(() => {
      throw new Error('broken pipe');
    });
    log.subscribe(() => void calls++);
    log.append(event(1));
    log.close();
    expect(calls).to.equal(2);
    expect(numbersAfter(log, 0)).to.deep.equal([1]);
    expect(await takeWarnings()).to.deep.equal(['a reader of events threw and was removed: broken pipe']);
  });
});
