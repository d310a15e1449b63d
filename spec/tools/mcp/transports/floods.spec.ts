import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { MCP_LIMITS } from '../../../../lib/common/limits.js';
import { openSdkSession } from '../../../../lib/tools/mcp/sdk.js';
import type { McpSession, RemoteResult } from '../../../../lib/tools/mcp/session.js';
import { StdioTransport } from '../../../../lib/tools/mcp/transports/stdio-transport.js';
import { deferred } from '../../../support/deferred.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { catchRejection } from '../../../support/rejection.js';
import { SlowTurns } from '../../../support/measuring/cpu-time.js';

const { messagesAtOnce } = MCP_LIMITS;
/** A request of the client. */
interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string };
}

/** Answers as a server does that writes the answers to calls by itself. */
function respond(
  asked: Asked,
  response: ServerResponse,
  answer: (response: ServerResponse, asked: Asked) => void,
): void {
  const { id, method, params } = asked;
  if (id === undefined) return void response.writeHead(202).end();
  if (method === 'tools/call') return answer(response, asked);
  response.writeHead(200, { 'content-type': 'application/json' });
  const result = {
    protocolVersion: params?.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'fake', version: '1' },
  };
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

/** Messages as server-sent events. */
function events(...messages: readonly object[]): string {
  return messages.map((message) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`).join('');
}

const TOO_MUCH = '1,000 messages a second that answer nothing';
const LOG = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } };

describe('A started MCP server that sends without end (D49)', () => {
  /** Runs a program that begins when it is sent anything. Returns what it has sent until it ended. */
  async function run(program: string, onMessage?: (message: JSONRPCMessage) => void) {
    const messages: JSONRPCMessage[] = [];
    const [logged, tooMuch]: [string[], string[]] = [[], []];
    const closed = deferred<undefined>();
    const config = { kind: 'stdio', name: 'x', command: process.execPath, env: {}, cwd: '/' } as const;
    const args = ['-e', `process.stdin.once('data', () => { ${program} });`];
    const transport = new StdioTransport({ ...config, args }, new ManualClock(), {
      onStderr: (line) => void logged.push(line),
      onStrayLine: () => undefined,
      onExit: () => undefined,
      onTooMuch: (limit) => void tooMuch.push(limit),
    });
    Object.assign(transport, {
      onmessage: (message: JSONRPCMessage) => {
        messages.push(message);
        onMessage?.(message);
      },
      onclose: () => closed.resolve(undefined),
    });
    await transport.start();
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/call' });
    await closed.promise;
    return { messages, logged, tooMuch };
  }

  const forever = (line: string): string => `
    const block = ${JSON.stringify(`${line}\n`)}.repeat(500);
    const more = () => { while (process.stdout.write(block)); process.stdout.once('drain', more); };
    more();`;

  for (const [what, line] of [
    ['notifications', JSON.stringify(LOG)],
    [
      'progress',
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}',
    ],
    ['requests', '{"jsonrpc":"2.0","id":5,"method":"ping"}'],
    ['answers to what nobody has asked', '{"jsonrpc":"2.0","id":5,"result":{}}'],
    ['lines that are no messages', 'y'],
    ['empty lines', ''],
  ] as const) {
    it(`is ended when it sends ${what}`, async () => {
      // A message first: a program that never sends one is ended after fewer lines.
      const { messages, tooMuch } = await run(`console.log('${JSON.stringify(LOG)}'); ${forever(line)}`);
      expect(tooMuch).to.deep.equal([TOO_MUCH]);
      expect(messages).to.have.length.at.most(messagesAtOnce);
    });
  }

  const PROGRESS =
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}\n';

  it('is not ended for progress within the limit, or for its answers', async () => {
    const { messages, tooMuch } = await run(
      `const answer = '{"jsonrpc":"2.0","id":1,"result":{}}\\n';
      process.stdout.write('${PROGRESS.trim()}\\n'.repeat(1500) + answer, () => process.exit());`,
    );
    expect(tooMuch).to.deep.equal([]);
    expect(messages).to.have.length(1501);
    expect(messages.at(-1)).to.have.property('result');
  });

  it('has its messages handled in many turns of the event loop, though they arrive at once', async () => {
    const slow = new SlowTurns();
    const { messages } = await run(
      `process.stdout.write(${JSON.stringify(PROGRESS.repeat(10))}, () => process.exit())`,
      slow.work,
    );
    expect(messages).to.have.length(10);
    expect(slow.turns).to.be.at.least(9);
  });

  it('has the rest of its logs left out, which is said once', async () => {
    const count = MCP_LIMITS.logLinesAtOnce + 500;
    const { logged } = await run(`process.stderr.write('a\\n'.repeat(${count}), () => process.exit())`);
    expect(logged).to.have.length(MCP_LIMITS.logLinesAtOnce + 1);
    expect(logged.at(-1)).to.equal('(more lines at once than are read)');
  });
});

describe('An MCP server over HTTP that sends without end (D49)', () => {
  /** Starts a server, and connects to it. @param answer writes the answer to a call */
  async function withSession(
    answer: (response: ServerResponse, asked: Asked) => void,
    use: (session: McpSession, closed: Promise<undefined>, tooMuch: string[]) => Promise<void>,
  ): Promise<void> {
    const server = createServer((request, response) => {
      if (request.method === 'POST')
        void json(request).then((asked) => respond(asked as Asked, response, answer));
      else response.writeHead(405).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const closed = deferred<undefined>();
    const tooMuch: string[] = [];
    const session = await openSdkSession({
      config: { kind: 'http', name: 'web', url, headers: {} },
      version: '1',
      clock: new ManualClock(),
      signal: new AbortController().signal,
      onClose: () => closed.resolve(undefined),
      onListChanged: () => undefined,
      onStderr: () => undefined,
      onStrayLine: () => undefined,
      onExit: () => undefined,
      onTooMuch: (limit) => void tooMuch.push(limit),
    });
    try {
      await use(session, closed.promise, tooMuch);
    } finally {
      await session.close();
      server.close();
      server.closeAllConnections();
    }
  }

  const call = (session: McpSession, onProgress?: () => void): Promise<RemoteResult> =>
    session.callTool('t', {}, { signal: new AbortController().signal, ...(onProgress && { onProgress }) });

  for (const [what, event] of [
    ['notifications', `data: ${JSON.stringify(LOG)}\n\n`],
    ['events that are no messages', 'data: x\n\n'],
    ['events of other names', 'event: other\r\ndata: x\r\n\r\n'],
    ['lines that end with a return', `data: ${JSON.stringify(LOG)}\r\r`],
    ['comments', ':\n\n'],
  ] as const) {
    it(`has its connection closed when it sends ${what}`, async () => {
      await withSession(
        (response) => {
          response.writeHead(200, { 'content-type': 'Text/Event-Stream' });
          const block = event.repeat(500);
          const more = (): void => {
            while (!response.destroyed && response.write(block));
            response.once('drain', more);
          };
          more();
        },
        async (session, closed, tooMuch) => {
          const error = await catchRejection(call(session));
          expect(error).to.have.property('kind', 'closed');
          expect(tooMuch).to.deep.equal([TOO_MUCH]);
          await closed;
        },
      );
    });
  }

  it('is answered for progress within the limit, and for answers that are long', async () => {
    const text = 'x'.repeat(4 * 2 ** 20);
    await withSession(
      (response, { id }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(events(LOG).repeat(20));
        response.end(events({ id, result: { content: [{ type: 'text', text }] } }));
      },
      async (session, _, tooMuch) => {
        for (let count = 0; count < 20; count++) {
          const { content } = await call(session);
          expect(content[0]).to.have.property('text').with.length(text.length);
        }
        expect(tooMuch).to.deep.equal([]);
      },
    );
  });

  it('has its messages handled in many turns of the event loop, though they arrive at once', async () => {
    const slow = new SlowTurns();
    await withSession(
      (response, { id }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(
          events({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } }).repeat(
            10,
          ) + events({ id, result: { content: [] } }),
        );
      },
      async (session) => {
        await call(session, slow.work);
        expect(slow.worked).to.equal(10);
        // The stages of a stream hold some events between them.
        expect(slow.turns).to.be.at.least(5);
      },
    );
  });

  it('is refused a list of messages, which would be handled in one turn of the event loop', async () => {
    await withSession(
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(` [${JSON.stringify(LOG)}]`);
      },
      async (session) => {
        const error = (await catchRejection(call(session))) as Error;
        expect(error.message).to.equal('the answer is a list of messages, which was not asked for');
      },
    );
  });
});
