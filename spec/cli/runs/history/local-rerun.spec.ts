import { expect } from 'chai';
import { rmSync } from 'node:fs';
import { type CliContext, type RegistryApi, systemContext } from '../../../../lib/cli/context.js';
import { WavetrainError } from '../../../../lib/common/errors.js';
import type { InvokeOptions } from '../../invoke.js';
import { Project, twoTasks } from './project.js';

describe('rerun: a run of the history goes on in this process (D60, D68)', () => {
  let project: Project;
  beforeEach(() => {
    project = new Project();
    project.folder.write('p.yaml', twoTasks('fail'));
  });
  afterEach(() => project.remove());

  async function failOnce(...flags: string[]): Promise<void> {
    expect((await project.invoke(['run', 'p.yaml', ...flags])).status).to.equal(3);
    expect(project.noted.splice(0)).to.deep.equal(['first']);
  }

  it('reuses what has succeeded, and runs the rest with the fixed file', async () => {
    await failOnce();
    project.folder.write('p.yaml', twoTasks('note'));
    const { status, stdout, stderr } = await project.invoke(['rerun']);
    expect(status).to.equal(0);
    expect(project.noted).to.deep.equal(['second']);
    expect(stdout).to.contain('first: {"city": "Oslo"}');
    expect(stderr).to.contain('reuses 1 of 2 tasks: first\nruns second: calls another tool\n');
  });

  it('keeps the new run, so that a second rerun goes on from it', async () => {
    await failOnce();
    project.folder.write('p.yaml', twoTasks('fail', '{message: again}'));
    expect((await project.invoke(['rerun'])).status).to.equal(3);
    project.folder.write('p.yaml', twoTasks('note'));
    expect((await project.invoke(['rerun'])).status).to.equal(0);
    expect(project.noted).to.deep.equal(['second']);
    expect(project.runs).to.have.length(3);
    expect((await project.invoke(['rerun', '--from', 'second'])).status).to.equal(0);
    expect(project.noted).to.deep.equal(['second', 'second']);
  });

  it('has the params of the run that it repeats, unless others are given', async () => {
    await failOnce('--params', '{"city": "Bergen"}');
    project.folder.write('p.yaml', twoTasks('note', '{there: "{{params.city}}"}'));
    expect(JSON.parse((await project.invoke(['rerun', '--json'])).stdout).second).to.deep.equal({
      there: 'Bergen',
    });
    const argv = ['rerun', '--json', '--params', '{"city": "Voss"}'];
    expect(JSON.parse((await project.invoke(argv)).stdout)).to.deep.equal({
      first: { city: 'Voss' },
      second: { there: 'Voss' },
    });
  });

  it('takes the newest run of a file, or the run of an id, or of a part of it', async () => {
    await failOnce();
    project.folder.write('other.yaml', twoTasks('note'));
    await project.invoke(['run', 'other.yaml']);
    project.folder.write('p.yaml', twoTasks('note'));
    project.noted.length = 0;
    expect((await project.invoke(['rerun', 'p.yaml', '--quiet'])).status).to.equal(0);
    const [oldest = ''] = project.runs;
    for (const id of [oldest, oldest.slice(-12)]) {
      expect((await project.invoke(['rerun', id, '--quiet'])).status).to.equal(0);
    }
    expect(project.noted).to.deep.equal(['second', 'second', 'second']);
  });

  it('runs the definition as it was when its file is gone, and with another file that one', async () => {
    await failOnce();
    rmSync(project.folder.at('p.yaml'));
    for (const argv of [['rerun'], ['rerun', 'p.yaml']]) {
      const { status, stderr } = await project.invoke(argv);
      expect(status).to.equal(3);
      expect(stderr).to.match(/^there is no p\.yaml any more: its definition is as it was\n/);
    }
    expect((await project.invoke(['rerun', '--json'])).stderr).not.to.contain('any more');
    project.folder.write('renamed.yaml', twoTasks('note'));
    const [id = ''] = project.runs;
    const unknown = await project.invoke(['rerun', 'renamed.yaml']);
    expect(unknown.stderr).to.contain(
      'wavetrain rerun RUN_ID renamed.yaml goes on from a run of another file',
    );
    const missing = await project.invoke(['rerun', id, 'renmed.yaml']);
    expect(missing.status).to.equal(2);
    expect(missing.stderr).to.contain('there is no file renmed.yaml');
    expect((await project.invoke(['rerun', id, 'renamed.yaml'])).status).to.equal(0);
    expect(project.noted).to.deep.equal(['second']);
  });

  it('goes on with a definition that came from standard input', async () => {
    await project.invoke(['run', '-'], { input: twoTasks('fail') });
    expect((await project.invoke(['rerun'])).status).to.equal(3);
    expect(project.noted).to.deep.equal(['first']);
  });

  it('goes on with a plan, from the sub-pipeline that failed', async () => {
    const part = (id: string, tasks: string): string => `{id: ${id}, goal: g, tasks: [${tasks}]}\n`;
    const plan = (tool: string): string => `plan:
  id: q
  sub_pipelines:
    - id: one
      stores: [x]
      pipeline: ${part('one', '{id: a, tool: note}, {id: s, tool: store, inputs: {key: x, value: "{{a.output}}"}}')}
    - id: two
      reads: [x]
      pipeline: ${part('two', `{id: b, tool: ${tool}, inputs: {message: "{{session.x}}"}}`)}`;
    project.folder.write('plan.yaml', plan('fail'));
    expect((await project.invoke(['run', 'plan.yaml'])).status, 'the plan').to.equal(3);
    project.folder.write('plan.yaml', plan('note'));
    const { status, stderr } = await project.invoke(['rerun']);
    expect(stderr).to.contain('reuses 2 of 3 tasks: one/a, one/s');
    expect(status).to.equal(0);
    expect(project.noted).to.deep.equal(['a', 'b']);
  });

  it('names a sub-pipeline where nothing of a plan is left to run', async () => {
    project.folder.write(
      'plan.yaml',
      'plan: {id: q, sub_pipelines: [{id: one, pipeline: {id: one, goal: g, tasks: [{id: a, tool: note}]}}]}\n',
    );
    expect((await project.invoke(['run', 'plan.yaml'])).status).to.equal(0);
    expect((await project.invoke(['rerun'])).stderr).to.contain('name a sub-pipeline with --from ID, or run');
  });

  it('prints what is wrong with the file, runs nothing and keeps nothing', async () => {
    await failOnce();
    project.folder.write('p.yaml', twoTasks('nope'));
    const { status, stderr } = await project.invoke(['rerun']);
    expect(status).to.equal(1);
    expect(stderr).to.contain('p.yaml:6:').and.to.contain('there is no tool "nope"');
    expect(project.runs).to.have.length(1);
  });

  it('says which tools the run had when they cannot be loaded, also to whoever looks at it', async () => {
    project.folder.write('tools.mjs', '');
    await failOnce('--tools', 'tools.mjs');
    const openCatalog = async (): Promise<never> => {
      throw new WavetrainError('bad_tool_file', 'cannot load tools from "tools.mjs"');
    };
    const had = `had --tools ${project.folder.at('tools.mjs')}: `;
    const [id = ''] = project.runs;
    const again = await project.invoke(['rerun'], { openCatalog });
    expect(again.stderr).to.contain(`${had}name them anew with --tools\n`);
    expect((await project.invoke(['rerun', '--tools', 'x.mjs'], { openCatalog })).stderr).not.to.contain(had);
    const shown = await project.invoke(['runs', 'show', id], { openCatalog });
    expect(shown.stderr).to.contain(`${had}it can be shown when they can be loaded again\n`);
  });

  it('closes the registry on every way out', async () => {
    const { openRegistry: open } = systemContext();
    const opened: RegistryApi[] = [];
    const closed = new Set<RegistryApi>();
    const openRegistry: CliContext['openRegistry'] = async (...args) => {
      const registry = await open(...args);
      const close = registry.close.bind(registry);
      opened.push(registry);
      return Object.assign(registry, {
        close: async (graceMs: number) => {
          closed.add(registry);
          await close(graceMs);
        },
      });
    };
    const invoke = async (argv: readonly string[], options: InvokeOptions = {}): Promise<number> => {
      const { status } = await project.invoke(argv, { openRegistry, ...options });
      expect(closed.size, argv.join(' ')).to.equal(opened.length);
      return status;
    };
    await failOnce();
    expect(await invoke(['rerun', '--from', 'secnd']), 'an unknown task').to.equal(2);
    expect(await invoke(['rerun', '--events', 'no/folder/e.jsonl']), 'a file without its folder').to.equal(2);
    const { openCatalog } = systemContext();
    expect(await invoke(['rerun'], { openCatalog }), 'a tool that is gone').to.equal(1);
    project.folder.write('p.yaml', twoTasks('nope'));
    expect(await invoke(['rerun']), 'an invalid file').to.equal(1);
    project.folder.write('p.yaml', twoTasks('note'));
    expect(await invoke(['rerun']), 'a run').to.equal(0);
    expect(await invoke(['rerun']), 'nothing to rerun').to.equal(2);
    expect(opened).to.have.length(6);
  });

  it('refuses a run that another shell is at work on', async () => {
    await failOnce();
    const [id = ''] = project.runs;
    project.loseEnd(id, 'second');
    const release = project.takeFile();
    const { status, stderr } = await project.invoke(['rerun']);
    release();
    expect(status).to.equal(2);
    expect(stderr).to.contain(`run ${id} is still at work in process ${process.pid}`);
  });

  it('says what to do when there is nothing to go on from', async () => {
    expect((await project.invoke(['rerun'])).stderr).to.contain('wavetrain run FILE runs a file');
    project.folder.write('p.yaml', twoTasks('note'));
    await project.invoke(['run', 'p.yaml']);
    const { status, stderr } = await project.invoke(['rerun']);
    expect(status).to.equal(2);
    expect(stderr).to.contain('name a task with --from TASK');
    expect((await project.invoke(['rerun', 'no-file'])).stderr).to.contain(
      'is neither a file nor the id of a run',
    );
    expect((await project.invoke(['rerun', '--from', 'secnd'])).stderr).to.contain(
      'did you mean --from second?',
    );
    expect((await project.invoke(['rerun', 'abcd1234'])).stderr).to.contain('no run has an id');
  });
});
