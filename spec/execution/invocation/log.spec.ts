import { expect } from 'chai';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { MAX_LOG_LENGTH } from '../../../lib/common/limits.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';
import { startRun } from '../../support/runs/start-run.js';

class Unreadable {
  toJSON(): never {
    throw new Error('no JSON');
  }
  toString(): never {
    throw new Error('no text');
  }
}

function makeCycle(): object {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  return cycle;
}

const refuse = (): never => {
  throw new Error('refused');
};

/** Values that tools may log, and the message that events have. */
const LOGGED: readonly (readonly [title: string, value: unknown, message: string])[] = [
  ['a text', 'hello', 'hello'],
  ['an empty text', '', ''],
  ['an object', { a: [1, null] }, '{"a":[1,null]}'],
  ['a number', 5, '5'],
  ['no number', Number.NaN, 'null'],
  ['a big integer', 10n, '10'],
  ['a big integer in a list', [10n], 'a value that cannot be shown, of the type object'],
  ['undefined', undefined, 'undefined'],
  ['null', null, 'null'],
  ['a symbol', Symbol('s'), 'Symbol(s)'],
  ['an error', new RangeError('far'), 'RangeError: far'],
  ['a cycle', makeCycle(), 'a value that cannot be shown, of the type object'],
  ['an object that throws', new Unreadable(), 'a value that cannot be shown, of the type object'],
  [
    'a proxy that refuses everything',
    new Proxy({}, { get: refuse, getPrototypeOf: refuse, ownKeys: refuse, has: refuse }),
    'a value that cannot be shown, of the type object',
  ],
  ['a long text', 'x'.repeat(10_000), `${'x'.repeat(MAX_LOG_LENGTH)} … (10,000 characters)`],
  ['half of a letter', '\ud800', '\ud800'],
];

/** Logs every value, as a tool in JavaScript may. */
const logging = defineTool({
  name: 'logging',
  description: 'logs',
  inputs: {},
  run: (_, { log }) => {
    for (const [, value] of LOGGED) log(value as string);
    return 'done';
  },
});

const messagesOf = (events: readonly LiveEvent[]): string[] =>
  events.flatMap((event) => (event.kind === 'log' ? event.message : []));

describe('context.log (Events, D29)', () => {
  it('makes a text of any value', async () => {
    const run = await startRun('{id: t, tool: logging}', { tools: [logging] });
    expect(run.record().status).to.equal('succeeded');
    const messages = messagesOf(run.events);
    for (const [position, [title, , message]] of LOGGED.entries())
      expect(messages[position], title).to.equal(message);
    expect(messages).to.have.length(LOGGED.length);
  });

  it('fails a write whose key is no text, before anything is written', async () => {
    const writing = defineTool({
      name: 'writing',
      description: 'writes',
      inputs: {},
      run: (_, { blackboard }) => blackboard.write({ a: 1 } as unknown as string, 1),
    });
    const run = await startRun('{id: t, tool: writing, retry: 3}', { tools: [writing] });
    expect(run.record().failures).to.deep.equal([
      {
        task_id: 't',
        error: 'the key of a value on the blackboard must be a text, not an object',
        attempts: 1,
      },
    ]);
  });

  describe('over HTTP (D30)', () => {
    let server: TestServer;
    beforeEach(async () => {
      server = await startTestServer({ tools: [logging] });
    });
    afterEach(() => server.close(0));

    it('breaks neither the stream of events nor their list, whatever is logged', async () => {
      const pipeline = { id: 'p', goal: 'g', tasks: [{ id: 't', tool: 'logging' }] };
      const { body } = await server.request<{ run_id: string }>('POST', '/pipelines/run_async', { pipeline });
      const path = `/pipelines/runs/${body.run_id}/events`;
      const stream = await server.request<string>('GET', path, undefined, { accept: 'text/event-stream' });
      expect(stream.status).to.equal(200);
      expect(stream.body).to.match(/\nevent: end\n/);
      expect(stream.body.match(/"kind":"log"/g)).to.have.length(LOGGED.length);
      const list = await server.request<{ events: LiveEvent[] }>('GET', path, undefined, {
        accept: 'application/json',
      });
      expect(list.status).to.equal(200);
      expect(messagesOf(list.body.events)).to.have.length(LOGGED.length);
    });
  });
});
