import { expect } from 'chai';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import type { Fact } from '../../../lib/execution/history/fact.js';
import { type FactSubject, subjectOf } from '../../../lib/execution/history/fact-subject.js';
import { attemptPrefix } from '../../../lib/execution/history/nested-places.js';

const call = (place: string, item: number): Fact => ({ kind: 'due', at: 1, place, task: 'each', item });

const event = (fields: object): Fact => ({
  kind: 'event',
  at: 1,
  event: { seq: 1, time: '2026-01-01T00:00:00.000Z', run_id: 'r', task_id: 'each', ...fields } as LiveEvent,
});

const files = (...artifacts: readonly object[]): Fact => ({
  kind: 'files',
  at: 1,
  files: artifacts.map((fields) => ({
    artifact: { name: 'a', task_id: 'each', media_type: 'text/plain', size: 1, ...fields },
    path: 'a',
  })),
});

const nested = (place: string): Fact => ({ kind: 'nested', at: 1, place, fingerprint: 'f' });

const each = (item: number, place = ''): FactSubject => ({ place, task: 'each', item });

describe('The item that a fact is about (D74)', () => {
  const cases: Readonly<Record<string, readonly [fact: Fact, subject: FactSubject]>> = {
    'a call of an item': [call('', 3), each(3)],
    'a call of an item in a sub-pipeline': [call('sub', 0), each(0, 'sub')],
    'a call of a task that is no fan-out': [call('', -1), 'run'],
    'a pipeline inside an item': [nested(`${attemptPrefix('', 'each', 12, 1)}0`), each(12)],
    'a pipeline inside an item of a sub-pipeline': [
      nested(`${attemptPrefix('sub', 'each', 1, 2)}0`),
      each(1, 'sub'),
    ],
    'a pipeline inside a pipeline inside an item': [nested('each[4]#1.0/inner[5]#2.1'), each(4)],
    'a pipeline inside a task that is no fan-out': [nested('one#1.0/each[5]#2.1'), 'run'],
    'the end of an item': [event({ kind: 'item', item: 2, phase: 'finish', attempt: 1 }), each(2)],
    'a message of an item': [
      event({ kind: 'log', item: 2, message: 'm', sub_pipeline: 'sub' }),
      each(2, 'sub'),
    ],
    'a message of a task': [event({ kind: 'log', message: 'm' }), 'run'],
    'a task inside an item': [event({ kind: 'start', task_id: 'x', within: ['each[7]', 'y'] }), each(7)],
    'a task inside a task': [event({ kind: 'item', item: 1, within: ['one'] }), 'run'],
    'the start of a fan-out': [event({ kind: 'start', items: 9 }), 'run'],
    'a wave': [event({ kind: 'wave', wave: 0, phase: 'start', tasks: 1 }), 'run'],
    'files of an item': [files({ item: 1 }, { item: 1 }), each(1)],
    'files of several items': [files({ item: 1 }, { item: 2 }), 'run'],
    'files of a task': [files({}), 'run'],
    'no files': [files(), 'nothing'],
    'a slice of time': [{ kind: 'exhausted', at: 1, place: '', count: 1 }, 'nothing'],
    'the publication of a fan-out': [{ kind: 'published', at: 1, place: '', task: 'each' }, 'run'],
    'a fork in the history': [{ kind: 'diverged', at: 1, from: 3 }, 'run'],
  };
  for (const [title, [fact, subject]] of Object.entries(cases)) {
    it(`is that of ${title}: ${JSON.stringify(subject)}`, () => {
      expect(subjectOf(fact)).to.deep.equal(subject);
    });
  }
});
