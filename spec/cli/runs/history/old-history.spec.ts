import { expect } from 'chai';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type CliContext, systemContext } from '../../../../lib/cli/context.js';
import { builtinCatalog } from '../../../../lib/tools/catalog.js';
import { defineTool } from '../../../../lib/tools/tool.js';
import { ROOT } from '../../../project/files.js';
import type { Invocation } from '../../invoke.js';
import { Project } from './project.js';

/** A run that has failed, with a file; a rerun that uses the file; and a run whose process was killed. */
const OLD = join(ROOT, 'spec/runs/store/shell/old-history');

describe('the history of the shell: runs that an earlier version has kept, each in a folder (D68)', () => {
  let project: Project;
  let runs: string;
  let ids: readonly string[];
  let host: CliContext['host'];

  beforeEach(() => {
    project = new Project();
    runs = project.folder.at('.wavetrain/runs');
    mkdirSync(runs, { recursive: true });
    cpSync(OLD, runs, { recursive: true });
    ids = readdirSync(OLD).toSorted();
    for (const folder of ['', ...ids]) chmodSync(join(runs, folder), 0o700);
    host = { ...systemContext().host, isAlive: () => false };
  });
  afterEach(() => project.remove());

  function invoke(...argv: string[]): Promise<Invocation> {
    const picture = defineTool({
      name: 'picture',
      description: 'draws',
      inputs: {},
      run: () => project.noted.push('draw'),
    });
    const note = defineTool({
      name: 'note',
      description: 'notes',
      inputs: {},
      openInputs: true,
      run: (_, { task_id }) => project.noted.push(task_id),
    });
    const openCatalog = async () => builtinCatalog().with([picture, note]);
    return project.invoke(argv, { openCatalog, host });
  }

  async function list(): Promise<readonly string[]> {
    const { stdout } = await invoke('runs', 'list', '--json');
    const listed = JSON.parse(stdout) as {
      readonly runs: { run_id: string; status: string; rerun_of: string }[];
    };
    return listed.runs.map(({ run_id: id, status, rerun_of: of }) => `${id} ${status} ${of}`);
  }

  const found = (): string[] => {
    const [failed = '', rerun = '', killed = ''] = ids;
    return [`${killed} interrupted null`, `${rerun} failed ${failed}`, `${failed} failed null`];
  };

  it('are brought over by whoever looks first, and their files stay where outputs name them', async () => {
    expect(await list()).to.deep.equal(found());
    const [failed = '', rerun = '', killed = ''] = ids;
    expect(readdirSync(runs).toSorted()).to.deep.equal([failed, killed]);
    expect(readFileSync(join(runs, failed, 'draw-1.bin'), 'utf8')).to.equal('picture 1');
    expect(readdirSync(join(runs, failed))).to.deep.equal(['draw-1.bin']);
    expect(await list(), 'a second time').to.deep.equal(found());
    expect((await invoke('runs', 'show', rerun)).stdout).to.contain('second after 1 attempt: still no');
    expect((await invoke('runs', 'artifacts', rerun, 'draw-1.bin', '--output', '-')).stdout).to.equal(
      'picture 1',
    );
    expect((await invoke('runs', 'delete', failed)).stderr).to.contain(`its rerun ${rerun} may use`);
  });

  it('go on from where they were', async () => {
    const [failed = '', , killed = ''] = ids;
    for (const id of [failed, killed]) {
      const definition = project.folder.write(
        `${id}.yaml`,
        'id: two\ngoal: g\ntasks:\n  - {id: draw, tool: picture}\n  - {id: first, tool: note, inputs: {city: Oslo}}\n' +
          '  - {id: second, tool: transform, inputs: {input: "{{first.output}}", expression: $}}\n',
      );
      const { status, stdout, stderr } = await invoke('rerun', id, definition, '--json');
      expect(status, stderr).to.equal(0);
      expect(JSON.parse(stdout).second).to.deep.equal({ city: 'Oslo' });
    }
    expect(project.noted).to.deep.equal([]);
  });

  it('are brought over by the next run, too', async () => {
    project.folder.write('new.yaml', 'id: n\ngoal: g\ntasks: [{id: a, tool: note}]\n');
    expect((await invoke('run', 'new.yaml')).status).to.equal(0);
    const [newest, ...others] = await list();
    expect(newest).to.contain(' succeeded ');
    expect(others).to.deep.equal(found());
    expect(project.history.ids().map((id) => project.history.read(id)?.number)).to.deep.equal([4, 3, 2, 1]);
  });

  it('stay as they are while the earlier version is at work on them', async () => {
    host = { ...host, bootedAt: 0, isAlive: () => true };
    const [, , killed = ''] = ids;
    expect(await list()).to.deep.equal(found().slice(1));
    expect(existsSync(join(runs, killed, 'run.json'))).to.equal(true);
    host = { ...host, isAlive: () => false };
    expect(await list()).to.deep.equal(found());
  });

  it('were started before the machine was, when another process has their number now', async () => {
    host = { ...host, bootedAt: Number.MAX_SAFE_INTEGER, isAlive: () => true };
    expect(await list()).to.deep.equal(found());
  });

  it('are left out when a crash has torn what was run, and end where one has torn their facts', async () => {
    const [failed = '', rerun = '', killed = ''] = ids;
    writeFileSync(join(runs, failed, 'run.json'), '{"id":"1","num');
    const facts = readFileSync(join(runs, killed, 'facts.jsonl'), 'utf8').split('\n');
    writeFileSync(join(runs, killed, 'facts.jsonl'), `${facts[0]}\n[{"kind":"cancel","at":2,"fo`);
    expect(await list()).to.deep.equal([`${killed} interrupted null`, `${rerun} failed ${failed}`]);
    expect((await invoke('runs', 'show', killed)).stdout)
      .to.contain('✓ first')
      .and.not.contain('✓ draw');
    expect(existsSync(join(runs, failed, 'run.json'))).to.equal(true);
  });

  it('have a null trigger and are started by the command line where an earlier version has not said it', async () => {
    const [failed = ''] = ids;
    const path = join(runs, failed, 'record.json');
    const {
      trigger: _,
      started_by: __,
      rerun_of: ___,
      ...summary
    } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    writeFileSync(path, JSON.stringify(summary));
    expect(await list()).to.deep.equal(found());
    expect(project.history.summary(failed)).to.deep.include({
      trigger: null,
      started_by: { kind: 'cli', name: null },
      rerun_of: null,
    });
  });

  it('are brought over whole when a crash has left the folders', async () => {
    await list();
    cpSync(OLD, runs, { recursive: true });
    expect(await list()).to.deep.equal(found());
    const [, rerun = ''] = ids;
    expect(existsSync(join(runs, rerun))).to.equal(false);
    rmSync(runs, { recursive: true });
    expect(await list()).to.deep.equal(found());
  });
});
