import { expect } from 'chai';
import { mkdirSync, readFileSync } from 'node:fs';
import type { ApiKey } from '../../../../lib/http/auth/authenticate.js';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { NamedPipeline } from '../../../../lib/library/named-pipeline.js';
import { itTimed, measureCpuMs } from '../../../support/measuring/cpu-time.js';
import { startTestServer, type TestResponse, type TestServer } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { createApiKey } from '../../../support/http/api-key.js';

interface Page {
  readonly enabled: boolean;
  readonly writable: boolean;
  readonly pipelines: NamedPipeline[];
  readonly next_cursor: string | null;
}

const GREET = `
pipeline:
  id: greet
  goal: Greet {{params.name}}
  description: Says hello.
  params:
    name: {type: string, description: who, default: Ada}
    times: {type: integer}
  inputs: {language: en}
  schedule: ["0 6 * * 1-5"]
  timezone: Europe/Berlin
  tasks:
    - {id: a, tool: mock, inputs: {text: "{{params.name}} {{params.times}} {{pipeline.inputs.language}}"}}
    - {id: b, tool: mock, inputs: {text: "{{a.output.inputs.text}}"}}
`;

const PLAN = 'plan: {id: two, goal: both, inputs: {x: 1}, sub_pipelines: [{id: one, inputs: [x]}]}';
const ONE =
  'pipeline: {id: one, goal: g, tasks: [{id: a, tool: mock, inputs: {x: "{{pipeline.inputs.x}}"}}]}';

const simple = (id: string): string => `pipeline: {id: ${id}, goal: g, tasks: [{id: a, tool: mock}]}`;

