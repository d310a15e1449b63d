import { expect } from 'chai';
import { checkNode, checkVariables, type DoctorFinding } from '../../../lib/cli/commands/doctor.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';

describe('doctor', () => {
  let folder: TemporaryFolder;
  before(() => {
    folder = new TemporaryFolder();
  });
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
      'SERVICE_FILE_ROOTS',
      'file roots',
      'tools',
      'terminal',
      'working directory',
    ]) {
      expect(stdout).to.match(new RegExp(`^[✓-] ${name} `, 'm'));
    }
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
    const [roots, tools] = checkVariables({ SERVICE_TOOLS: 't.ts' });
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
