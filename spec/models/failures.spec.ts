import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ToolError } from '../../lib/common/errors.js';
import { MODEL_LIMITS } from '../../lib/common/limits.js';
import { deferred, settle } from '../support/deferred.js';
import { catchRejection } from '../support/rejection.js';
import { ask, createCaller, createTestModels, KEY } from './asking.js';
import { type Reply, replyInParts, replyWith, useModelServer } from './model-server.js';
import { TOKENS, WIRES } from './wires.js';

const MAX_REQUESTS = MODEL_LIMITS.retries + 1;

describe('failures of language models (D50)', () => {
  const server = useModelServer();

  for (const wire of WIRES) {
    const name = wire.model.split('/')[0] ?? '';
    const good = replyInParts(wire.type, wire.parts({ texts: ['Good ', 'morning'] }), 'end');
    const begin = wire.beginning('Good ');
    const failWith = async (...replies: Reply[]): Promise<ToolError> => {
      server.reply(...replies);
      const error = await catchRejection(ask(wire, server));
      if (!(error instanceof ToolError)) throw error;
      return error;
    };

    it(`${name}: says that the key was refused, shows no part of it, and does not ask again`, async () => {
      const said = `Incorrect key ${KEY}; you sent ${KEY.slice(0, 7)}***${KEY.slice(-4)} or ${KEY.slice(10, 22)}.`;
      const error = await failWith(replyWith(401, wire.error(said)));
      expect(error.message)
        .to.include(wire.model)
        .and.include(`refused the key (401); see whether ${name.toUpperCase()}_API_KEY is right`)
        .and.include('Incorrect key ***');
      for (let at = 8; at + 4 <= KEY.length; at++)
        expect(error.message).not.to.include(KEY.slice(at, at + 4));
      expect(JSON.stringify(flatten(error))).not.to.include(KEY.slice(-12));
      expect(error.retryable).to.equal(false);
      expect(server.requests).to.have.length(1);
    });

    for (const status of [301, 302, 307, 308]) {
      it(`${name}: follows no redirect (${status}), so that no key reaches an address that nobody has configured`, async () => {
        const to = 'http://other.example/v1/chat?key=geheim';
        const error = await failWith(replyWith(status, '', { location: to }));
        expect(error.message)
          .to.include('redirects to http://other.example/v1/chat: configure')
          .and.not.include('geheim');
        expect(error.retryable).to.equal(false);
        expect(server.requests).to.have.length(1);
      });
    }

    it(`${name}: says what the provider says about a model that it does not know`, async () => {
      const error = await failWith(replyWith(404, wire.error('no such model: try "pull"')));
      expect(error.message).to.include('404').and.include('no such model: try "pull"');
      expect(error.message).to.match(new RegExp(`the address in ${name.toUpperCase()}_(BASE_URL|HOST)`));
      expect(error.retryable).to.equal(false);
      expect(server.requests).to.have.length(1);
    });

    it(`${name}: waits as long as Retry-After says before it asks again`, async () => {
      server.reply(replyWith(429, wire.error('slow down'), { 'retry-after': '7' }), good);
      const caller = createCaller();
      const answer = ask(wire, server, {}, caller);
      await caller.waits;
      caller.clock.advance(6999);
      await settle();
      expect(server.requests).to.have.length(1);
      caller.clock.advance(1);
      expect(await answer).to.include({ text: 'Good morning' });
      expect(server.requests).to.have.length(2);
      expect(caller.clock.pending).to.equal(0);
    });

    it(`${name}: asks again after status 500, and gives up after ${MAX_REQUESTS} requests`, async () => {
      const error = await failWith(replyWith(500, wire.error('out of order')));
      expect(error.message)
        .to.include('status 500: out of order')
        .and.include(`(tried ${MAX_REQUESTS} times)`);
      expect(error.retryable).to.equal(true);
      expect(server.requests).to.have.length(MAX_REQUESTS);
    });

    for (const status of [408, 502, 503, 529]) {
      it(`${name}: asks again after status ${status}`, async () => {
        server.reply(replyWith(status, '<html>busy</html>', { 'content-type': 'text/html' }), good);
        expect(await ask(wire, server)).to.include({ text: 'Good morning' });
      });
    }

    it(`${name}: asks again after an answer that is not JSON`, async () => {
      const type = { 'content-type': wire.type };
      server.reply(replyWith(200, wire.type.includes('event') ? 'data: {"choi\n\n' : '{"mess\n', type), good);
      expect(await ask(wire, server)).to.include({ text: 'Good morning' });
    });

    it(`${name}: gives up on a server that answers with a web page`, async () => {
      const error = await failWith(replyWith(200, '<html>Log in</html>', { 'content-type': 'text/html' }));
      expect(error.message).to.match(/could not be read|was cut/);
      expect(error.retryable).to.equal(true);
    });

    it(`${name}: asks for an answer that is not packed, and names the packing of one that is`, async () => {
      const error = await failWith(
        replyWith(200, 'packed', { 'content-type': wire.type, 'content-encoding': 'gzip' }),
      );
      expect(error.message).to.include('packed as gzip, which was not asked for');
      expect(server.requests[0]?.headers).to.include({ 'accept-encoding': 'identity' });
    });

    it(`${name}: gives up on status 200 with the body of an error, and says what it says`, async () => {
      const error = await failWith(replyWith(200, wire.error('the model has no memory')));
      expect(error.message).to.match(/the model has no memory|could not be read|was cut/);
      expect(server.requests).to.have.length(MAX_REQUESTS);
    });

    it(`${name}: asks again after an error within the stream, and gives the second answer alone`, async () => {
      server.reply(replyInParts(wire.type, [...begin, wire.streamError?.('overloaded') ?? ''], 'end'), good);
      expect(await ask(wire, server)).to.include({ text: 'Good morning' });
      expect(server.requests).to.have.length(2);
    });

    it(`${name}: says what an error within the stream says`, async () => {
      const broken = [...begin, wire.streamError?.('the graphics card is full') ?? ''];
      const error = await failWith(replyInParts(wire.type, broken, 'end'));
      expect(error.message).to.include('the graphics card is full');
    });

    it(`${name}: asks again after a stream that ends before the model has finished`, async () => {
      server.reply(replyInParts(wire.type, begin, 'end'), good);
      expect(await ask(wire, server)).to.include({ text: 'Good morning' });
      expect(server.requests).to.have.length(2);
    });

    it(`${name}: asks again after a connection that breaks within the stream`, async () => {
      server.reply(replyInParts(wire.type, begin, 'hang up'), good);
      expect(await ask(wire, server)).to.include({ text: 'Good morning' });
      expect(server.requests).to.have.length(2);
    });

    it(`${name}: asks again after a connection that breaks before an answer`, async () => {
      server.reply((response) => void response.destroy(), good);
      expect(await ask(wire, server)).to.include({ text: 'Good morning' });
      expect(server.requests).to.have.length(2);
    });

    it(`${name}: names the address of a server that is not there`, async () => {
      const url = await findClosedAddress();
      const error = await catchRejection(ask(wire, { url }));
      expect(error)
        .to.have.property('message')
        .that.includes(`ECONNREFUSED ${url.slice('http://'.length)}; see whether the server runs`)
        .and.matches(new RegExp(`whether ${name.toUpperCase()}_(BASE_URL|HOST) is right`));
    });

    it(`${name}: asks again after ${MODEL_LIMITS.idleMs / 1000} s of silence within a stream`, async () => {
      server.reply(replyInParts(wire.type, begin, 'open'), good);
      const caller = createCaller();
      const began = deferred<undefined>();
      const answer = ask(wire, server, { onText: () => began.resolve(undefined) }, caller);
      await began.promise;
      caller.clock.advance(MODEL_LIMITS.idleMs);
      await server.hungUp;
      await caller.waits;
      caller.clock.advance(MODEL_LIMITS.longestRetryDelayMs);
      expect(await answer).to.include({ text: 'Good morning' });
    });

    it(`${name}: ends the request when the attempt ends, and does not ask again`, async () => {
      server.reply(replyInParts(wire.type, begin, 'open'));
      const caller = createCaller();
      const began = deferred<undefined>();
      const answer = ask(wire, server, { onText: () => began.resolve(undefined) }, caller);
      await began.promise;
      caller.abort();
      expect(await catchRejection(answer)).to.have.property(
        'message',
        'the request to the model was stopped',
      );
      await server.hungUp;
      expect(server.requests).to.have.length(1);
      expect(caller.clock.pending).to.equal(0);
    });

    it(`${name}: ends an answer with more than 2 MiB of text`, async () => {
      const texts = Array.from({ length: 230 }, () => 'x'.repeat(10_000));
      const error = await failWith(replyInParts(wire.type, wire.parts({ texts }), 'end'));
      expect(error.message).to.include('more than 2 MiB').and.include('max_tokens');
      expect(error.retryable).to.equal(false);
    });

    it(`${name}: ends an answer of endless bytes without a word`, async () => {
      const error = await failWith((response) => {
        response.writeHead(200, { 'content-type': wire.type });
        const write = (): void => {
          while (!response.destroyed && response.write('\n'.repeat(2 ** 16)));
        };
        response.on('drain', write);
        write();
      });
      expect(error.message).to.include('more than 32 MiB');
      expect(error.retryable).to.equal(false);
      expect(server.requests).to.have.length(1);
    });

    it(`${name}: reads and shows only the start of an endless error, which may repeat the request`, async () => {
      const error = await failWith((response) => {
        response.writeHead(404, { 'content-type': 'application/json' });
        const write = (): void => {
          while (!response.destroyed && response.write('[no such model],'.repeat(2 ** 12)));
        };
        response.on('drain', write);
        write();
      });
      expect(error.message).to.include('[no such model]').and.have.length.below(1000);
      await server.hungUp;
      expect(server.requests).to.have.length(1);
    });

    it(`${name}: asks once more without the schema, in words, when the provider refuses it`, async () => {
      server.reply(replyWith(400, wire.error('unsupported schema')), good);
      const schema = { type: 'object', properties: { odd_name: { type: 'string', minLength: 3 } } } as const;
      expect(await ask(wire, server, { schema, system: 'Be brief.' })).to.include({ text: 'Good morning' });
      const [asked, again] = server.requests.map(({ body }) => JSON.stringify(body));
      expect(asked).not.to.include('fits this JSON Schema');
      expect(again).to.include('Be brief.').and.include('fits this JSON Schema').and.include('odd_name');
    });

    it(`${name}: remembers for each tenant that a model refuses schemas, once it has answered without one`, async () => {
      const schema = { type: 'object' } as const;
      const refuse = replyWith(422, wire.error('no schemas here'));
      const models = createTestModels(wire, server);
      const askAs = (tenant: string) =>
        ask(wire, server, { schema }, createCaller({ isPatient: true, tenant }), models);
      server.reply(refuse);
      await catchRejection(askAs('a'));
      expect(server.requests).to.have.length(2);
      server.reply(refuse, good);
      await askAs('a');
      expect(server.requests).to.have.length(4);
      await askAs('a');
      expect(server.requests).to.have.length(5);
      expect(JSON.stringify(server.requests[4]?.body)).to.include('fits this JSON Schema');
      await askAs('b');
      expect(server.requests).to.have.length(6);
      expect(JSON.stringify(server.requests[5]?.body)).not.to.include('fits this JSON Schema');
    });

    it(`${name}: gives up on status 400 without a schema, and on a second one`, async () => {
      const error = await failWith(replyWith(400, wire.error('too many tokens')));
      expect(error.message).to.include('status 400: too many tokens');
      expect(error.retryable).to.equal(false);
      expect(server.requests).to.have.length(1);
      await catchRejection(ask(wire, server, { schema: { type: 'object' } }));
      expect(server.requests).to.have.length(3);
    });
  }
});

