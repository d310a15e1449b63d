import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { readChunk } from '../../../lib/http/sse/frames.js';
import { EventLog } from '../../../lib/runs/event-log.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const RUN = { time: '2026-01-01T00:00:00.000Z', run_id: '019b7600-0000-7000-8000-000000000000' };

function createLog(events: number): EventLog {
  const log = new EventLog(events);
  for (let seq = 1; seq <= events; seq++) {
    log.append({ ...RUN, kind: 'log', seq, task_id: 'a', message: 'x'.repeat(500) });
  }
  return log;
}

/** Reads all events of a log and returns how many characters they have as frames. */
function readAll(log: EventLog): number {
  let length = 0;
  let chunk = readChunk(log, 0);
  for (; chunk !== undefined; chunk = readChunk(log, chunk.last)) length += chunk.bytes.length;
  return length;
}

function usedMemory(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

describe('Formatting the events of a run for a stream (D30)', () => {
  it('keeps nothing in memory after they were sent, because only the events themselves are counted (D25)', () => {
    const log = createLog(20_000);
    const before = usedMemory();
    const length = readAll(log);
    expect(length).to.be.above(10_000_000);
    expect(usedMemory() - before).to.be.below(length / 2);
    expect(log.size).to.equal(20_000);
  });
});
