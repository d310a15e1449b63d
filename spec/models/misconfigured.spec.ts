import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { LocalExecutor } from '../../lib/execution/local-executor.js';
import { modelAccess } from '../../lib/models/create-models.js';
import { parsePipeline } from '../../lib/pipelines/load.js';
import { invoke } from '../cli/invoke.js';
import { catchRejection } from '../support/rejection.js';
import { startRun } from '../support/runs/start-run.js';
import { startTestServer } from '../support/http/test-server.js';
import { TemporaryFolder } from '../support/temporary-folder.js';

function pipeline(model?: string): string {
  const inputs = { prompt: 'hi', ...(model !== undefined && { model }) };
  return JSON.stringify({ id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'llm_job', inputs }] });
}

const NESTED = JSON.stringify({
  id: 'outer',
  goal: 'g',
  tasks: [
    { id: 'a', tool: 'run_pipeline', inputs: { pipeline: JSON.parse(pipeline('openai/x')) as object } },
  ],
});

describe('a language model that cannot be asked (D50)', () => {
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
  });
  afterEach(() => folder.remove());

  const submit = (text: string, variables: Record<string, string> = {}): Promise<unknown> =>
    catchRejection(
      new LocalExecutor({ models: modelAccess(variables) }).submit({ pipeline: parsePipeline(text) }),
    );
  const run = (text: string, env: Record<string, string> = {}, ...flags: string[]) =>
    invoke(['run', '-', ...flags], { input: text, cwd: folder.path, env });

  const cases: [string, string, Record<string, string>, string][] = [
    ['no model at all', pipeline(), {}, 'no language model is configured'],
    ['a model without its key', pipeline('openai/x'), {}, 'OPENAI_API_KEY'],
    [
      'a configured name without a provider',
      pipeline(),
      { WAVETRAIN_MODEL: 'gpt-4o' },
      '"gpt-4o" is not a model',
    ],
    [
      'a configured model without its key',
      pipeline(),
      { WAVETRAIN_MODEL: 'anthropic/x' },
      'ANTHROPIC_API_KEY',
    ],
    [
      'answers that were recorded, without their file',
      pipeline('mock/recorded'),
      { WAVETRAIN_ANSWERS: 'nowhere.jsonl' },
      'nowhere.jsonl',
    ],
    [
      'a mock model that there is not',
      pipeline(),
      { WAVETRAIN_MODEL: 'mock/other' },
      'use mock/echo or mock/recorded',
    ],
    ['a model of a pipeline within a task', NESTED, {}, 'OPENAI_API_KEY'],
  ];
  for (const [title, text, variables, words] of cases) {
    it(`is refused by the library before the run: ${title}`, async () => {
      const error = await submit(text, variables);
      expect(error).to.include({ code: 'provider_misconfigured' });
      expect(error).to.have.property('message').that.includes(words);
    });
  }

  it('is refused over HTTP with status 400 before the run', async () => {
    const server = await startTestServer();
    try {
      for (const path of ['/pipelines/run', '/pipelines/run_async']) {
        const { status, body } = await server.request('POST', path, {
          pipeline: JSON.parse(pipeline('openai/x')) as object,
        });
        expect(status).to.equal(400);
        expect(body).to.have.nested.property('detail.code', 'provider_misconfigured');
      }
      const { body } = await server.request('GET', '/pipelines/runs');
      expect(body).to.deep.include({ runs: [] });
    } finally {
      await server.close(0);
    }
  });

  it('is refused in a sub-pipeline of a plan', async () => {
    writeFileSync(folder.at('part.yaml'), pipeline('openai/x'));
    const plan = { plan: { id: 'plan', goal: 'g', sub_pipelines: [{ id: 'part', reads: [], stores: [] }] } };
    writeFileSync(folder.at('plan.yaml'), JSON.stringify(plan));
    const { status, stderr } = await invoke(['run', folder.at('plan.yaml')], { cwd: folder.path, env: {} });
    expect(status, stderr).to.equal(2);
    expect(stderr).to.include('OPENAI_API_KEY');
  });

  it('is refused before the run when a param names it, by its default or by the value that the run gives it', async () => {
    const text = JSON.stringify({
      ...(JSON.parse(pipeline('{{ params.model }}')) as object),
      params: { model: { default: 'openai/x' }, unused: { default: 'anthropic/x' } },
    });
    const { status, stderr } = await run(text, {}, '--verbose');
    expect(status, stderr).to.equal(2);
    expect(stderr)
      .to.include('the model "openai/x" needs the variable OPENAI_API_KEY')
      .and.not.include('running');
    const other = await run(text, {}, '--params', '{"model": "anthropic/y"}');
    expect(other).to.include({ status: 2 }).and.have.property('stderr').that.includes('ANTHROPIC_API_KEY');
    const echo = await run(text, {}, '--params', '{"model": "mock/echo"}');
    expect(echo, echo.stderr).to.include({ status: 0 });
  });

  it('fails the task, without retries, when a template names it', async () => {
    const task = '{id: a, tool: llm_job, retry: 3, inputs: {prompt: hi, model: "{{pipeline.inputs.model}}"}}';
    const started = await startRun(task, {
      inputs: { model: 'openai/x' },
      executor: { models: modelAccess({}) },
    });
    await catchRejection(started.executor.getResult(started.runId));
    const [failure] = started.record().failures;
    expect(failure).to.include({ task_id: 'a', attempts: 1 });
    expect(failure?.error).to.include('OPENAI_API_KEY');
  });

  it('does not keep a definition from being valid: another machine may have the key', async () => {
    const { status } = await invoke(['validate', '-'], {
      input: pipeline('openai/x'),
      cwd: folder.path,
      env: {},
    });
    expect(status).to.equal(0);
  });

  it('is named when a tool that reads JSON gets its own prompt from mock/echo', async () => {
    const task = { id: 'a', tool: 'extract_fields', inputs: { document: 'x', schema: { price: 'number' } } };
    const text = JSON.stringify({ id: 'p', goal: 'g', tasks: [task] });
    const { status, stderr } = await run(text, {}, '--model', 'mock/echo');
    expect(status).to.equal(3);
    expect(stderr).to.include(
      'mock/echo gives back what it is asked: use a language model, or mock/recorded',
    );
  });

  it('is replaced by --model, with the statistics of what was used', async () => {
    const { status, stdout } = await run(pipeline(), {}, '--model', 'mock/echo');
    expect(status).to.equal(0);
    expect(stdout).to.match(
      / {2}models:\n {4}mock\/echo: \{requests: 1, input_tokens: \d+, output_tokens: 1\}\n$/,
    );
  });
});
