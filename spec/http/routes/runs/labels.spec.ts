import { expect } from 'chai';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { RunRecord } from '../../../../lib/runs/record.js';
import type { RunPage } from '../../../../lib/runs/views/run-listing.js';
import { createDisk, MemoryStore } from '../../../runs/store/memory/memory-store.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

const TASKS = [{ id: 'a', tool: 'mock' }];
const LABELS = { team: 'billing', stage: '{{params.none}}' };
const PIPELINE = { id: 'p', goal: 'g', labels: LABELS, tasks: TASKS };
const PLAN = {
  id: 'q',
  labels: { team: 'ops' },
  sub_pipelines: [{ id: 'a', pipeline: { ...PIPELINE, labels: { inner: 'x' } } }],
};

describe('Labels of runs over HTTP (D76)', () => {
  const folder = new TemporaryFolder();
  let server: TestServer;
  before(async () => {
    folder.write('named.yaml', JSON.stringify({ ...PIPELINE, id: 'named' }));
    server = await startTestServer({ env: { SERVICE_PIPELINES: folder.path } });
    await server.restored;
  });
  after(async () => {
    await server.close(0);
    folder.remove();
  });

  /** Starts a run, waits until it has settled, and reads its record. */
  const start = async (path: string, body: object, to = server): Promise<RunRecord> => {
    const accepted = await to.request<{ run_id: string }>('POST', path, body);
    expect(accepted.status, JSON.stringify(accepted.body)).to.equal(202);
    await to.registry.settled(accepted.body.run_id);
    return (await to.request<RunRecord>('GET', `/pipelines/runs/${accepted.body.run_id}`)).body;
  };
  const list = async (query: string, from = server): Promise<string[]> => {
    const page = await from.request<RunPage>('GET', `/pipelines/runs?${query}`);
    expect(page.status, JSON.stringify(page.body)).to.equal(200);
    return page.body.runs.map(({ run_id }) => run_id);
  };
  const refusal = async (method: string, path: string, body?: object): Promise<ErrorBody['detail']> => {
    const refused = await server.request<ErrorBody>(method, path, body);
    expect(refused.status, path).to.equal(400);
    return refused.body.detail;
  };

  for (const [path, body, expected] of [
    ['/pipelines/run_async', { pipeline: PIPELINE }, LABELS],
    ['/pipelines/run_async', { pipeline: { ...PIPELINE, labels: null }, labels: null }, {}],
    ['/pipelines/run_async', { pipeline: PIPELINE, labels: { team: 'b' } }, { ...LABELS, team: 'b' }],
    ['/plans/run_async', { plan: PLAN, labels: { x: 'y' } }, { team: 'ops', x: 'y' }],
    ['/pipelines/named/run_async', { labels: { team: 'c' } }, { ...LABELS, team: 'c' }],
  ] as const) {
    it(`are in the record: POST ${path} ${JSON.stringify(body)}`, async () => {
      expect((await start(path, body)).labels).to.deep.equal(expected);
    });
  }

  it('are in the record of a run that a request waits for', async () => {
    const { status, headers } = await server.request('POST', '/pipelines/run', {
      pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'fail', inputs: { message: 'no' } }] },
      labels: { waits: 'yes' },
    });
    expect(status).to.equal(500);
    expect(await list('label=waits:yes')).to.deep.equal([headers.get('wavetrain-run-id')]);
  });

  it('select runs in lists: each that is given must match, whatever else is asked for', async () => {
    const label = { only: crypto.randomUUID() };
    const only = `label=only:${label.only}`;
    const first = (await start('/pipelines/run_async', { pipeline: PIPELINE, labels: label })).run_id;
    const second = (
      await start('/pipelines/run_async', { pipeline: PIPELINE, labels: { ...label, url: 'http://x?a=b' } })
    ).run_id;
    expect(await list(only)).to.deep.equal([second, first]);
    expect(await list(`${only}&label=url:http%3A%2F%2Fx%3Fa%3Db`)).to.deep.equal([second]);
    expect(await list(`${only}&label=team:billing&pipeline_id=p&text=G`)).to.deep.equal([second, first]);
    for (const others of ['label=team:ops', 'status=failed', 'pipeline_id=q', 'label=only:x']) {
      expect(await list(`${only}&${others}`), others).to.deep.equal([]);
    }
    const { counts } = (await server.request<RunPage>('GET', `/pipelines/runs?counts=true&${only}`)).body;
    expect(counts).to.deep.include({ succeeded: 2, failed: 0 });
    expect(await list(`text=Only:${label.only.toUpperCase()}`), 'a search').to.deep.equal([second, first]);
  });

  it('stay those of the run that a rerun repeats, unless it brings others: labels alone change nothing else', async () => {
    const earlier = await start('/pipelines/run_async', { pipeline: PIPELINE, labels: { a: '1', b: '2' } });
    const rerun = (body: object): Promise<RunRecord> =>
      start(`/pipelines/runs/${earlier.run_id}/rerun`, body);
    expect((await rerun({})).labels).to.deep.equal({ ...LABELS, a: '1', b: '2' });
    const labelled = await rerun({ labels: { b: '3' } });
    expect(labelled.labels).to.deep.equal({ ...LABELS, a: '1', b: '3' });
    expect(labelled.progress.invocations, 'everything runs again').to.equal(1);
    const pipeline = { ...PIPELINE, labels: { team: 'new' }, tasks: [{ id: 'b', tool: 'mock' }] };
    expect((await rerun({ pipeline })).labels).to.deep.equal({ team: 'new', a: '1', b: '2' });
    const plan = await start('/plans/run_async', { plan: PLAN, labels: { x: 'y' } });
    const again = await start(`/pipelines/runs/${plan.run_id}/rerun`, {});
    expect(again.labels).to.deep.equal({ team: 'ops', x: 'y' });
  });

  for (const [labels, problem] of [
    [{ 'my team': 'a' }, 'field "labels" may not contain "my team"'],
    [{ team: 1 }, 'field "labels.team" must be a string'],
    [{ team: 'x'.repeat(129) }, 'field "labels.team" must have at most 128 characters'],
    [{ team: 'a\nb' }, 'field "labels.team" must match'],
    [['a'], 'field "labels" must be an object or null'],
  ] as const) {
    it(`are refused: ${JSON.stringify(labels).slice(0, 40)}`, async () => {
      const { code, message } = await refusal('POST', '/pipelines/run_async', { pipeline: PIPELINE, labels });
      expect(code).to.equal('invalid_request');
      expect(message).to.contain(problem);
    });
  }

  it('are refused when they are too many with those of the definition', async () => {
    const labels = Object.fromEntries(Array.from({ length: 19 }, (_, n) => [`n${n}`, '']));
    const { code, message } = await refusal('POST', '/pipelines/run_async', { pipeline: PIPELINE, labels });
    expect(code).to.equal('invalid_options');
    expect(message).to.contain('at most 20 with those of the definition; there are 21');
  });

  it('are refused in filters without a colon, and when they are too many', async () => {
    const { message } = await refusal('GET', '/pipelines/runs?label=team');
    expect(message).to.contain('"label" must be the name of a label, a colon and its value');
    const many = Array.from({ length: 21 }, (_, n) => `label=n${n}:`).join('&');
    expect((await refusal('GET', `/pipelines/runs?${many}`)).message).to.contain('at most 20 items');
    expect((await refusal('GET', '/pipelines/runs?status=failed&status=failed')).message).to.contain(
      '"status"',
    );
  });

  it('are kept for the next process, in which those of an earlier version have none', async () => {
    const disk = createDisk();
    const first = await startTestServer({ store: new MemoryStore(disk) });
    await first.restored;
    const submit = { pipeline: PIPELINE, labels: { a: '1' }, breakpoints: { before: ['a'] } };
    const { run_id } = (await first.request<{ run_id: string }>('POST', '/pipelines/run_async', submit)).body;
    const settled = await start('/pipelines/run_async', { pipeline: PIPELINE, labels: { a: '1' } }, first);
    const old = await start('/pipelines/run_async', { pipeline: { ...PIPELINE, labels: null } }, first);
    await first.close(0);
    const second = await startTestServer({ store: new MemoryStore(disk) });
    try {
      await second.restored;
      expect(await list('label=a:1&label=team:billing', second)).to.deep.equal([settled.run_id, run_id]);
      for (const [id, labels] of [
        [run_id, { ...LABELS, a: '1' }],
        [settled.run_id, { ...LABELS, a: '1' }],
        [old.run_id, {}],
      ] as const) {
        const { body } = await second.request<RunRecord>('GET', `/pipelines/runs/${id}`);
        expect(body.labels).to.deep.equal(labels);
      }
    } finally {
      await second.close(0);
    }
  });
});
