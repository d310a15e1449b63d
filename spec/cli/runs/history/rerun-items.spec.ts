import { expect } from 'chai';
import { type Invocation, Person, Screen } from '../../invoke.js';
import { Project } from './project.js';

const PIPELINE = `
pipeline:
  id: read
  goal: read files
  inputs: { files: [a.csv, b.csv, c.csv] }
  tasks:
    - { id: read, tool: ingest_document, parallel_over: "{{pipeline.inputs.files}}", inputs: { path: "{{item}}" } }
    - { id: count, tool: transform, inputs: { input: "{{read.output}}", expression: $count($) } }
`;

describe('wavetrain rerun from items (D60)', () => {
  let project: Project;
  beforeEach(async () => {
    project = new Project();
    for (const name of ['a', 'b', 'c']) project.folder.write(`${name}.csv`, 'x\n1\n');
    project.folder.write('read.yaml', PIPELINE);
    expect((await at('run', 'read.yaml')).status).to.equal(0);
  });
  afterEach(() => project.remove());

  const at = (...argv: string[]): Promise<Invocation> => project.invoke(argv);
  const ask = (answer: string, ...argv: string[]): Promise<Invocation> =>
    project.invoke(argv, { stdin: new Person(answer), stderr: new Screen() });

  it('says how many calls it makes, and which had succeeded', async () => {
    const { status, stderr } = await at('rerun', '--from', 'read[1]');
    expect(status).to.equal(0);
    expect(stderr)
      .to.contain('runs read: has items that are named with --from; 1 of 3 calls\n')
      .and.to.contain('runs count: depends on "read", of which items are named with --from\n')
      .and.to.contain('makes again 1 call that had succeeded: 1 of read\n');
  });

  it('asks a person at a terminal before it repeats calls, unless --yes says so', async () => {
    const refused = await ask('n\n', 'rerun', '--from', 'read');
    expect(refused.stderr).to.contain(
      'This makes 3 calls that had succeeded: 3 of read. Run it again? y or N: ',
    );
    expect(refused.status).to.equal(0);
    expect(project.runs).to.have.length(1);
    const agreed = await ask('y\n', 'rerun', '--from', 'read[0-1]');
    expect(agreed.stderr).to.contain('This makes 2 calls that had succeeded: 2 of read.');
    expect(project.runs).to.have.length(2);
    expect((await ask('', 'rerun', '--from', 'read', '--yes')).stderr).not.to.contain('Run it again?');
  });

  it('asks nothing when only a tool that computes is called again, and says which items there are', async () => {
    expect((await ask('', 'rerun', '--from', 'count')).stderr).not.to.contain('Run it again?');
    const wrong = await ask('', 'rerun', '--from', 'read[7]');
    expect(wrong.status).to.equal(2);
    expect(wrong.stderr).to.contain('"read" has no item 7: it has 3 items, from 0 to 2');
  });

  it('says which task was probably meant, with its items', async () => {
    const wrong = await at('rerun', '--from', 'raed[1]');
    expect(wrong.status).to.equal(2);
    expect(wrong.stderr)
      .to.contain('the pipeline has no task "raed"; its tasks are read, count')
      .and.to.contain("did you mean --from 'read[1]'?");
  });
});
