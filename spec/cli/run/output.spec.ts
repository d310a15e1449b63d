import { expect } from 'chai';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { type Invocation, invoke, type InvokeOptions, Screen } from '../invoke.js';
import { useRunsServer } from '../runs/runs-server.js';

const ESSAY = `${'one long line '.repeat(20)}\n\nand a second one\u001b[2J`;
const VALUES = `id: values
goal: g
tasks:
  - {id: essay, tool: sleep, inputs: {seconds: 0, value: ${JSON.stringify(ESSAY)}}}
  - {id: numbers, tool: transform, inputs: {input: 0, expression: "[1..2000]"}}
`;
const FAILING = `${VALUES}  - {id: boom, tool: fail, await: [essay], inputs: {message: no luck}}\n`;
const PLAN = `plan:
  id: both
  sub_pipelines:
    - {id: part, pipeline: {id: p, goal: g, tasks: [{id: note, tool: sleep, inputs: {seconds: 0, value: [1, {"a": 2}]}}]}}
`;

describe('run --output', () => {
  const folder = new TemporaryFolder();
  const server = useRunsServer();
  before(() => {
    folder.write('values.yaml', VALUES);
    folder.write('failing.yaml', FAILING);
    folder.write('plan.yaml', PLAN);
  });
  after(() => folder.remove());

  const run = (argv: string, options: InvokeOptions = {}): Promise<Invocation> =>
    invoke(['run', ...argv.split(' ')], { cwd: folder.path, ...options });
  const everywhere = (): string[] => ['', ` --server ${server.url}`];

  it('prints a text as it is, and nothing else', async () => {
    for (const where of everywhere()) {
      const { status, stdout } = await run(`values.yaml --output essay${where}`);
      expect({ status, stdout }).to.deep.equal({ status: 0, stdout: `${ESSAY}\n` });
    }
  });

  it('prints anything else, and with --json a text too, as JSON', async () => {
    const { stdout } = await run('values.yaml --output numbers');
    expect(JSON.parse(stdout)).to.have.length(2000);
    expect(JSON.parse((await run('values.yaml --output essay --json')).stdout)).to.equal(ESSAY);
  });

  it('prints it whole on a terminal too, without its control characters', async () => {
    const { stdout } = await run('values.yaml --output essay', {
      stdout: new Screen(40),
      env: { NO_COLOR: '1' },
    });
    expect(stdout).to.equal(`${ESSAY.replace('\u001b', '␛')}\n`);
  });

  it('names a task of a plan with its sub-pipeline', async () => {
    for (const where of everywhere()) {
      const { stdout, stderr } = await run(`plan.yaml --output part/note${where}`);
      expect(stdout, stderr).to.equal('[1,{"a":2}]\n');
    }
  });

  it('prints an output of a run that fails, which exits with 3 (D59)', async () => {
    const { status, stdout } = await run('failing.yaml --output essay');
    expect({ status, stdout }).to.deep.equal({ status: 3, stdout: `${ESSAY}\n` });
  });

  it('says on standard error that a task failed or has not run, of which there is no output, also with --quiet', async () => {
    folder.write('stuck.yaml', `${FAILING}  - {id: grand, tool: mock, await: [boom]}\n`);
    for (const where of everywhere()) {
      for (const [name, why] of [
        ['boom', 'boom failed'],
        ['grand', 'grand has not run'],
      ]) {
        const { status, stdout, stderr } = await run(`stuck.yaml --output ${name} --quiet${where}`);
        expect({ status, stdout }).to.deep.equal({ status: 3, stdout: '' });
        expect(stderr).to.contain(`wavetrain: ${why}, so there is no output of it\n`);
      }
      expect((await run(`stuck.yaml --output essay --quiet${where}`)).stderr).not.to.contain('wavetrain: ');
    }
  });

  it('says the same of the tasks of a plan that fails, and of one that is not in it', async () => {
    folder.write('broken.yaml', PLAN.replace(/tool: sleep.*$/m, 'tool: fail, inputs: {message: no}}]}}'));
    for (const [name, why] of [
      ['part/note', 'part/note failed'],
      ['part/nope', 'there is no task "part/nope"'],
    ]) {
      const { status, stderr } = await run(`broken.yaml --output ${name} --server ${server.url}`);
      expect(status).to.equal(3);
      expect(stderr).to.contain(`wavetrain: ${why}, so`);
    }
  });

  it('is refused before the run when there is no such task, with the nearest name', async () => {
    for (const where of everywhere()) {
      const { status, stdout, stderr } = await run(`values.yaml --output esay${where}`);
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr)
        .to.contain('--output names "esay", but there is no such task')
        .and.to.contain('did you mean essay?')
        .and.not.to.contain('submitted');
    }
    const { stderr } = await run('plan.yaml --output note');
    expect(stderr).to.match(/the tasks are part\/note|did you mean part\/note/);
  });
});