describe('an account with a provider that has no credit left (D50)', () => {
  const server = useModelServer();

  it('fails the task at once, although OpenAI says so with the status of a rate that is limited', async () => {
    const wire = WIRES.find(({ model }) => model.startsWith('openai/'));
    if (wire === undefined) throw new Error('no wire');
    const said = {
      message: 'You exceeded your quota.',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    };
    server.reply(replyWith(429, JSON.stringify({ error: said })));
    const error = await catchRejection(ask(wire, server));
    expect(error).to.include({ retryable: false });
    expect(error).to.have.property('message').that.includes('no credit left (429); look at its billing');
    expect(error).to.have.property('message').that.includes('You exceeded your quota.');
    expect(server.requests).to.have.length(1);
  });
});

describe('the tokens of an answer of a language model that is cut (D50)', () => {
  const server = useModelServer();
  const wire = WIRES.find(({ model }) => model.startsWith('anthropic/'));
  const begin = wire?.beginning('Good ') ?? [];
  const REPORTED = { model: wire?.model, input_tokens: TOKENS.input_tokens, output_tokens: 1 };

  it('count as far as the provider has reported them, when the stream ends early, and in addition to the next answer', async () => {
    if (wire === undefined) throw new Error('no wire');
    const good = replyInParts(wire.type, wire.parts({ texts: ['Good'] }), 'end');
    server.reply(replyInParts(wire.type, begin, 'end'), replyInParts(wire.type, begin, 'hang up'), good);
    const caller = createCaller({ isPatient: true });
    await ask(wire, server, {}, caller);
    expect(caller.usage).to.deep.equal([REPORTED, REPORTED, { model: wire.model, ...TOKENS }]);
  });

  it('count when the attempt ends, and when the provider falls silent', async () => {
    if (wire === undefined) throw new Error('no wire');
    for (const end of ['abort', 'silence']) {
      server.reply(replyInParts(wire.type, begin, 'open'));
      const caller = createCaller();
      const began = deferred<undefined>();
      const answer = catchRejection(ask(wire, server, { onText: () => began.resolve(undefined) }, caller));
      await began.promise;
      if (end === 'abort') caller.abort();
      else {
        caller.clock.advance(MODEL_LIMITS.idleMs);
        await caller.waits;
        caller.abort();
      }
      await answer;
      expect(caller.usage, end).to.deep.equal([REPORTED]);
    }
  });
});

async function findClosedAddress(): Promise<string> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, 'close');
  return `http://127.0.0.1:${port}`;
}

/** The messages of an error and of its causes. */
function flatten(error: unknown): string[] {
  return error instanceof Error ? [error.message, error.stack ?? '', ...flatten(error.cause)] : [];
}