describe('The pipelines and plans of the server (D69)', () => {
  let folder: TemporaryFolder;
  let server: TestServer;
  const start = async (keys?: readonly ApiKey[]): Promise<void> => {
    mkdirSync(folder.at('pipelines'), { recursive: true });
    server = await startTestServer({
      env: { SERVICE_PIPELINES: folder.at('pipelines'), SERVICE_PIPELINES_WRITABLE: 'true' },
      ...(keys && { keys }),
    });
    await server.restored;
  };
  beforeEach(() => {
    folder = new TemporaryFolder();
  });
  afterEach(async () => {
    await server.close(0);
    folder.remove();
  });
  const write = (file: string, text: string): string => folder.write(`pipelines/${file}`, text);
  const get = <T = NamedPipeline>(path: string, headers?: Record<string, string>): Promise<TestResponse<T>> =>
    server.request<T>('GET', path, undefined, headers);
  const post = <T = Record<string, unknown>>(
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<TestResponse<T>> => server.request<T>('POST', path, body, headers);
  const codeOf = ({ body }: TestResponse<unknown>): string => (body as ErrorBody).detail.code;

  describe('GET /pipelines', () => {
    it('lists them with what they need and when they are due', async () => {
      write('greet.yaml', GREET);
      write('broken.yaml', 'pipeline: {id: broken, goal: g, tasks: [{id: a, tool: mok}]}');
      await start();
      const { status, body } = await get<Page>('/pipelines');
      expect(status).to.equal(200);
      expect(body).to.include({ enabled: true, writable: true, pausable: true, next_cursor: null });
      const [broken, greet] = body.pipelines;
      expect(broken).to.include({ id: 'broken', ok: false, stale: false, goal: '' });
      expect(broken?.problems[0]).to.include({ code: 'unknown_tool', line: 1 });
      const { schedule, updated_at, ...rest } = greet as NamedPipeline;
      expect(rest).to.deep.equal({
        id: 'greet',
        kind: 'pipeline',
        tenant_id: 'default',
        file: 'greet.yaml',
        goal: 'Greet {{params.name}}',
        description: 'Says hello.',
        params: {
          name: { type: 'string', description: 'who', default: 'Ada', required: false },
          times: { type: 'integer', required: true },
        },
        inputs: { language: 'en' },
        ok: true,
        stale: false,
        problems: [],
        webhook: null,
        last_runs: [],
      });
      expect(updated_at).to.match(/^\d{4}-.*Z$/);
      expect(schedule).to.include({
        timezone: 'Europe/Berlin',
        overlap: 'skip',
        catch_up: false,
        last: null,
      });
      expect(schedule?.next_runs).to.have.length(3);
    });

    it('is empty on a server without a folder, which knows no ids', async () => {
      server = await startTestServer();
      const { body } = await get<Page>('/pipelines');
      expect(body).to.deep.equal({
        enabled: false,
        writable: false,
        pausable: false,
        pipelines: [],
        next_cursor: null,
      });
      for (const path of ['/pipelines/x', '/pipelines/x/file']) {
        expect(codeOf(await get(path))).to.equal('pipeline_not_found');
      }
      for (const path of ['/pipelines/x/run', '/pipelines/x/run_async', '/pipelines/x/webhook']) {
        expect(codeOf(await post(path))).to.equal('pipeline_not_found');
      }
    });

    it('comes in pages, and as 304 when nothing has changed', async () => {
      for (const id of ['a', 'b', 'c']) write(`${id}.yaml`, simple(id));
      write('tenants/acme/z.yaml', simple('z'));
      await start();
      const seen: string[] = [];
      let cursor = '';
      do {
        const { body } = await get<Page>(`/pipelines?limit=2${cursor && `&cursor=${cursor}`}`);
        seen.push(...body.pipelines.map(({ id }) => id));
        cursor = body.next_cursor ?? '';
      } while (cursor !== '');
      expect(seen).to.deep.equal(['z', 'a', 'b', 'c']);
      const { headers } = await get<Page>('/pipelines');
      const etag = headers.get('etag') ?? '';
      expect((await get('/pipelines', { 'if-none-match': etag })).status).to.equal(304);
      await post('/pipelines/a/run_async');
      expect((await get('/pipelines', { 'if-none-match': etag })).status).to.equal(200);
      expect(codeOf(await get('/pipelines?cursor=nonsense'))).to.equal('invalid_request');
    });
  });

  describe('GET /pipelines/{id}', () => {
    it('adds the graph, and the last five runs', async () => {
      write('greet.yaml', GREET);
      await start();
      for (let times = 0; times < 6; times++) await post('/pipelines/greet/run_async', { params: { times } });
      const { body, headers } = await get<NamedPipeline & { graph: { waves: unknown[] } }>(
        '/pipelines/greet',
      );
      expect(body.graph.waves).to.have.length(2);
      expect(body.last_runs).to.have.length(5);
      expect(headers.get('etag')).to.match(/^"/);
    });

    it('has the graph of a plan with pipelines from files, whose inputs come from the plan', async () => {
      write('two.yaml', PLAN);
      write('one.yaml', ONE);
      await start();
      const plan = await get<NamedPipeline & { graph: unknown }>('/pipelines/two');
      expect(plan.body).to.include({ kind: 'plan', ok: true });
      expect(plan.body.graph).to.deep.equal({
        id: 'two',
        goal: 'both',
        waves: [[{ id: 'one', tasks: 1 }]],
        edges: [],
      });
      expect((await get<NamedPipeline & { graph: unknown }>('/pipelines/one')).body.graph).to.not.equal(null);
    });

    itTimed(
      'answers 304 without drawing the graph again, until the definition or its runs are others',
      async () => {
        const tasks = Array.from({ length: 1000 }, (_, index) => {
          const reads = index === 0 ? '' : `{{t${index - 1}.x}}`;
          return `{id: t${index}, tool: mock, inputs: {text: "${reads}"}}`;
        });
        const text = `pipeline: {id: long, goal: g, tasks: [${tasks.join(', ')}]}`;
        const file = write('long.yaml', text);
        await start();
        const getLong = (etag = ''): Promise<TestResponse<NamedPipeline>> =>
          get('/pipelines/long', { 'if-none-match': etag });
        const etag = (await getLong()).headers.get('etag') ?? '';
        await getLong(etag);
        const drawnMs = await measureCpuMs(() => getLong());
        const knownMs = await measureCpuMs(async () => {
          expect((await getLong(etag)).status).to.equal(304);
        });
        expect(knownMs).to.be.below(drawnMs / 5);
        const saved = await server.request(
          'PUT',
          '/pipelines/long/file',
          { text: `# new\n${text}` },
          {
            'if-match': (await get('/pipelines/long/file')).headers.get('etag') ?? '',
          },
        );
        expect(saved.status).to.equal(200);
        expect(readFileSync(file, 'utf8')).to.match(/^# new/);
        const changed = await getLong(etag);
        expect(changed.status).to.equal(200);
        await post('/pipelines/long/run_async');
        expect((await getLong(changed.headers.get('etag') ?? '')).status).to.equal(200);
      },
    );

    it('has none of a definition with errors', async () => {
      write('broken.yaml', 'pipeline: {id: broken');
      await start();
      expect((await get<NamedPipeline & { graph: unknown }>('/pipelines/broken')).body.graph).to.equal(null);
      expect(codeOf(await post('/pipelines/broken/run'))).to.equal('pipeline_not_found');
    });

    it('takes no address from others: what is no id stays what it is', async () => {
      await start();
      for (const path of ['/pipelines/run', '/pipelines/validate', '/pipelines/compile']) {
        const { status, headers } = await get(path);
        expect([path, status, headers.get('allow')]).to.deep.equal([path, 405, 'POST']);
      }
      expect((await get<{ runs: unknown[] }>('/pipelines/runs')).body.runs).to.deep.equal([]);
      expect(codeOf(await post('/pipelines/runs/run'))).to.equal('method_not_allowed');
      expect(codeOf(await get('/pipelines/%2e%2e%2fx'))).to.equal('pipeline_not_found');
    });
  });

  describe('POST /pipelines/{id}/run and /run_async', () => {
    it('run it with params and inputs', async () => {
      write('greet.yaml', GREET);
      await start();
      const { status, body } = await post<{ outputs: { b: { inputs: { text: string } } } }>(
        '/pipelines/greet/run',
        {
          params: { name: 'Bo', times: 2 },
          inputs: { language: 'no' },
        },
      );
      expect([status, body.outputs.b.inputs.text]).to.deep.equal([200, 'Bo 2 no']);
      const accepted = await post<{ run_id: string }>('/pipelines/greet/run_async', { params: { times: 1 } });
      expect(accepted.status).to.equal(202);
      const record = await get<{ pipeline_id: string; status: string }>(
        `/pipelines/runs/${accepted.body.run_id}?wait=10`,
      );
      expect(record.body).to.include({ pipeline_id: 'greet', status: 'succeeded' });
    });

    it('run a plan with its inputs', async () => {
      write('two.yaml', PLAN);
      write('one.yaml', ONE);
      await start();
      const { body } = await post<{
        plan_id: string;
        sub_results: { one: { outputs: { a: { inputs: unknown } } } };
      }>('/pipelines/two/run', { inputs: { x: 7 }, plan_concurrency: 2 });
      expect(body.sub_results.one.outputs.a.inputs).to.deep.equal({ x: 7 });
      expect(codeOf(await post('/pipelines/two/run', { params: { x: 1 } }))).to.equal('invalid_request');
    });

    it('refuse what does not fit, as for a definition that is sent', async () => {
      write('greet.yaml', GREET);
      await start();
      const refused: [body: unknown, code: string][] = [
        [{ params: { times: 'x' } }, 'invalid_params'],
        [{}, 'invalid_params'],
        [{ params: { times: 1 }, options: { cache: 1 } }, 'invalid_options'],
        [{ params: { times: 1 }, plan_concurrency: 2 }, 'invalid_request'],
        [{ pipeline: {} }, 'invalid_request'],
        [{ yaml: 'x' }, 'invalid_request'],
        [{ unknown: 1 }, 'invalid_request'],
      ];
      for (const [body, code] of refused)
        expect(codeOf(await post('/pipelines/greet/run', body))).to.equal(code);
      const { body } = await post<ErrorBody>('/pipelines/greet/run', { pipeline: {} });
      expect(body.detail.message).to.match(/the definition that it has in its folder/);
    });

    it('start one run for one key, of this pipeline only (D36)', async () => {
      write('a.yaml', simple('a'));
      write('b.yaml', simple('b'));
      await start();
      const headers = { 'idempotency-key': 'k' };
      const first = await post<{ run_id: string }>('/pipelines/a/run_async', {}, headers);
      const second = await post<{ run_id: string }>('/pipelines/a/run_async', {}, headers);
      expect(second.body.run_id).to.equal(first.body.run_id);
      expect(second.headers.get('idempotent-replayed')).to.equal('true');
      expect(codeOf(await post('/pipelines/b/run_async', {}, headers))).to.equal('idempotency_conflict');
    });
  });

  describe('with keys', () => {
    const headers = (name: string): Record<string, string> => ({ 'x-api-key': name });
    const keys = [
      createApiKey('acme', ['acme'], ['read', 'run', 'edit']),
      createApiKey('beta', ['beta'], ['read', 'run', 'edit']),
      createApiKey('reader', ['*'], ['read', 'run']),
      createApiKey('editor', ['beta'], ['read', 'edit']),
    ];
    beforeEach(async () => {
      write('p.yaml', simple('p'));
      write('tenants/acme/p.yaml', simple('p').replace('goal: g', 'goal: of acme'));
      write('tenants/acme/own.yaml', simple('own'));
      await start(keys);
    });

    it('shows and runs those of the tenants of the key, and reports others as not found (D37)', async () => {
      const { body } = await get<Page>('/pipelines', headers('acme'));
      expect(body.pipelines.map(({ id, tenant_id }) => `${tenant_id} ${id}`)).to.deep.equal([
        'acme own',
        'acme p',
      ]);
      expect((await get<Page>('/pipelines?tenant_id=acme', headers('beta'))).body.pipelines).to.deep.equal(
        [],
      );
      expect((await get('/pipelines/p', headers('acme'))).body.goal).to.equal('of acme');
      for (const path of [
        '/pipelines/own',
        '/pipelines/p',
        '/pipelines/p?tenant_id=acme',
        '/pipelines/own/file',
      ]) {
        expect([path, codeOf(await get(path, headers('beta')))]).to.deep.equal([path, 'pipeline_not_found']);
      }
      expect(codeOf(await post('/pipelines/own/run', {}, headers('beta')))).to.equal('pipeline_not_found');
      expect(codeOf(await post('/pipelines/own/run', { tenant_id: 'acme' }, headers('beta')))).to.equal(
        'forbidden',
      );
    });

    it('runs it for its tenant', async () => {
      const { body } = await post<{ run_id: string }>(
        '/pipelines/own/run_async',
        { tenant_id: 'acme' },
        headers('reader'),
      );
      const record = await get<{ tenant_id: string }>(`/pipelines/runs/${body.run_id}`, headers('acme'));
      expect(record.body.tenant_id).to.equal('acme');
      expect((await get(`/pipelines/runs/${body.run_id}`, headers('beta'))).status).to.equal(404);
    });

    it('saves files for keys with the scope edit, of their tenants (D72)', async () => {
      const put = (id: string, body: unknown, name: string): Promise<TestResponse<unknown>> =>
        server.request('PUT', `/pipelines/${id}/file`, body, { ...headers(name), 'if-none-match': '*' });
      expect(codeOf(await put('new', { text: simple('new') }, 'reader'))).to.equal('forbidden');
      expect(codeOf(await put('new', { text: simple('new'), tenant_id: 'acme' }, 'beta'))).to.equal(
        'pipeline_not_found',
      );
      expect((await put('new', { text: simple('new') }, 'beta')).body).to.include({
        file: 'tenants/beta/new.yaml',
      });
    });

    it('saves a schedule or a webhook only for keys with the scope run too: it starts runs (D72)', async () => {
      const put = (id: string, fields: string, name: string): Promise<TestResponse<unknown>> => {
        const text = simple(id).replace('goal: g', `goal: g, ${fields}`);
        return server.request(
          'PUT',
          `/pipelines/${id}/file`,
          { text },
          { ...headers(name), 'if-none-match': '*' },
        );
      };
      for (const fields of ['schedule: "@daily"', 'webhook: {secret: HOOK}']) {
        const refused = await put('new', fields, 'editor');
        expect([refused.status, codeOf(refused)]).to.deep.equal([403, 'forbidden']);
      }
      expect((await put('plain', 'description: d', 'editor')).status).to.equal(200);
      expect((await put('new', 'schedule: "@daily"', 'beta')).status).to.equal(200);
    });
  });

  describe('GET and PUT /pipelines/{id}/file', () => {
    const put = <T = Record<string, unknown>>(
      id: string,
      text: string,
      headers: Record<string, string>,
    ): Promise<TestResponse<T>> => server.request<T>('PUT', `/pipelines/${id}/file`, { text }, headers);

    it('gives the text with its version, which a save replaces and no other', async () => {
      write('p.yaml', `# mine\n${simple('p')}`);
      await start();
      const { body, headers } = await get<{ text: string; version: string; file: string }>(
        '/pipelines/p/file',
      );
      expect(body).to.include({ text: `# mine\n${simple('p')}`, file: 'p.yaml' });
      const etag = headers.get('etag') ?? '';
      expect(etag).to.equal(`"${body.version}"`);
      expect((await get('/pipelines/p/file', { 'if-none-match': etag })).status).to.equal(304);
      const saved = await put('p', simple('p'), { 'if-match': etag });
      expect([saved.status, saved.body['ok']]).to.deep.equal([200, true]);
      const late = await put<ErrorBody>('p', 'late', { 'if-match': etag });
      expect(late.status).to.equal(409);
      expect(late.body.detail).to.include({ code: 'file_changed', version: saved.body['version'] });
    });

    it('creates a file, and needs to know which version it is to replace', async () => {
      await start();
      expect((await put('p', simple('p'), { 'if-none-match': '*' })).status).to.equal(200);
      expect((await get('/pipelines/p')).body.ok).to.equal(true);
      expect(codeOf(await put('p', simple('p'), { 'if-none-match': '*' }))).to.equal('file_changed');
      expect(codeOf(await put('p', simple('p'), {}))).to.equal('invalid_request');
      expect(codeOf(await put('p', simple('p'), { 'if-match': '*' }))).to.equal('invalid_request');
      expect(codeOf(await put('none', simple('none'), { 'if-match': '"x"' }))).to.equal('pipeline_not_found');
      expect(codeOf(await put('run', simple('run'), { 'if-none-match': '*' }))).to.equal('not_found');
    });

    it('is refused for a page of another site', async () => {
      await start();
      const response = await put('p', simple('p'), { 'if-none-match': '*', origin: 'http://evil.example' });
      expect(codeOf(response)).to.equal('foreign_origin');
    });
  });

  it('is counted where the server says that it is ready', async () => {
    write('greet.yaml', GREET);
    write('broken.yaml', 'x');
    await start();
    const { body } = await get<{ library: unknown }>('/ready');
    expect(body.library).to.deep.equal({ pipelines: 2, broken: 1, schedules: 1 });
  });
});
