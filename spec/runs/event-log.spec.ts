import { expect } from 'chai';
import fc from 'fast-check';
import type { LiveEvent } from '../../lib/execution/events/event.js';
import { EventLog } from '../../lib/runs/event-log.js';
import { settle } from '../support/deferred.js';

function event(seq: number): LiveEvent {
  return { kind: 'log', seq, time: '2026-01-01T00:00:00.000Z', run_id: 'r', task_id: 'a', message: `${seq}` };
}

function logOf(capacity: number, count: number): EventLog {
  const log = new EventLog(capacity);
  for (let seq = 1; seq <= count; seq++) log.append(event(seq));
  return log;
}

function numbersAfter(log: EventLog, seq: number, limit = 1000): number[] {
  return log.after(seq, limit).events.map((one) => one.seq);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, position) => from + position);
}

describe('the log of the last events (D30)', () => {
  it('gives a reader what follows the event it knows, in order, and says when some are gone', () => {
    const shapes = fc.record({
      capacity: fc.integer({ min: 1, max: 12 }),
      count: fc.nat(60),
      known: fc.nat(70),
      limit: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(shapes, ({ capacity, count, known, limit }) => {
        const log = logOf(capacity, count);
        expect(log.last).to.equal(count);
        expect(log.size).to.be.within(Math.min(count, capacity), 2 * capacity);
        const first = count - log.size + 1;
        const { events, gap } = log.after(known, limit);
        expect(gap).to.equal(known + 1 < first);
        const from = Math.max(first, known + 1);
        expect(events.map(({ seq }) => seq)).to.deep.equal(range(from, count).slice(0, limit));
      }),
      { numRuns: 500 },
    );
  });

  it('loses and doubles nothing for a reader that is never further behind than the log is long', () => {
    const bursts = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 40 });
    fc.assert(
      fc.property(bursts, fc.integer({ min: 1, max: 5 }), (sizes, limit) => {
        const log = new EventLog(5);
        const read: number[] = [];
        let seq = 0;
        for (const size of sizes) {
          for (let more = 0; more < size; more++) log.append(event(++seq));
          for (;;) {
            const { events, gap } = log.after(read.at(-1) ?? 0, limit);
            expect(gap).to.equal(false);
            if (events.length === 0) break;
            read.push(...events.map((one) => one.seq));
          }
        }
        expect(read).to.deep.equal(range(1, seq));
      }),
    );
  });

  it('keeps its numbers when it gives its memory back', () => {
    const log = logOf(10, 7);
    log.clear();
    log.clear();
    expect([log.size, log.last]).to.deep.equal([0, 7]);
    expect(log.after(3, 10)).to.deep.equal({ events: [], gap: true });
    expect(log.after(7, 10)).to.deep.equal({ events: [], gap: false });
    expect(new EventLog(3).last).to.equal(0);
  });

  it('takes no word that comes after the end', () => {
    const log = logOf(10, 2);
    expect(log.isClosed).to.equal(false);
    log.close();
    log.append(event(3));
    expect(log.isClosed).to.equal(true);
    expect(numbersAfter(log, 0)).to.deep.equal([1, 2]);
  });

  it('keeps what a reader has got as it is', () => {
    const log = logOf(2, 2);
    const { events } = log.after(0, 10);
    for (const seq of [3, 4, 5, 6]) log.append(event(seq));
    expect(events.map(({ seq }) => seq)).to.deep.equal([1, 2]);
  });

  it('calls those who watch, for each event and for the end, until they stop watching', () => {
    const log = new EventLog(5);
    const heard: string[] = [];
    const stopA = log.watch(() => void heard.push(`a ${log.last}`));
    log.watch(() => void heard.push(`b ${log.isClosed ? 'end' : log.last}`));
    log.append(event(1));
    stopA();
    log.append(event(2));
    log.close();
    log.close();
    expect(heard).to.deep.equal(['a 1', 'b 1', 'b 2', 'b end']);
  });

  it('tells each once, though they stop and watch anew while they are told', () => {
    const log = new EventLog(5);
    let told = 0;
    let others = 0;
    const again = (): void => {
      stop();
      if (++told < 50) stop = log.watch(again);
      stopOther();
    };
    let stop = log.watch(again);
    const stopOther = log.watch(() => void others++);
    log.append(event(1));
    expect([told, others]).to.deep.equal([1, 0]);
    log.append(event(2));
    expect(told).to.equal(2);
  });

  it('lets a watcher go that throws, with a warning, and still tells the others', async () => {
    const warnings: string[] = [];
    const hear = (warning: Error): void => void warnings.push(warning.message);
    process.on('warning', hear);
    const log = new EventLog(5);
    let told = 0;
    log.watch(() => {
      throw new Error('broken pipe');
    });
    log.watch(() => void told++);
    log.append(event(1));
    log.close();
    await settle();
    process.off('warning', hear);
    expect(told).to.equal(2);
    expect(numbersAfter(log, 0)).to.deep.equal([1]);
    expect(warnings).to.deep.equal(['a reader of events threw and hears no more: broken pipe']);
  });
});
