import { expect } from 'chai';
import { checkNode, checkVariables, type DoctorFinding } from '../../../lib/cli/commands/doctor.js';
import { writeFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteStore } from '../../../lib/runs/store/sqlite/sqlite-store.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';

describe('doctor', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  async function findings(env: Record<string, string>, ...flags: string[]) {
    const { status, stdout, stderr } = await invoke(['doctor', '--json', ...flags], {
      env,
      cwd: folder.path,
    });
    const report: { ok: boolean; findings: DoctorFinding[] } = JSON.parse(stdout);
    expect(stderr).to.equal('');
    expect(status).to.equal(report.ok ? 0 : 3);
    return {
      ok: report.ok,
      find: (name: string) => report.findings.find((finding) => finding.name === name),
    };
  }

  it('exits with 0 if nothing is broken, and prints a line per check', async () => {
    const { status, stdout } = await invoke(['doctor'], { cwd: folder.path });
    expect(status).to.equal(0);
    for (const name of [
      'wavetrain',
      'Node.js',
      'API keys',
      'file roots',
      'tools',
      'terminal',
      'working directory',
    ]) {
      expect(stdout).to.match(new RegExp(`^[✓-] ${name} `, 'm'));
    }
  });

  it('lists variables that are not set only with --all, and says how many there are', async () => {
    const env = { SERVICE_API_PORT: '8080' };
    const some = await invoke(['doctor'], { env, cwd: folder.path });
    expect(some.stdout).to.match(/^✓ SERVICE_API_PORT +8080$/m);
    expect(some.stdout).to.not.contain('SERVICE_API_HOST');
    const [, hidden] =
      /^(\d+) variables are not set: wavetrain doctor --all lists them$/m.exec(some.stdout) ?? [];
    const all = await invoke(['doctor', '--all'], { env, cwd: folder.path });
    expect(all.stdout).to.match(/^- SERVICE_API_HOST +not set$/m);
    expect(all.stdout.match(/ not set$/gm)).to.have.length(Number(hidden));
    expect(all.stdout).to.not.contain('doctor --all');
  });

  it('reports values that no server would start with, and variables that there are not', async () => {
    const { ok, find } = await findings({ SERVICE_API_PORT: 'x', SERVICE_MAX_RUNING: '3' });
    expect(ok).to.equal(false);
    expect(find('configuration')?.found).to.match(/SERVICE_API_PORT must be a whole number/);
    expect(find('SERVICE_MAX_RUNING')).to.deep.equal({
      name: 'SERVICE_MAX_RUNING',
      state: 'broken',
      found: 'unknown: there is no such variable',
      advice: 'did you mean SERVICE_MAX_RUNNING?',
    });
  });

  it('reads the keys file, and names its keys (D37)', async () => {
    const entry = `- {name: ann, sha256: "${'a'.repeat(64)}", tenants: [acme]}\n`;
    folder.write('keys.yaml', entry);
    folder.write('bad.yaml', '[]');
    const at = async (file: string): Promise<DoctorFinding | undefined> =>
      (await findings({ SERVICE_API_KEYS_FILE: file })).find('API keys');
    expect(await at('')).to.include({ state: 'missing' });
    expect(await at('keys.yaml')).to.include({ state: 'ok', found: '1 key: ann' });
    expect(await at('bad.yaml')).to.include({ state: 'broken' });
  });

  it('reports file roots that do not exist, with advice', async () => {
    const { ok, find } = await findings({ SERVICE_FILE_ROOTS: folder.at('gone') });
    expect(ok).to.equal(false);
    expect(find('file roots')).to.include({ state: 'broken', found: `${folder.at('gone')} does not exist` });
    expect(find('file roots')?.advice).to.contain('SERVICE_FILE_ROOTS');
  });

  it('reports tools that do not load and counts those that do', async () => {
    expect((await findings({})).find('tools')?.found).to.match(/^\d+: .*store/);
    const { ok, find } = await findings({}, '--tools', './gone.ts');
    expect(ok).to.equal(false);
    expect(find('tools')?.found).to.contain('gone.ts');
  });

  it('shows which programs tasks may start (D88)', async () => {
    const at = async (list: string): Promise<DoctorFinding | undefined> =>
      (await findings({ SERVICE_COMMANDS: list })).find('commands');
    const shell = 'a run in the shell asks, or takes --allow-commands';
    expect(await at('')).to.include({ state: 'missing', found: `none on a server; ${shell}` });
    expect(await at('git,acme:python3')).to.include({
      state: 'ok',
      found: `git, acme:python3 on a server started here; ${shell}`,
    });
    expect(await at('*')).to.include({ found: `all programs on a server started here; ${shell}` });
    expect(await at('rm -rf')).to.include({ state: 'broken' });
  });

  it('shows how many files a server finds in its folder of pipelines (D69)', async () => {
    const name = 'pipelines';
    expect((await findings({})).find(name)).to.include({ state: 'missing', found: 'no folder' });
    folder.write('flows/a.yaml', 'x');
    folder.write('flows/b/c.json', '{}');
    const at = async (path: string): Promise<DoctorFinding | undefined> =>
      (await findings({ SERVICE_PIPELINES: path })).find(name);
    expect(await at('flows')).to.include({ state: 'ok', found: 'flows: 2 files' });
    expect(await at('none')).to.include({ state: 'broken', found: 'none: there is no such file' });
  });

  describe('shows where a server keeps its runs (D68)', () => {
    before(() => requireBuild());

    const name = 'store of runs';
    const at = async (file: string): Promise<DoctorFinding | undefined> =>
      (await findings({ SERVICE_STORE: file })).find(name);
    const openStore = (file: string): Promise<SqliteStore> =>
      SqliteStore.open(folder.at(file), join(ROOT, 'dist', 'store-thread.cjs'));

    it('in memory, unless a file is named', async () => {
      expect((await findings({})).find(name)).to.include({ state: 'missing', found: 'memory' });
      expect((await findings({})).find(name)?.advice).to.contain('SERVICE_STORE=wavetrain.db');
    });

    it('in a file that it does not create', async () => {
      expect(await at('new.db')).to.include({ state: 'ok', found: 'new.db: a server will create it' });
      expect(await at('new.db')).to.include({ found: 'new.db: a server will create it' });
    });

    it('in a file, with its size and the number of runs', async () => {
      const store = await openStore('runs.db');
      const submission = {
        kind: 'pipeline',
        definition: { id: 'p' },
        tenant_id: 'default',
        submitted_keys: { params: [], inputs: [] },
      } as const;
      store.add({ id: 'a', number: 1, createdAt: 0, submission });
      await store.idle();
      await store.close();
      const found = await at('runs.db');
      expect(found?.state).to.equal('ok');
      expect(found?.found).to.match(/^runs\.db: \d+ KiB, 1 run$/);
      expect(readdirSync(folder.path)).to.not.include('runs.db-shm');
    });

    it('in a file that a server has open', async () => {
      const store = await openStore('open.db');
      const finding = await at('open.db');
      await store.close();
      expect(finding?.state).to.equal('ok');
      expect(finding?.found).to.match(/^open\.db: \d+ KiB, 0 runs, a server has it open$/);
    });

    it('in a file that cannot be one: it is another one, or its folder is not there', async () => {
      writeFileSync(folder.at('text.db'), 'some text, which is no database');
      expect((await at('text.db'))?.found).to.contain('it is not a database: name another file');
      const lost = await at('gone/runs.db');
      expect(lost?.state).to.equal('broken');
      expect(lost?.found).to.contain('its folder must exist and be writable');
    });
  });

  it('says which models can be asked and which one a task gets that names none (D50)', async () => {
    const models = async (env: Record<string, string>) => (await findings(env)).find('language models');
    const none = await models({});
    expect(none).to.include({ state: 'missing', found: 'no default; can be named: ollama/…, mock/…' });
    expect(none?.advice).to.contain('WAVETRAIN_MODEL');
    expect(await models({ ANTHROPIC_API_KEY: 'k', WAVETRAIN_OCR_MODEL: 'ollama/llava' })).to.include({
      state: 'ok',
      found:
        'default anthropic/claude-haiku-4-5, ocr ollama/llava; can be named: anthropic/…, ollama/…, mock/…',
    });
    const { ok, find } = await findings({ WAVETRAIN_MODEL: 'openai/gpt-4o' });
    expect(ok).to.equal(false);
    expect(find('language models')?.found).to.contain('OPENAI_API_KEY');
  });

  it('continues when a variable is invalid', async () => {
    const { ok, find } = await findings({ SERVICE_TOOLS: '~/tools.ts' });
    expect(ok).to.equal(false);
    expect(find('configuration')?.found).to.contain('SERVICE_TOOLS');
    expect(find('tools')?.state).to.equal('ok');
  });

  it('reports variables and hides the values of secret ones', () => {
    const [roots, , tools] = checkVariables({ SERVICE_TOOLS: 't.ts' });
    expect(roots).to.include({ state: 'missing', found: 'not set' });
    expect(tools).to.include({ state: 'ok', found: 't.ts' });
    const secret = { name: 'KEY', description: 'a key', secret: true };
    expect(checkVariables({ KEY: 'hush' }, [secret])).to.deep.equal([
      { name: 'KEY', state: 'ok', found: 'set' },
    ]);
  });

  it('reports a Node.js older than package.json requires', () => {
    for (const version of ['18.19.0', '20.18.9', '20.9.0'])
      expect(checkNode(version).state).to.equal('broken');
    for (const version of ['20.19.0', '20.19', '22.0.0', '101.0.0'])
      expect(checkNode(version).state).to.equal('ok');
    expect(checkNode('18.0.0').advice).to.contain('20.19');
  });
});
