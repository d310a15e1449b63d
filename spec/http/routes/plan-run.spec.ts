import { expect } from 'chai';
import type { PlanResult } from '../../../lib/execution/results.js';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { RunPage } from '../../../lib/runs/views/run-listing.js';
import type { TestResponse } from '../../support/http/test-server.js';
import { DOOMED, LETTER, LETTER_PIPELINES, LETTER_YAML } from '../support/plans.js';
import { suiteServer } from '../support/suite-server.js';

describe('POST /plans/run', () => {
  const server = suiteServer();

  const run = <T = PlanResult>(body: unknown, headers?: Record<string, string>): Promise<TestResponse<T>> =>
    server.request<T>('POST', '/plans/run', body, headers);

  const runs = async (): Promise<RunPage['runs']> =>
    (await server.request<RunPage>('GET', '/pipelines/runs')).body.runs;

  /** Expects a refusal, and that no run came of it. */
  async function refusal(body: unknown, code: string): Promise<ErrorBody['detail']> {
    const before = (await runs()).length;
    const response = await run<ErrorBody>(body);
    expect(`${response.status} ${response.body.detail.code}`).to.equal(`400 ${code}`);
    expect(await runs()).to.have.length(before);
    return response.body.detail;
  }

  it('responds with the result of each sub-pipeline, the blackboard and the sums (Plan, rule 4; D47)', async () => {
    const { status, body, headers } = await run({
      plan: LETTER,
      pipelines: LETTER_PIPELINES,
      inputs: { name: 'Ada' },
    });
    expect(status).to.equal(200);
    const ofOne = { waves_executed: 1, tasks_executed: 1, events: null };
    expect(body).to.deep.equal({
      plan_id: 'letter',
      sub_results: {
        sign: { outputs: { keep: 'Dear Ada, yours' }, ...ofOne },
        greet: { outputs: { keep: 'Dear Ada' }, ...ofOne },
      },
      blackboard: { greeting: 'Dear Ada', letter: 'Dear Ada, yours' },
      total_tasks_executed: 2,
      total_waves: 2,
      events: null,
    });
    expect(headers.get('wavetrain-run-id')).to.match(/^[0-9a-f-]{36}$/);
  });

  it('accepts pipelines as text, and the plan as YAML in a field or alone (D33, D44)', async () => {
    const sign =
      "id: sign\ngoal: g\ntasks:\n  - {id: keep, tool: store, inputs: {key: letter, value: '{{session.greeting}}!'}}\n";
    const mixed = await run({ plan: LETTER, pipelines: { ...LETTER_PIPELINES, sign } });
    expect(mixed.body.blackboard).to.deep.equal({ greeting: 'Dear world', letter: 'Dear world!' });
    expect((await run({ yaml: LETTER_YAML, inputs: { name: 'Bo' } })).body.blackboard).to.deep.equal({
      greeting: 'Dear Bo',
    });
    const alone = await run(LETTER_YAML, { 'content-type': 'application/yaml' });
    expect(alone.body.blackboard).to.deep.equal({ greeting: 'Dear world' });
  });

  it('responds 500 and names sub-pipeline and task when a task fails (D16, D47)', async () => {
    const { status, body, headers } = await run<ErrorBody>({ plan: DOOMED });
    expect(status).to.equal(500);
    const { hint, ...detail } = body.detail;
    expect(hint).to.contain('/rerun');
    expect(detail).to.deep.equal({
      code: 'task_failed',
      message: 'sub-pipeline "b", task "t" failed: boom 1',
      sub_pipeline: 'b',
      task_id: 't',
      error: 'boom 1',
      failures: [{ sub_pipeline: 'b', task_id: 't', error: 'boom 1', attempts: 1 }],
      run_id: headers.get('wavetrain-run-id'),
      inputs: { message: 'boom 1', times: null },
    });
  });

  it('refuses a plan whose pipelines were not sent, and reads no file', async () => {
    const file = 'examples/01-hello/pipeline.yaml';
    for (const subPipeline of [{ id: 'a', file }, { id: 'a' }, { id: 'a', file: '/etc/passwd' }]) {
      const plan = { id: 'p', sub_pipelines: [subPipeline] };
      const { problems } = await refusal({ plan }, 'invalid_definition');
      expect(problems?.map(({ code, hint }) => `${code}: ${hint}`)).to.deep.equal([
        'missing_pipeline: send it in "pipelines" under that id, or define it in the plan: the server does not read the files that a plan names',
      ]);
    }
    const sent = { a: { id: 'a', goal: 'g', tasks: [{ id: 't', tool: 'mock' }] } };
    expect(
      (await run({ plan: { id: 'p', sub_pipelines: [{ id: 'a', file }] }, pipelines: sent })).status,
    ).to.equal(200);
  });

  it('refuses undocumented options, concurrency and fields (D32, D34, D45)', async () => {
    const plan = { plan: LETTER, pipelines: LETTER_PIPELINES };
    expect((await refusal({ ...plan, options: { cancel_event: 1 } }, 'invalid_options')).message).to.include(
      'cancel_event',
    );
    for (const concurrency of [0, 1.5, '2']) {
      const { message } = await refusal({ ...plan, plan_concurrency: concurrency }, 'invalid_request');
      expect(message).to.include('plan_concurrency');
    }
    expect((await refusal({ ...plan, tenant_id: 'acme' }, 'invalid_request')).message).to.equal(
      'there is no field "tenant_id" (there are plan, yaml, pipelines, beside, inputs, session, options, breakpoints, labels, collect_events, plan_concurrency)',
    );
    expect((await refusal({ ...plan, params: { a: 1 } }, 'invalid_request')).message).to.include('no params');
    expect((await run({ ...plan, plan_concurrency: 2 })).status).to.equal(200);
  });
});
