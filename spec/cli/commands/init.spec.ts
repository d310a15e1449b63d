import { expect } from 'chai';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';

describe('init', () => {
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
  });
  afterEach(() => folder.remove());

  const at = (cwd: string, ...argv: string[]) => invoke(argv, { cwd });
  const FILES = [
    'pipeline.yaml',
    'pipeline.test.yaml',
    'tools.ts',
    'data/orders.csv',
    'pipeline.schema.json',
    '.vscode/settings.json',
    'README.md',
  ];

  it('writes a pipeline with its tools and data, and prints the next commands', async () => {
    const { status, stdout, stderr } = await at(folder.path, 'init', 'demo');
    expect(status).to.equal(0);
    expect(stderr).to.equal('');
    for (const file of FILES) {
      expect(existsSync(folder.at(`demo/${file}`)), file).to.equal(true);
      expect(stdout).to.contain(file);
    }
    expect(stdout)
      .to.contain('  cd demo\n')
      .and.to.contain('  wavetrain run pipeline.yaml --tools tools.ts\n');
  });

  it('prints next commands for npx when npx has started it', async () => {
    const options = { cwd: folder.path, env: { npm_command: 'exec' } };
    const { stdout } = await invoke(['init', 'demo'], options);
    const [, next = ''] = stdout.split('Next:\n');
    expect(next.trimEnd().split('\n')).to.deep.equal([
      '  cd demo',
      '  npx wavetrain validate pipeline.yaml --tools tools.ts',
      '  npx wavetrain graph pipeline.yaml --tools tools.ts',
      '  npx wavetrain run pipeline.yaml --tools tools.ts',
      '  npx wavetrain test --tools tools.ts',
    ]);
  });

  it('writes a report without TypeScript with --template report, which runs as it is', async () => {
    const { stdout } = await at(folder.path, 'init', 'demo', '--template', 'report');
    expect(stdout).to.contain('  wavetrain run pipeline.yaml\n').and.not.to.contain('tools.ts');
    const cwd = folder.at('demo');
    const validated = await at(cwd, 'validate', 'pipeline.yaml');
    expect(validated).to.include({ status: 0, stderr: '' });
    const { status, stdout: outputs } = await at(cwd, 'run', 'pipeline.yaml', '--json');
    expect(status).to.equal(0);
    expect(JSON.parse(outputs).page).to.include({ status: 'success', name: 'report.md' });
    expect(readFileSync(folder.at('demo/outputs/report.md'), 'utf8')).to.contain(
      '| article | rope | lantern |',
    );
    expect(existsSync(folder.at('demo/outputs/report.xlsx'))).to.equal(true);
    const failing = await at(cwd, 'run', 'pipeline.yaml', '--params', '{"least": 1000}');
    expect(failing.status).to.equal(3);
    expect(failing.stderr).to.contain('no order has a price');
  });

  it('writes tests that pass and reach all tasks', async () => {
    await at(folder.path, 'init', 'report', '--template', 'report');
    const report = await at(folder.at('report'), 'test');
    expect(report.status, report.stderr).to.equal(0);
    expect(report.stdout).to.contain('coverage: 5 of 5 tasks');
    await at(folder.path, 'init', 'tools');
    const own = await at(folder.at('tools'), 'test', '--tools', 'tools.ts');
    expect(own.status, own.stderr).to.equal(0);
    expect(own.stdout).to.contain('coverage: 5 of 5 tasks');
  });

  it('refuses a template that does not exist', async () => {
    const { status, stderr } = await at(folder.path, 'init', '--template', 'plan');
    expect(status).to.equal(2);
    expect(stderr).to.contain('the templates are tools and report');
    expect(existsSync(folder.at('pipeline.yaml'))).to.equal(false);
  });

  it('writes into the working directory by default', async () => {
    const { stdout } = await at(folder.path, 'init');
    expect(existsSync(folder.at('pipeline.yaml'))).to.equal(true);
    expect(stdout).not.to.contain('cd ');
  });

  it('writes a pipeline that is valid and runs in several waves', async () => {
    await at(folder.path, 'init');
    const validated = await at(folder.path, 'validate', 'pipeline.yaml', '--tools', 'tools.ts');
    expect(validated.status, validated.stderr).to.equal(0);
    expect(validated.stderr).to.equal('');
    expect(validated.stdout).to.contain('waves: 4').and.to.contain('fan_out_tasks: 1');
    const { status, stdout, stderr } = await at(
      folder.path,
      'run',
      'pipeline.yaml',
      '--tools',
      'tools.ts',
      '--json',
    );
    expect(status, stderr).to.equal(0);
    const outputs: Record<string, unknown> = JSON.parse(stdout);
    expect(outputs['total']).to.equal(643.8);
    expect(outputs['report']).to.contain('- Linus: 126').and.to.contain('Total: 643.8');
  });

  it('writes a pipeline that accepts the params in its README', async () => {
    await at(folder.path, 'init');
    const [line = ''] =
      /wavetrain run .*--params .*/.exec(readFileSync(folder.at('README.md'), 'utf8')) ?? [];
    expect(line).to.contain(`'{"discount": 0.25}'`);
    const run = ['run', 'pipeline.yaml', '--tools', 'tools.ts', '--params', '{"discount": 0.25}', '--json'];
    expect(JSON.parse((await at(folder.path, ...run)).stdout)).to.include({ total: 616.5 });
  });

  it('sets up editors to use the schema of pipeline files', async () => {
    await at(folder.path, 'init');
    const settings = JSON.parse(readFileSync(folder.at('.vscode/settings.json'), 'utf8'));
    expect(settings['yaml.schemas']).to.deep.equal({
      './pipeline.schema.json': ['pipeline.yaml', '*.pipeline.yaml'],
    });
    const [first] = readFileSync(folder.at('pipeline.yaml'), 'utf8').split('\n');
    expect(first).to.equal('# yaml-language-server: $schema=pipeline.schema.json');
    const { stdout } = await at(folder.path, 'schema', 'pipeline', '--tools', 'tools.ts');
    expect(readFileSync(folder.at('pipeline.schema.json'), 'utf8')).to.equal(stdout);
  });

  it('writes nothing if a file exists, lists it and exits with 2', async () => {
    folder.write('README.md', 'mine');
    const { status, stdout, stderr } = await at(folder.path, 'init');
    expect(status).to.equal(2);
    expect(stdout).to.equal('');
    expect(stderr).to.match(/nothing was written.*:\n {2}README\.md\n.*--force/);
    expect(existsSync(folder.at('pipeline.yaml'))).to.equal(false);
    expect(readFileSync(folder.at('README.md'), 'utf8')).to.equal('mine');
  });

  it('overwrites existing files with --force', async () => {
    folder.write('README.md', 'mine');
    expect((await at(folder.path, 'init', '--force')).status).to.equal(0);
    expect(readFileSync(folder.at('README.md'), 'utf8')).not.to.equal('mine');
  });

  it('reports why it cannot write', async () => {
    writeFileSync(folder.at('file'), '');
    const { status, stderr } = await at(folder.path, 'init', 'file/demo');
    expect(status).to.equal(2);
    expect(stderr).to.contain('cannot write');
  });
});
