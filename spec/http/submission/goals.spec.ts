import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import { suiteServer } from '../support/suite-server.js';

const TASKS = [{ id: 'a', tool: 'mock' }];

describe('The length of goals (Limits)', () => {
  const server = suiteServer();

  const send = (path: string, body: unknown) => server.request<ErrorBody>('POST', path, body);

  const DEFINITIONS: Record<string, (goal: string) => [path: string, body: object]> = {
    'a pipeline': (goal) => ['/pipelines/run', { pipeline: { id: 'p', goal, tasks: TASKS } }],
    'a plan': (goal) => [
      '/plans/run',
      {
        plan: { id: 'p', goal, sub_pipelines: [{ id: 's', pipeline: { id: 'q', goal: 'g', tasks: TASKS } }] },
      },
    ],
    'a sub-pipeline': (goal) => [
      '/plans/run',
      {
        plan: { id: 'p', sub_pipelines: [{ id: 's', goal, pipeline: { id: 'q', goal: 'g', tasks: TASKS } }] },
      },
    ],
  };
  for (const [what, define] of Object.entries(DEFINITIONS)) {
    it(`is at most 10,000 characters for ${what}`, async () => {
      expect((await send(...define('x'.repeat(10_000)))).status).to.equal(200);
      const { status, body } = await send(...define('x'.repeat(10_001)));
      expect(status).to.equal(400);
      expect(body.detail.code).to.equal('invalid_definition');
      expect(body.detail.problems?.map(({ code, message }) => ({ code, message }))).to.deep.equal([
        { code: 'invalid_value', message: '"goal" must have at most 10000 characters' },
      ]);
    });
  }

  it('is at most 10,000 characters with the params filled in, or no run is created', async () => {
    const before = server.registry.list({ limit: 500 }).runs.length;
    const pipeline = { id: 'p', goal: 'do {{params.what}}', params: { what: {} }, tasks: TASKS };
    for (const path of ['/pipelines/run', '/pipelines/run_async']) {
      const { status, body } = await send(path, { pipeline, params: { what: 'x'.repeat(9998) } });
      expect(status, path).to.equal(400);
      expect(body.detail).to.deep.equal({
        code: 'invalid_params',
        message:
          'the goal has 10001 characters with its params filled in; the limit is 10000: use a shorter param in it',
      });
    }
    expect(server.registry.list({ limit: 500 }).runs).to.have.length(before);
    expect((await send('/pipelines/run', { pipeline, params: { what: 'x'.repeat(9997) } })).status).to.equal(
      200,
    );
  });

  it('is at most 10,000 characters of lists and objects, which are measured before they are written', async () => {
    const list = Array.from({ length: 2400 }, () => [1]);
    const params = { list: { type: 'list' } };
    const whole = { id: 'p', goal: '{{params.list}}', params, tasks: TASKS };
    expect((await send('/pipelines/run', { pipeline: whole, params: { list } })).status).to.equal(200);
    const inText = { ...whole, goal: 'do {{params.list}}' };
    expect((await send('/pipelines/run', { pipeline: inText, params: { list } })).status).to.equal(200);
    const longer = { list: Array.from({ length: 9 }, () => list) };
    expect(
      (await send('/pipelines/run', { pipeline: whole, params: longer })).body.detail.message,
    ).to.contain('the goal has over 10000 characters with its params filled in; the limit is 10000');
    expect(
      (await send('/pipelines/run', { pipeline: inText, params: longer })).body.detail.message,
    ).to.contain('the lists and objects in the goal are together over 10,000 characters as JSON');
  });

  it('has no room for texts over 1 MiB together that are read as JSON: each would be parsed again (D12)', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `p${index}`);
    const pipeline = {
      id: 'p',
      goal: names
        .map((name) => `{{params.${name}[0].a}} `)
        .join('')
        .repeat(20),
      params: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      tasks: TASKS,
    };
    const fill = (length: number): Record<string, string> =>
      Object.fromEntries(names.map((name) => [name, `[{"a":"${name}","b":"${'x'.repeat(length)}"}]`]));
    expect((await send('/pipelines/run', { pipeline, params: fill(5000) })).status).to.equal(200);
    const { status, body } = await send('/pipelines/run', { pipeline, params: fill(100_000) });
    expect(status).to.equal(400);
    expect(body.detail).to.deep.equal({
      code: 'invalid_params',
      message:
        'cannot render the goal: {{params.p1[0].a}}: the texts that a goal reads as JSON are together over 1 MiB',
    });
  });
});
