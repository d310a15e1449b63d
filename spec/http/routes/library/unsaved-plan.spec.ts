import { expect } from 'chai';
import type { ApiKey } from '../../../../lib/http/auth/authenticate.js';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import { LIBRARY_LIMITS } from '../../../../lib/library/limits.js';
import type { PlanReport } from '../../../../lib/plans/report.js';
import { startTestServer, type TestResponse, type TestServer } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { createApiKey } from '../../../support/http/api-key.js';

const PLAN = 'plan: {id: two, goal: both, inputs: {x: 1}, sub_pipelines: [{id: one, inputs: [x]}]}';
const ONE =
  'pipeline: {id: one, goal: g, tasks: [{id: a, tool: mock, inputs: {x: "{{pipeline.inputs.x}}"}}]}';

const of = (name: string): Record<string, string> => ({ Authorization: `Bearer ${name}` });

describe('A plan that is sent beside one of the folder (D69)', () => {
  let folder: TemporaryFolder;
  let server: TestServer;
  const start = async (keys?: readonly ApiKey[]): Promise<void> => {
    server = await startTestServer({ env: { SERVICE_PIPELINES: folder.path }, ...(keys && { keys }) });
    await server.restored;
  };
  beforeEach(() => {
    folder = new TemporaryFolder();
  });
  afterEach(async () => {
    await server.close(0);
    folder.remove();
  });
  const validate = (body: object, headers?: Record<string, string>): Promise<TestResponse<PlanReport>> =>
    server.request<PlanReport>('POST', '/plans/validate', body, headers);
  const problemsOf = async (body: object): Promise<string[]> =>
    (await validate(body)).body.problems.map(({ message }) => message);

  it('has the pipelines of its files in the check and in the run, also those that it names only now', async () => {
    folder.write('trip/two.yaml', PLAN);
    folder.write('trip/one.yaml', ONE);
    folder.write('trip/more/three.yaml', ONE.replace('id: one', 'id: three'));
    await start();
    const yaml = PLAN.replace(']}]}', ']}, {id: three, file: more/three.yaml, inputs: [x]}]}');
    const body = { yaml, beside: 'two' };
    expect((await validate(body)).body).to.deep.include({ ok: true, problems: [] });
    const { body: result } = await server.request<{ sub_results: object }>('POST', '/plans/run', body);
    expect(Object.keys(result.sub_results)).to.deep.equal(['one', 'three']);
    const withOwn = { ...body, pipelines: { one: ONE.replace('tool: mock', 'tool: mokc') } };
    expect((await problemsOf(withOwn)).join()).to.include('mokc');
  });

  it('lacks a pipeline that is missing, outside of the folder of the plan, a plan, or without a version without errors', async () => {
    folder.write('trip/two.yaml', PLAN);
    folder.write('trip/one.yaml', ONE.replace('tool: mock', 'tool: mokc'));
    folder.write(
      'trip/plans/p.yaml',
      PLAN.replace('id: two', 'id: p').replace(
        '[{id: one,',
        `[{id: q, pipeline: {${ONE.slice('pipeline: {'.length, -1)}},`,
      ),
    );
    folder.write('outside.yaml', ONE.replace('id: one', 'id: outside'));
    await start();
    const parts =
      '[{id: one}, {id: gone}, {id: outside, file: ../outside.yaml}, {id: p, file: plans/p.yaml}]';
    const body = { yaml: `plan: {id: two, goal: g, sub_pipelines: ${parts}}`, beside: 'two' };
    const problems = (await problemsOf(body)).join('\n');
    expect(problems).to.include('sub-pipeline "one": the file "one.yaml" has errors');
    expect(problems).to.include('sub-pipeline "gone": there is no file');
    expect(problems).to.include('sub-pipeline "outside": there is no file');
    expect(problems).to.include('sub-pipeline "p": the file "plans/p.yaml" has a plan, and not a pipeline');
  });

  it('sees no files of another tenant', async () => {
    folder.write('tenants/acme/two.yaml', PLAN);
    folder.write('tenants/acme/one.yaml', ONE);
    folder.write('tenants/other/mine.yaml', PLAN.replace('id: two', 'id: mine'));
    await start([createApiKey('acme', ['acme']), createApiKey('other', ['other'])]);
    const yaml = PLAN;
    const foreign = await validate({ yaml, beside: 'two' }, of('other'));
    expect(foreign.status).to.equal(404);
    expect((foreign.body as unknown as ErrorBody).detail.code).to.equal('pipeline_not_found');
    expect((await validate({ yaml, beside: 'mine' }, of('other'))).body.problems[0]?.message).to.include(
      'there is no file',
    );
    expect((await validate({ yaml, beside: 'two' }, of('acme'))).body).to.deep.include({ problems: [] });
  });

  it('names no more of them than a plan of the folder may, each counted as often as it is named', async () => {
    const long = `${ONE}\n#${' '.repeat(LIBRARY_LIMITS.fileBytes - 200)}`;
    folder.write('two.yaml', PLAN);
    folder.write('one.yaml', long);
    await start();
    const parts = Array.from({ length: 5 }, (_, index) => `{id: p${index}, file: one.yaml, inputs: [x]}`);
    const body = {
      yaml: `plan: {id: two, goal: g, inputs: {x: 1}, sub_pipelines: [${parts.join(', ')}]}`,
      beside: 'two',
    };
    expect(await problemsOf(body)).to.deep.equal([
      'sub-pipeline "p4": with "one.yaml", the files of the plan are longer than 4 MiB together',
    ]);
  });

  it('is refused by a server without a folder', async () => {
    server = await startTestServer();
    expect((await validate({ yaml: PLAN, beside: 'two' })).status).to.equal(404);
  });
});
