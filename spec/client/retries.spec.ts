import { expect } from 'chai';
import { type ClientOptions, WavetrainClient } from '../../lib/client/index.js';
import { settle } from '../support/deferred.js';
import { ManualClock } from '../support/manual-clock.js';
import { catchRejection } from '../support/rejection.js';

const LOST = new TypeError('fetch failed', {
  cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
});
const DONE = { run_id: 'r', status: 'queued' };

function busy(headers: Record<string, string> = {}): Response {
  const detail = { code: 'shutting_down', message: 'the server is shutting down' };
  return Response.json({ detail }, { status: 503, headers });
}

/** A client with one scripted response per request. */
function scripted(
  ends: readonly (Response | Error)[],
  options: ClientOptions = {},
): { client: WavetrainClient; clock: ManualClock; sent: RequestInit[] } {
  const clock = new ManualClock();
  const sent: RequestInit[] = [];
  const left = [...ends];
  const answer: typeof fetch = (_, init = {}) => {
    sent.push(init);
    const next = left.shift() ?? Response.json(DONE);
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  };
  return { client: new WavetrainClient({ fetch: answer, clock, ...options }), clock, sent };
}

async function after(clock: ManualClock, ms: number): Promise<void> {
  await settle();
  clock.advance(ms);
  await settle();
}

describe('WavetrainClient retries', () => {
  it('retries a GET after delays that double', async () => {
    const { client, clock, sent } = scripted([LOST, busy(), LOST]);
    const record = client.record('r');
    const counts: number[] = [];
    for (const ms of [249, 1, 499, 1, 999, 1]) {
      await after(clock, ms);
      counts.push(sent.length);
    }
    expect(counts).to.deep.equal([1, 2, 2, 3, 3, 4]);
    expect(await record).to.deep.equal(DONE);
  });

  it('gives up after the fourth attempt', async () => {
    const { client, clock, sent } = scripted([LOST, LOST, LOST, LOST, LOST]);
    const lost = catchRejection(client.health());
    for (let count = 0; count < 6; count++) await after(clock, 10_000);
    expect(await lost).to.include({ code: 'server_unreachable', status: undefined });
    expect(sent).to.have.length(4);
  });

  it('waits for the end of a run while a server that was there is started again', async () => {
    const settled = { run_id: 'r', status: 'succeeded', settled: true };
    const ends = [Response.json(DONE), LOST, LOST, busy(), LOST, Response.json(settled)];
    const { client, clock, sent } = scripted(ends, { retries: 0 });
    const { run_id } = await client.record('r');
    const record = client.settled(run_id);
    for (let count = 0; count < 6; count++) await after(clock, 10_000);
    expect(await record).to.deep.equal(settled);
    expect(sent).to.have.length(6);
  });

  it('does not wait for a server that never answered', async () => {
    const { client } = scripted([LOST], { retries: 0 });
    expect(await catchRejection(client.settled('r'))).to.have.property('code', 'server_unreachable');
  });

  it('waits for the Retry-After of the server, in seconds or as a date', async () => {
    const date = new Date(Date.UTC(2026, 0, 1, 0, 0, 10)).toUTCString();
    const { client, clock, sent } = scripted([busy({ 'retry-after': '5' }), busy({ 'retry-after': date })]);
    const page = client.list();
    await after(clock, 4999);
    expect(sent).to.have.length(1);
    await after(clock, 1);
    expect(sent).to.have.length(2);
    await after(clock, 4999);
    expect(sent).to.have.length(2);
    await after(clock, 1);
    expect(await page).to.deep.equal(DONE);
  });

  it('gives up when Retry-After is too long', async () => {
    const { client, sent } = scripted([busy({ 'retry-after': '3600' })]);
    expect(await catchRejection(client.list())).to.include({
      code: 'shutting_down',
      retryAfterMs: 3_600_000,
    });
    expect(sent).to.have.length(1);
  });

  const keyed: Record<string, (client: WavetrainClient) => Promise<unknown>> = {
    'a run that is waited for': (client) => client.run({ pipeline: { id: 'p' } }, { idempotencyKey: 'once' }),
    'a plan that is waited for': (client) =>
      client.runPlan({ plan: { id: 'p' } }, { idempotencyKey: 'once' }),
    'a submission': (client) => client.submit({ pipeline: { id: 'p' } }, { idempotencyKey: 'once' }),
    'the submission of a plan': (client) =>
      client.submitPlan({ plan: { id: 'p' } }, { idempotencyKey: 'once' }),
    'a rerun': (client) => client.rerun('r', { from: 'failed', idempotencyKey: 'once' }),
  };
  for (const [what, ask] of Object.entries(keyed)) {
    it(`retries ${what} with an idempotency key, under the same key (D36)`, async () => {
      const { client, clock, sent } = scripted([LOST, busy()]);
      const submitted = ask(client);
      await after(clock, 250);
      await after(clock, 500);
      expect(await submitted).to.deep.equal(DONE);
      expect(sent.map(({ headers }) => new Headers(headers).get('idempotency-key'))).to.deep.equal(
        Array<string>(3).fill('once'),
      );
      expect(new Set(sent.map(({ body }) => body)).size).to.equal(1);
    });
  }

  const once: Record<string, (client: WavetrainClient) => Promise<unknown>> = {
    'a run that is waited for without a key': (client) => client.run({ pipeline: {} }),
    'a submission without a key': (client) => client.submit({ pipeline: {} }),
    'a plan that is waited for without a key': (client) => client.runPlan({ plan: {} }),
    'the submission of a plan without a key': (client) => client.submitPlan({ plan: {} }),
    'a cancellation': (client) => client.cancel('r'),
    'a rerun without a key': (client) => client.rerun('r'),
    'a removal': (client) => client.remove('r'),
  };
  for (const [what, ask] of Object.entries(once)) {
    it(`never retries ${what}`, async () => {
      for (const end of [LOST, busy({ 'retry-after': '1' })]) {
        const { client, clock, sent } = scripted([end]);
        const error = await catchRejection(ask(client));
        expect(error).to.have.property('name', 'RequestError');
        expect(sent).to.have.length(1);
        expect(clock.pending).to.equal(0);
      }
    });
  }

  it('does not retry permanent errors', async () => {
    const gone = Response.json({ detail: { code: 'run_not_found', message: 'no' } }, { status: 404 });
    const { client, sent } = scripted([gone]);
    expect(await catchRejection(client.record('r'))).to.include({
      code: 'run_not_found',
      retryAfterMs: undefined,
    });
    expect(sent).to.have.length(1);
  });

  it('does not retry when retries is 0, or when aborted during the delay', async () => {
    const { client, sent } = scripted([LOST], { retries: 0 });
    await catchRejection(client.health());
    expect(sent).to.have.length(1);
    const other = scripted([LOST]);
    const controller = new AbortController();
    const waiting = catchRejection(other.client.health({ signal: controller.signal }));
    await settle();
    expect(other.clock.pending).to.equal(1);
    controller.abort(new Error('enough'));
    expect(await waiting).to.have.property('message', 'enough');
    expect(other.clock.pending).to.equal(0);
  });
});

