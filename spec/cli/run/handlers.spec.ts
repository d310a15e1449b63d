import { expect } from 'chai';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';

const HANDLERS = `finally:
  - {id: note, tool: transform, inputs: {input: "{{run.status}}", expression: "$"}}
  - {id: clean, tool: fail, inputs: {message: no disk}}
`;
const TASK = '{id: a, tool: transform, inputs: {input: 1, expression: "$"}}';
const BROKEN = '{id: b, tool: fail, inputs: {message: boom}}';
const HANDLER_FAILURES = [{ task_id: 'clean', error: 'no disk', attempts: 1 }];

describe('run of a pipeline or a plan with handlers (D80)', () => {
  const folder = new TemporaryFolder();
  before(() => {
    folder.write('ok.yaml', `id: ok\ngoal: g\ntasks: [${TASK}]\n${HANDLERS}`);
    folder.write('broken.yaml', `id: broken\ngoal: g\ntasks: [${TASK}, ${BROKEN}]\n${HANDLERS}`);
    const part = `{id: part, pipeline: {id: p, goal: g, tasks: [${TASK}]}}`;
    folder.write('plan.yaml', `id: plan\nsub_pipelines: [${part}]\n${HANDLERS}`);
  });
  after(() => folder.remove());

  const run = (...argv: string[]) => invoke(['run', ...argv], { cwd: folder.path });

  it('says that a handler has failed, also with --quiet: the exit status does not', async () => {
    for (const file of ['ok.yaml', 'plan.yaml']) {
      const { status, stderr } = await run(file, '--quiet');
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '  handler clean failed: no disk\n' });
    }
  });

  it('prints with --json what handlers did, beside the outputs of tasks alone', async () => {
    const { stdout } = await run('broken.yaml', '--json');
    expect(JSON.parse(stdout)).to.deep.include({
      outputs: { a: 1 },
      handlers: { note: 'failed' },
      handler_failures: HANDLER_FAILURES,
    });
    expect(JSON.parse((await run('plan.yaml', '--json')).stdout)).to.deep.include({
      handlers: { note: 'succeeded' },
      handler_failures: HANDLER_FAILURES,
    });
    expect(JSON.parse((await run('ok.yaml', '--json')).stdout)).to.deep.equal({ a: 1 });
  });

  it('prints with --partial the outputs of tasks alone', async () => {
    const { stdout } = await run('broken.yaml', '--partial');
    expect(stdout).to.include('a').and.not.include('note');
  });
});
