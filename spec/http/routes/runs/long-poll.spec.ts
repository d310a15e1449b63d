import { expect } from 'chai';
import { mock } from 'node:test';
import { eventLoopScheduler } from '../../../../lib/common/scheduling/event-loop-scheduler.js';
import fc from 'fast-check';
import { DEBOUNCE_MS, LongPolls, RECHECK_MS } from '../../../../lib/http/routes/runs/long-poll.js';
import { parsePipeline } from '../../../../lib/pipelines/load.js';
import { RunRegistry } from '../../../../lib/runs/registry.js';
import { settle } from '../../../support/deferred.js';
import { catchRejection } from '../../../support/rejection.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { ControlledTool } from '../../../support/controlled-tool.js';
import { type TestResponse, startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { cases } from '../../../support/measuring/cases.js';

interface RunState {
  readonly status: string;
  readonly settled: boolean;
}

describe('GET /pipelines/runs/{run_id}?wait= (D28)', () => {
  let controlled: ControlledTool;
  let server: TestServer;
  let clock: ManualClock;
  let runId: string;
  let idle: number;

  const poll = (query = '', etag?: string, signal?: AbortSignal): Promise<TestResponse<RunState>> =>
    signal === undefined
      ? server.request('GET', `/pipelines/runs/${runId}${query}`, undefined, {
          ...(etag !== undefined && { 'if-none-match': etag }),
        })
      : fetch(`${server.url}/pipelines/runs/${runId}${query}`, { signal }).then(() => {
          throw new Error('the server responded');
        });

  const getEtag = async (): Promise<string> => (await poll()).headers.get('etag') ?? '';

  /** Sends a long poll. Resolves once the server waits, with a function that returns the response. */
  async function startWaiting(
    query: string,
    etag?: string,
    signal?: AbortSignal,
  ): Promise<() => Promise<TestResponse<RunState>>> {
    const response = poll(query, etag, signal);
    response.catch(() => undefined);
    while (clock.pending === idle) await settle();
    return () => response;
  }

  beforeEach(async () => {
    controlled = new ControlledTool();
    clock = new ManualClock();
    server = await startTestServer({ tools: [controlled.tool], clock });
    const pipeline = {
      id: 'p',
      goal: 'g',
      tasks: [
        { id: 'a', tool: 'controlled' },
        { id: 'b', tool: 'controlled' },
      ],
    };
    ({ run_id: runId } = (
      await server.request<{ run_id: string }>('POST', '/pipelines/run_async', { pipeline })
    ).body);
    await settle();
    idle = clock.pending;
  });

  afterEach(async () => {
    let isClosed = false;
    const closing = server.close(0).then(() => {
      isClosed = true;
    });
    while (!isClosed) {
      clock.advance(DEBOUNCE_MS);
      await settle();
    }
    await closing;
  });

  it('responds at once without ?wait=, and with ?wait=0', async () => {
    expect((await poll()).body).to.include({ status: 'running', settled: false });
    expect((await poll('?wait=0', await getEtag())).status).to.equal(304);
    for (const wait of ['-1', '61', 'abc', '']) {
      expect((await poll(`?wait=${wait}`)).status, wait).to.equal(400);
    }
  });

  it('waits for the run to settle, ignoring other changes', async () => {
    const response = await startWaiting('?wait=30');
    const [first, second] = controlled.calls;
    first?.resolve(1);
    await settle();
    clock.advance(10_000);
    await settle();
    expect(clock.pending).to.equal(idle + 1);
    second?.resolve(1);
    const { status, body } = await response();
    expect([status, body.status, body.settled]).to.deep.equal([200, 'succeeded', true]);
    expect(clock.pending).to.equal(idle);
  });

  it('responds at once when the run has settled, with 304 if the client has that version', async () => {
    for (const call of controlled.calls) call.resolve(1);
    await server.registry.settled(runId);
    const { status, headers, body } = await poll('?wait=60');
    expect([status, body.settled]).to.deep.equal([200, true]);
    const etag = await poll('?wait=60', headers.get('etag') ?? '');
    expect([etag.status, etag.body, etag.headers.get('etag')]).to.deep.equal([
      304,
      undefined,
      headers.get('etag'),
    ]);
  });

  it('responds at once when the client has another version', async () => {
    const old = await getEtag();
    await controlled.returns(1);
    const { status, headers } = await poll('?wait=60', old);
    expect(status).to.equal(200);
    expect(headers.get('etag')).to.not.equal(old);
  });

  it('responds at the next change when the client has the current version', async () => {
    const etag = await getEtag();
    const response = await startWaiting('?wait=60', `"other", W/${etag}`);
    await controlled.returns(1);
    clock.advance(DEBOUNCE_MS);
    const { status, headers, body } = await response();
    expect([status, body.status]).to.deep.equal([200, 'running']);
    expect(headers.get('etag'))
      .to.equal(await getEtag())
      .and.not.equal(etag);
    expect(clock.pending).to.equal(idle);
  });

  it('treats If-None-Match: * as every version', async () => {
    const response = await startWaiting('?wait=5', '*');
    await controlled.returns(1);
    clock.advance(DEBOUNCE_MS);
    await settle();
    expect(clock.pending).to.be.above(idle);
    clock.advance(5000);
    expect((await response()).status).to.equal(304);
  });

  it('responds with the current record at the end of the time', async () => {
    const plain = await startWaiting('?wait=2.5');
    clock.advance(2499);
    await settle();
    expect(clock.pending).to.equal(idle + 1);
    clock.advance(1);
    const { status, body, headers } = await plain();
    expect([status, body.status]).to.deep.equal([200, 'running']);
    const etag = await startWaiting('?wait=2.5', headers.get('etag') ?? '');
    clock.advance(2500);
    expect((await etag()).status).to.equal(304);
    expect(clock.pending).to.equal(idle);
  });

  it('stops waiting when the client disconnects', async () => {
    const controller = new AbortController();
    await startWaiting('?wait=60', undefined, controller.signal);
    controller.abort();
    while (clock.pending > idle) await settle();
    while (!server.log.some(({ facts }) => facts['left'])) await settle();
    expect(server.log.at(-1)?.facts).to.include({ path: `/pipelines/runs/${runId}`, left: true });
    expect(server.log.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});

const PIPELINE = `{id: p, goal: g, tasks: [
  {id: a, tool: controlled, retry: 1}, {id: each, tool: controlled, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}},
  {id: put, tool: store, inputs: {key: k, value: "{{a.output}}"}}, {id: z, tool: controlled, await: [put, each]}]}`;

const ACT = fc.record({
  kind: fc.constantFrom('return', 'return', 'return', 'throw', 'wait', 'cancel', 'force', 'log'),
  at: fc.nat(20),
});

const shareOf = (total: number) => ({ total });

/** A registry, and a pipeline whose task the spec completes. */
function openRegistry() {
  const controlled = new ControlledTool();
  const clock = new ManualClock();
  const registry = new RunRegistry({ clock, eventBuffer: 100 });
  const pipeline = parsePipeline('{id: p, goal: g, tasks: [{id: a, tool: controlled}]}', {
    tools: [controlled.tool],
  });
  return { controlled, clock, registry, pipeline };
}

describe('LongPolls', () => {
  it('resolves at every change of the record, and only then', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ACT, { maxLength: 14 }), fc.boolean(), async (acts, collect_events) => {
        const controlled = new ControlledTool();
        const clock = new ManualClock();
        const registry = new RunRegistry({ clock, eventBuffer: 100 });
        const inputs = { list: [1, 2, 3] };
        const pipeline = parsePipeline(PIPELINE, { tools: [controlled.tool], inputs });
        const options = { fan_out_concurrency: 1 };
        const runId = await registry.submit({ pipeline, inputs, collect_events, options });
        await settle();
        for (const { kind, at } of acts) {
          const etag = registry.queries.version(runId);
          let isOver = false;
          const gone = new AbortController();
          const polls = new LongPolls({ queries: registry.queries, clock, shareOf });
          const isKnown = (version: string): boolean => version === etag;
          const startWaiting = polls.wait(runId, isKnown, 60_000, gone.signal).then(() => {
            isOver = true;
          });
          const call = controlled.calls[controlled.calls.length - 1 - (at % 3)];
          if (kind === 'wait') clock.advance(10_000);
          else if (kind === 'cancel' || kind === 'force') {
            await registry.cancel(runId, { force: kind === 'force' }).catch(() => undefined);
          } else if (kind === 'log') call?.context.log('still here');
          else if (kind === 'return') call?.resolve(at);
          else call?.reject(new Error('no luck'));
          await settle();
          clock.advance(DEBOUNCE_MS);
          await settle();
          const { settled } = registry.record(runId);
          expect(isOver).to.equal(registry.queries.version(runId) !== etag || settled);
          gone.abort();
          await startWaiting;
          if (settled) expect(clock.pending).to.equal(0);
        }
      }),
      cases(60),
    );
  });

  it('checks periodically for changes without an event', async () => {
    const { clock, registry, pipeline } = openRegistry();
    const runId = await registry.submit({ pipeline });
    await settle();
    let version = 'old';
    const { signal } = new AbortController();
    const polls = new LongPolls({
      queries: {
        version: () => version,
        events: (id) => registry.queries.events(id),
        tenantId: (id) => registry.queries.tenantId(id),
      },
      clock,
      shareOf,
    });
    const startWaiting = polls.wait(runId, (known) => known === 'old', 60_000, signal);
    clock.advance(RECHECK_MS);
    version = 'new';
    clock.advance(RECHECK_MS - 1);
    expect(clock.pending).to.equal(2);
    clock.advance(1);
    await startWaiting;
    expect(clock.pending).to.equal(0);
  });

  it('resolves when the run is deleted while it is running', async () => {
    const { clock, registry, pipeline } = openRegistry();
    const runId = await registry.submit({ pipeline });
    await settle();
    const etag = registry.queries.version(runId);
    const { signal } = new AbortController();
    const polls = new LongPolls({ queries: registry.queries, clock, shareOf });
    const startWaiting = polls.wait(runId, (version) => version === etag, 60_000, signal);
    registry.forget(runId);
    await startWaiting;
    expect(clock.pending).to.equal(0);
  });

  /** Thousands of polls on one run, and counters of what they cost. */
  async function pollByThousands(count: number, maxPolls?: number) {
    const { controlled, clock, registry, pipeline } = openRegistry();
    const submit = (tenant_id: string) => registry.submit({ pipeline, tenant_id });
    const runId = await submit('alice');
    await settle();
    const etag = registry.queries.version(runId);
    const calls = { version: 0, subscribe: 0, isKnown: 0 };
    const log = registry.queries.events(runId);
    const subscribe = log.subscribe.bind(log);
    log.subscribe = (subscriber) => {
      calls.subscribe++;
      return subscribe(subscriber);
    };
    const counted = {
      version: (id: string) => {
        calls.version++;
        return registry.queries.version(id);
      },
      events: (id: string) => registry.queries.events(id),
      tenantId: (id: string) => registry.queries.tenantId(id),
    };
    const share = (total: number) => ({ total, guaranteed: total / 10 });
    const polls = new LongPolls({ queries: counted, clock, shareOf: share }, maxPolls);
    const isKnown = (version: string): boolean => {
      calls.isKnown++;
      return version === etag;
    };
    const waitForEnd = (id = runId) => polls.wait(id, undefined, 60_000, new AbortController().signal);
    const waitForChange = () => polls.wait(runId, isKnown, 60_000, new AbortController().signal);
    let over = 0;
    const waiting = Array.from({ length: count }, async () => {
      await waitForChange();
      over++;
    });
    Object.assign(calls, { version: 0, isKnown: 0 });
    return {
      controlled,
      clock,
      registry,
      submit,
      runId,
      calls,
      waitForEnd,
      waitForChange,
      waiting,
      over: () => over,
    };
  }

  it('asks once for a burst of events, however many requests wait for the run', async () => {
    const { controlled, clock, calls, over } = await pollByThousands(3000);
    expect(calls.subscribe).to.equal(1);
    expect(clock.pending).to.equal(3001);
    for (let count = 0; count < 1000; count++) controlled.last.context.log('nothing new');
    clock.advance(DEBOUNCE_MS);
    clock.advance(DEBOUNCE_MS);
    expect(calls).to.include({ version: 1, isKnown: 0 });
    expect(clock.pending).to.equal(3001);
    expect(over()).to.equal(0);
  });

  it('lets the waiting requests continue in slices, at a change and at the end of the run', async () => {
    const { controlled, clock, registry, runId, calls, waitForEnd, waiting, over } =
      await pollByThousands(1000);
    const wait = mock.method(eventLoopScheduler, 'wait');
    const countSlices = (): number =>
      wait.mock.calls.filter((call) => call.arguments[1] === 'requests').length;
    void registry.cancel(runId);
    await settle();
    clock.advance(DEBOUNCE_MS);
    await Promise.all(waiting);
    expect(over()).to.equal(1000);
    expect(calls).to.include({ version: 1, isKnown: 1000 });
    expect(countSlices()).to.equal(1000);
    const ends = Array.from({ length: 1000 }, () => waitForEnd());
    await controlled.returns(1);
    await Promise.all(ends);
    expect(countSlices()).to.equal(2000);
    wait.mock.restore();
    expect(clock.pending).to.equal(0);
  });

  it('limits the waiting requests, with a share for every tenant (D25)', async () => {
    const { controlled, registry, submit, waitForEnd, waitForChange, waiting } = await pollByThousands(
      50,
      50,
    );
    const refused = await catchRejection(waitForChange());
    expect(refused).to.include({ code: 'too_many_streams' });
    expect(refused).to.have.property('message').that.contains('50 requests wait for runs already');
    const other = await submit('bob');
    await settle();
    const granted = Array.from({ length: 5 }, () => waitForEnd(other));
    expect(await catchRejection(waitForEnd(other))).to.include({ code: 'too_many_streams' });
    for (const call of controlled.calls) call.resolve(1);
    await registry.settled(other);
    await Promise.all([...waiting, ...granted]);
    await waitForChange();
  });
});