describe('WavetrainClient waiting for a run', () => {
  it('repeats the long poll, with a delay for servers that respond at once', async () => {
    const atWork = (): Response => Response.json({ settled: false });
    const { client, clock, sent } = scripted([atWork(), atWork(), Response.json({ settled: true })]);
    const record = client.settled('r');
    await after(clock, 249);
    expect(sent).to.have.length(1);
    await after(clock, 1);
    expect(sent).to.have.length(2);
    await after(clock, 250);
    expect(await record).to.deep.equal({ settled: true });
  });

  it('reconnects an event stream that is idle for 45 seconds', async () => {
    const silent = (): Response =>
      new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } });
    const clock = new ManualClock();
    const signals: AbortSignal[] = [];
    const answers: typeof fetch = (_, init) => {
      if (init?.signal) signals.push(init.signal);
      return signals.length > 1
        ? Promise.resolve(new Response(null, { status: 204 }))
        : Promise.resolve(abortable(silent(), init?.signal ?? undefined));
    };
    const client = new WavetrainClient({ fetch: answers, clock });
    const over = client.events('r').next();
    await after(clock, 44_999);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false]);
    await after(clock, 1);
    await after(clock, 250);
    expect(await over).to.deep.equal({ done: true, value: undefined });
    expect(signals).to.have.length(2);
    expect(clock.pending).to.equal(0);
  });
});

/** A response whose body fails when its request is aborted, like that of `fetch`. */
function abortable(response: Response, signal: AbortSignal | undefined): Response {
  const body = new ReadableStream({
    start: (controller) => {
      signal?.addEventListener('abort', () => controller.error(signal.reason));
    },
  });
  return new Response(body, { headers: response.headers });
}
