import { expect } from 'chai';
import { type RunRecord, WavetrainClient, WavetrainError } from '../../lib/client/index.js';
import { ControlledTool } from '../support/controlled-tool.js';
import { catchRejection } from '../support/rejection.js';
import { type TestServer, startTestServer } from '../support/http/test-server.js';
import { createApiKey } from '../support/http/api-key.js';

const HELLO = {
  id: 'hello',
  goal: 'greet {{params.name}}',
  params: { name: { default: 'world' } },
  tasks: [{ id: 'greet', tool: 'mock', inputs: { text: 'Hello, {{params.name}}!' } }],
};
const HELLO_YAML = 'pipeline:\n  id: hello\n  goal: greet\n  tasks:\n    - {id: greet, tool: mock}\n';
const BROKEN = { id: 'broken', goal: 'g', tasks: [{ id: 'a', tool: 'nothing' }] };
const FAILING = { id: 'failing', goal: 'g', tasks: [{ id: 'a', tool: 'fail', inputs: { message: 'no' } }] };

describe('WavetrainClient against a server', () => {
  let server: TestServer;
  let client: WavetrainClient;
  const controlled = new ControlledTool();

  before(async () => {
    server = await startTestServer({ tools: [controlled.tool] });
    client = new WavetrainClient({ url: `${server.url}/` });
  });

  after(() => server.close(0));

  const held = (): Promise<{ run_id: string }> =>
    client.submit({ pipeline: { id: 'held', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] } });

  it('reads its health and its tools', async () => {
    expect(await client.health()).to.deep.equal({ status: 'ok' });
    const { tools, metadata } = await client.tools();
    expect(tools).to.include.members(['mock', 'store', 'controlled']);
    expect(metadata.map(({ name }) => name)).to.deep.equal(tools);
  });

  it('validates pipelines: objects, and text with line numbers (D33)', async () => {
    expect(await client.validate(HELLO)).to.deep.include({ ok: true, errors: null });
    expect((await client.validate(HELLO_YAML)).stats).to.include({ id: 'hello', tasks: 1 });
    const report = await client.validate('id: p\ngoal: g\ntasks:\n  - {id: a, tool: nothing}\n');
    expect(report.ok).to.be.false;
    expect(report.problems[0]).to.include({ code: 'unknown_tool', line: 4 });
    const reading = { ...HELLO, tasks: [{ id: 'a', tool: 'mock', inputs: { x: '{{session.x}}' } }] };
    expect((await client.validate(reading)).problems).not.to.deep.equal([]);
    expect((await client.validate(reading, { session: { x: 1 } })).problems).to.deep.equal([]);
  });

  it('returns graphs as data, Mermaid and DOT', async () => {
    expect((await client.graph(HELLO)).waves).to.deep.equal([
      [{ id: 'greet', tool: 'mock', fan_out: false }],
    ]);
    expect(await client.graph(HELLO_YAML, { format: 'mermaid' })).to.match(/flowchart/);
    expect(await client.graph(HELLO_YAML, { format: 'dot' })).to.match(/^digraph/);
  });

  it('runs a pipeline, as an object or as YAML, and waits for its result', async () => {
    const result = await client.run({ pipeline: HELLO, params: { name: 'Ada' }, collect_events: true });
    expect(result.outputs['greet']).to.deep.include({ inputs: { text: 'Hello, Ada!' } });
    expect(result.events?.map(({ kind }) => kind)).to.deep.equal(['start', 'finish']);
    expect((await client.run(HELLO_YAML)).tasks_executed).to.equal(1);
  });

  it('rejects with every failure of a failed run (D16)', async () => {
    const error = await catchRejection(client.run({ pipeline: FAILING }));
    expect(error).to.be.instanceOf(WavetrainError);
    expect(error).to.include({ name: 'FailedRunError', code: 'task_failed', status: 500, task_id: 'a' });
    expect(error)
      .to.include({ error: 'no' })
      .and.to.have.property('run_id')
      .that.matches(/^[0-9a-f-]{36}$/);
    expect(error)
      .to.have.property('failures')
      .that.deep.equals([{ task_id: 'a', error: 'no', attempts: 1 }]);
  });

  it('submits a run, waits until it has settled, and reads its record and snapshot', async () => {
    const { run_id, status } = await client.submit({ pipeline: HELLO, tenant_id: 'acme' });
    expect(['queued', 'running', 'succeeded']).to.include(status);
    const record = await client.settled(run_id);
    expect(record).to.include({ run_id, status: 'succeeded', settled: true, tenant_id: 'acme' });
    expect(await client.record(run_id)).to.deep.equal(record);
    expect(await client.snapshot(run_id)).to.have.property('status');
    expect((await client.settled((await client.submit(HELLO_YAML)).run_id)).pipeline_id).to.equal('hello');
  });

  it('runs a definition as text with other values beside it, and reports problems with their lines (D33)', async () => {
    const yaml =
      'id: p\ngoal: g\nparams: {n: {}}\ntasks:\n  - {id: a, tool: mock, inputs: {n: "{{params.n}}"}}\n';
    const { outputs } = await client.run({ pipeline: yaml, params: { n: 'x' } });
    expect(outputs['a']).to.deep.include({ inputs: { n: 'x' } });
    const error = await catchRejection(client.submit({ pipeline: yaml.replace('mock', 'mok'), params: {} }));
    expect(error).to.have.nested.property('detail.problems[0].line', 5);
  });

  it('gets the same run for the same idempotency key, and an error for another body (D36)', async () => {
    const submit = (name: string): Promise<{ run_id: string }> =>
      client.submit({ pipeline: HELLO, params: { name } }, { idempotencyKey: 'once' });
    const [first, second] = [await submit('Ada'), await submit('Ada')];
    expect(second.run_id).to.equal(first.run_id);
    expect(await catchRejection(submit('Eve'))).to.include({ code: 'idempotency_conflict', status: 409 });
  });

  it('reads a record only if it has changed', async () => {
    const { run_id } = await client.submit({ pipeline: HELLO });
    await client.settled(run_id);
    const { record, etag } = await client.changed(run_id);
    expect(record).to.include({ run_id, settled: true });
    expect(etag).to.match(/^"/);
    expect(await client.changed(run_id, { etag })).to.deep.equal({ record: null, etag });
    expect((await client.changed(run_id, { etag: '"older"', wait: 1 })).record).to.deep.equal(record);
  });

  it('lists runs, one page or all of them, newest first', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) {
      ids.unshift((await client.submit({ pipeline: { ...HELLO, id: 'listed' } })).run_id);
    }
    const page = await client.list({ pipeline_id: 'listed', limit: 2 });
    expect(page.runs.map(({ run_id }) => run_id)).to.deep.equal(ids.slice(0, 2));
    const all: string[] = [];
    for await (const { run_id } of client.runs({ pipeline_id: 'listed', limit: 2 })) all.push(run_id);
    expect(all).to.deep.equal(ids);
    const { next_cursor } = page;
    const rest = await client.list({ pipeline_id: 'listed', limit: 9, cursor: next_cursor ?? '' });
    expect(rest.runs.map(({ run_id }) => run_id)).to.deep.equal(ids.slice(2));
  });

  it('cancels a run, cooperatively or by force (D21)', async () => {
    const { run_id } = await held();
    const cancelled = await client.cancel(run_id);
    expect(cancelled).to.include({ run_id, status: 'cancelled' });
    if (!cancelled.settled) await client.cancel(run_id, { force: true });
    await client.settled(run_id);
    expect(await catchRejection(client.cancel(run_id))).to.include({
      code: 'run_already_terminal',
      status: 400,
    });
  });

  it('reruns a run from its failed tasks, and deletes it (D35)', async () => {
    const { run_id } = await client.submit({ pipeline: FAILING });
    await client.settled(run_id);
    const again = await client.rerun(run_id, { from: 'failed' });
    const record: RunRecord = await client.settled(again.run_id);
    expect(record).to.include({ rerun_of: run_id, status: 'failed', error: 'no' });
    expect((await client.settled((await client.rerun(run_id)).run_id)).rerun_of).to.equal(run_id);
    await client.remove(run_id);
    expect(await catchRejection(client.record(run_id))).to.include({ code: 'run_not_found', status: 404 });
  });

  it('shows the graph, the definition and the session of a run, and what a rerun would do (D59, D60)', async () => {
    const tasks = [{ id: 'keep', tool: 'store', inputs: { key: 'k', value: 'v' } }];
    const pipeline = { id: 'p', goal: 'g', tasks };
    const { run_id } = await client.submit({ pipeline, session: { s: 1 } });
    await client.settled(run_id);
    expect(await client.runGraph(run_id)).to.deep.equal({
      kind: 'pipeline',
      graph: await client.graph(pipeline),
    });
    const { yaml, definition, session } = await client.definition(run_id);
    expect([definition, session]).to.deep.equal([pipeline, { s: 1 }]);
    expect((await client.blackboard(run_id, { whole: true })).after).to.deep.equal({ s: 1, k: 'v' });
    const fixed = yaml?.replace('value: v', 'value: w') ?? '';
    expect(await client.previewRerun(run_id, { pipeline: fixed })).to.deep.include({ reused: [] });
    expect(await catchRejection(client.previewRerun(run_id, { pipeline: yaml ?? '' }))).to.include({
      code: 'nothing_to_rerun',
    });
    const found = await client.list({ text: run_id, counts: true, created_after: '2020-01-01T00:00Z' });
    expect(found.runs.map((run) => run.run_id)).to.deep.equal([run_id]);
    expect([found.counts?.succeeded, found.queue]).to.deep.equal([1, { queued: 0, waits_for: null }]);
  });

  it('reruns a run with a changed definition, as an object or as text, and with other values (D60)', async () => {
    const task = (name: string, tool: string): object => ({
      id: name,
      tool,
      inputs: { message: '{{params.p}}' },
    });
    const definition = (tool: string): object => ({
      id: 'fixed',
      goal: 'g',
      params: { p: { default: 'x' } },
      tasks: [
        { id: 'kept', tool: 'mock' },
        { ...task('broken', tool), await: ['kept'] },
      ],
    });
    const { run_id } = await client.submit({ pipeline: definition('fail') });
    await client.settled(run_id);
    for (const pipeline of [definition('mock'), JSON.stringify(definition('mock'))]) {
      const accepted = await client.rerun(run_id, { pipeline, params: { p: 'y' } });
      expect(accepted.rerun?.reused).to.deep.equal([{ task_id: 'kept' }]);
      const { result } = await client.settled(accepted.run_id);
      expect(result?.outputs?.['broken']).to.deep.include({ inputs: { message: 'y' } });
    }
    expect(await catchRejection(client.rerun(run_id, { pipeline: 'id: 1' }))).to.include({
      code: 'invalid_definition',
    });
  });

  it('reads the events of a run to its end, from the first or from a later one (D30)', async () => {
    const { run_id } = await client.submit({ pipeline: HELLO });
    const kinds: string[] = [];
    let last = 0;
    for await (const event of client.events(run_id)) {
      kinds.push(event.kind);
      if (event.kind !== 'gap') last = event.seq;
    }
    expect(kinds).to.include.members(['run', 'wave', 'start', 'finish']);
    const rest: unknown[] = [];
    for await (const event of client.events(run_id, { after: last - 1 })) rest.push(event);
    expect(rest).to.have.length(1);
    for await (const event of client.events(run_id, { after: last })) rest.push(event);
    expect(rest).to.have.length(1);
  });

  it('rejects with every problem of an invalid definition (D8)', async () => {
    const error = await catchRejection(client.submit({ pipeline: BROKEN }));
    expect(error).to.include({
      name: 'RequestError',
      code: 'invalid_definition',
      status: 400,
      fault: 'caller',
    });
    expect(error).to.have.nested.property('detail.problems[0].code', 'unknown_tool');
    expect(await catchRejection(client.run({ pipeline: HELLO, params: { nobody: 1 } }))).to.include({
      code: 'invalid_params',
    });
  });

  it('rejects run ids that would lead to another path', async () => {
    for (const id of ['', '.', '..', '../../health', 'a/b', '%2e%2e', 'x?y', 'ü']) {
      expect(await catchRejection(client.record(id)), id).to.include({ code: 'run_not_found' });
    }
  });

  it('rejects with the reason of an aborted signal, before and during the request', async () => {
    const { run_id } = await held();
    const reason = new Error('enough');
    for (const wait of [
      (signal: AbortSignal) => client.settled(run_id, { signal }),
      (signal: AbortSignal) => client.record(run_id, { signal, wait: 30 }),
      (signal: AbortSignal) => client.changed(run_id, { signal }),
      (signal: AbortSignal) => client.list({ signal }),
      (signal: AbortSignal) => client.run({ pipeline: HELLO }, { signal }),
      (signal: AbortSignal) => client.submit({ pipeline: HELLO }, { signal, idempotencyKey: 'gone' }),
      (signal: AbortSignal) => client.cancel(run_id, { signal }),
      (signal: AbortSignal) => client.rerun(run_id, { signal }),
      (signal: AbortSignal) => client.remove(run_id, { signal }),
      (signal: AbortSignal) => client.events(run_id, { signal }).next(),
    ]) {
      expect(await catchRejection(wait(AbortSignal.abort(reason)))).to.equal(reason);
    }
    const controller = new AbortController();
    const waiting = catchRejection(client.settled(run_id, { signal: controller.signal }));
    controller.abort(reason);
    expect(await waiting).to.equal(reason);
    await client.cancel(run_id, { force: true });
  });
});

