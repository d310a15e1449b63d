import { expect } from 'chai';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { builtinCatalog } from '../../../../lib/tools/catalog.js';
import { defineTool } from '../../../../lib/tools/tool.js';
import type { Invocation, InvokeOptions } from '../../invoke.js';
import { Project } from './project.js';

const FAILING = `id: p
goal: g
tasks:
  - {id: draw, tool: picture}
  - {id: last, tool: fail, inputs: {message: no}, await: [draw]}
`;
const FIXED = FAILING.replace('{id: last, tool: fail, inputs: {message: no}, await: [draw]}', '')
  .trimEnd()
  .replace(/-$/, '- {id: last, tool: transform, inputs: {input: "{{draw.output.path}}", expression: $}}');

describe('the history of the shell: bytes that tools return (D24, D68)', () => {
  let project: Project;
  let drawn: number;

  beforeEach(() => {
    project = new Project();
    project.folder.write('p.yaml', FAILING);
    drawn = 0;
  });
  afterEach(() => project.remove());

  function invoke(argv: readonly string[], options: InvokeOptions = {}): Promise<Invocation> {
    const picture = defineTool({
      name: 'picture',
      description: 'draws',
      inputs: {},
      run: () => Buffer.from(`picture ${++drawn}`),
    });
    return project.invoke(argv, { openCatalog: async () => builtinCatalog().with([picture]), ...options });
  }

  it('are kept with their run, for its user alone, and a rerun reuses them', async () => {
    const { stderr } = await invoke(['run', 'p.yaml']);
    const [id = ''] = project.runs;
    const path = project.folder.at(join('.wavetrain/runs', id, 'draw-1.bin'));
    expect(stderr).to.contain(`Files:\n  .wavetrain/runs/${id}/draw-1.bin  9 bytes  from draw\n`);
    expect(stderr).to.contain('bytes that a tool returns are kept as long as the run');
    expect(readFileSync(path, 'utf8')).to.equal('picture 1');
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    project.folder.write('p.yaml', FIXED);
    const rerun = await invoke(['rerun', '--json']);
    expect(JSON.parse(rerun.stdout).last, rerun.stderr).to.equal(path);
    expect(drawn).to.equal(1);
    const newest = project.runs.at(-1) ?? '';
    expect((await invoke(['runs', 'artifacts', newest])).stdout).to.equal('draw-1.bin  9 bytes  from draw\n');
    expect((await invoke(['runs', 'artifacts', newest, 'draw-1.bin', '--output', '-'])).stdout).to.equal(
      'picture 1',
    );
    expect(readFileSync(path, 'utf8'), 'after a look at it').to.equal('picture 1');
  });

  it('keep their run from being deleted while a rerun may use them, also a rerun of a rerun', async () => {
    await invoke(['run', 'p.yaml']);
    const [id = ''] = project.runs;
    project.folder.write('p.yaml', FIXED);
    await invoke(['rerun']);
    const [, second = ''] = project.runs;
    await invoke(['rerun', '--from', 'last']);
    const [, , third = ''] = project.runs;
    const refused = await invoke(['runs', 'delete', id]);
    expect(refused.stderr).to.contain(
      `run ${id} has files that its rerun ${third} may use\n  delete that one first`,
    );
    expect((await invoke(['runs', 'delete', second])).status, 'it stands between them').to.equal(2);
    for (const run of [third, second, id]) expect((await invoke(['runs', 'delete', run])).status).to.equal(0);
  });

  it('are named to whoever asks for a file that there is not', async () => {
    await invoke(['run', 'p.yaml']);
    const [id = ''] = project.runs;
    const { status, stderr } = await invoke(['runs', 'artifacts', id, 'draw.bin']);
    expect(status).to.equal(2);
    expect(stderr).to.contain('has no file "draw.bin"\n  it has draw-1.bin\n');
  });

  it('are deleted with their run', async () => {
    await invoke(['run', 'p.yaml']);
    await invoke(['runs', 'delete', '--all']);
    expect(readdirSync(project.folder.at('.wavetrain/runs'))).to.deep.equal([]);
  });

  it('stay in the history when files that tools write by name go elsewhere', async () => {
    await invoke(['run', 'p.yaml', '--artifacts', 'elsewhere', '--store', 'kept']);
    const [id = ''] = readdirSync(project.folder.at('kept/runs'));
    expect(readdirSync(project.folder.at(join('kept/runs', id)))).to.include('draw-1.bin');
  });

  for (const [where, flags] of [
    ['with --no-store', ['--no-store']],
    ['where the history cannot be written', []],
  ] as const) {
    it(`are temporary files ${where}`, async () => {
      project.folder.write('.wavetrain', 'a file is in its place');
      project.folder.write('p.yaml', FIXED);
      const { status, stdout, stderr } = await invoke(['run', 'p.yaml', '--json', ...flags]);
      expect(status, stderr).to.equal(0);
      const { last: path } = JSON.parse(stdout) as { readonly last: string };
      expect(path).to.match(/wavetrain-[0-9a-f-]{36}/);
      expect(readFileSync(path, 'utf8')).to.equal('picture 1');
      rmSync(join(path, '../..'), { recursive: true });
      const again = await invoke(['run', 'p.yaml', ...flags]);
      expect(again.stderr).to.contain('are temporary files: copy those');
      const [folder = ''] = /\S*wavetrain-[0-9a-f-]{36}/.exec(again.stderr) ?? [];
      rmSync(resolve(project.folder.path, folder), { recursive: true });
    });
  }
});
