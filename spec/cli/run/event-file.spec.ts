import { expect } from 'chai';
import { linkSync, readFileSync, symlinkSync } from 'node:fs';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';

const TOOL = "export default { name: 'own', description: 'd', inputs: {}, run: () => 1 };\n";
const PART = 'id: part\ngoal: g\ntasks: [{id: a, tool: mock}]\n';

/** The files that a run is read from. */
const FILES: Readonly<Record<string, string>> = {
  'p.yaml': 'id: p\ngoal: g\nparams: {n: {type: integer}}\ntasks: [{id: a, tool: mock}]\n',
  'params.json': '{"n": 1}',
  'inputs.json': '{}',
  'session.json': '{}',
  'more-session.json': '{}',
  'tools.mjs': TOOL,
  'more-tools.mjs': TOOL.replace('own', 'more'),
  'run.env': 'A=1\n',
};

const FLAGS =
  '--params @params.json --inputs @inputs.json --session @session.json --session-file more-session.json --tools ./tools.mjs --env-file run.env'.split(
    ' ',
  );

describe('run --events FILE (D42)', () => {
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
    for (const [name, text] of Object.entries(FILES)) folder.write(name, text);
  });
  afterEach(() => folder.remove());

  const run = (events: string) =>
    invoke(['run', 'p.yaml', ...FLAGS, '--events', events], {
      cwd: folder.path,
      env: { SERVICE_TOOLS: './more-tools.mjs' },
    });

  for (const name of Object.keys(FILES)) {
    it(`does not overwrite ${name}, by whatever name, link or hard link it is called`, async () => {
      symlinkSync(name, folder.at('link'));
      linkSync(folder.at(name), folder.at('hard-link'));
      for (const events of [name, `./${name}`, folder.at(name), 'link', 'hard-link']) {
        const { status, stdout, stderr } = await run(events);
        expect({ status, stdout }, events).to.deep.equal({ status: 2, stdout: '' });
        expect(stderr).to.match(/--events would overwrite \S+, which the run is read from/);
      }
      expect(readFileSync(folder.at(name), 'utf8')).to.equal(FILES[name]);
    });
  }

  it('names the file and the link to it', async () => {
    symlinkSync('params.json', folder.at('link'));
    expect((await run('link')).stderr).to.equal(
      'wavetrain: --events would overwrite params.json, which the run is read from: link is the same file\n',
    );
  });

  it('does not overwrite a pipeline of a plan through a link', async () => {
    folder.write('plan.yaml', 'plan: {id: p, sub_pipelines: [{id: part}]}\n');
    folder.write('part.yaml', PART);
    symlinkSync('part.yaml', folder.at('link'));
    const { status } = await invoke(['run', 'plan.yaml', '--events', 'link'], { cwd: folder.path });
    expect(status).to.equal(2);
    expect(readFileSync(folder.at('part.yaml'), 'utf8')).to.equal(PART);
  });

  it('overwrites any other file, and a link to one', async () => {
    folder.write('other.jsonl', 'old');
    symlinkSync('other.jsonl', folder.at('link'));
    expect((await run('link')).status).to.equal(0);
    expect(readFileSync(folder.at('other.jsonl'), 'utf8')).to.match(/^\{"kind":"run"|^\{/);
  });
});