describe('WavetrainClient and API keys (D37)', () => {
  const key = createApiKey('ada', ['default'], ['read', 'run'], 'wt_secret');

  it('sends its key, and rejects when the server does not accept it', async () => {
    const server = await startTestServer({ keys: [key] });
    const known = new WavetrainClient({ url: server.url, key: 'wt_secret' });
    expect((await known.list()).runs).to.deep.equal([]);
    for (const stranger of [{}, { key: 'wt_other' }]) {
      const client = new WavetrainClient({ url: server.url, ...stranger });
      expect(await catchRejection(client.list())).to.include({ code: 'unauthorized', status: 401 });
    }
    await server.close(0);
  });

  it('rejects a key that no header can carry, without repeating it', () => {
    expect(() => new WavetrainClient({ key: 'wt_se cret' }))
      .to.throw(WavetrainError, 'invalid API key')
      .that.satisfies(({ message }: Error) => !message.includes('wt_se'));
  });

  for (const url of ['nowhere', 'ftp://127.0.0.1', 'http://ada:pass@127.0.0.1:1']) {
    it(`rejects ${url} as the address of a server`, () => {
      expect(() => new WavetrainClient({ url }))
        .to.throw(WavetrainError)
        .that.includes({ code: 'bad_usage' });
    });
  }
});
