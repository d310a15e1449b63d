import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { requireBuild, ROOT } from '../../project/files.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';

const FAKE = join(ROOT, 'spec/tools/mcp/fake-server.mjs');

function pipeline(task: string): string {
  return `pipeline:\n  id: x\n  goal: g\n  tasks:\n    - ${task}\n`;
}

const ECHO = pipeline('{id: a, tool: mcp.fake.echo, inputs: {text: hi}}');

describe('Commands with MCP servers', () => {
  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = new TemporaryFolder();
    const fake = { command: process.execPath, args: [FAKE] };
    const broken = { command: process.execPath, args: [FAKE, 'broken'] };
    folder.write('mcp.json', JSON.stringify({ mcpServers: { fake, broken } }));
  });

  afterEach(() => folder.remove());

  function command(...argv: string[]): ReturnType<typeof invoke> {
    return invoke(argv, { cwd: folder.path, env: { SERVICE_MCP_FILE: 'mcp.json' } });
  }

  it('run calls the tool of a server, and starts no other server', async () => {
    folder.write('p.yaml', ECHO);
    const { status, stdout, stderr } = await command('run', 'p.yaml', '--json', '--quiet');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).to.deep.equal({ a: 'hi' });
  });

  it('validate finds a wrong input of such a tool', async () => {
    folder.write('p.yaml', ECHO.replace('text:', 'txt:'));
    const { status, stderr } = await command('validate', 'p.yaml');
    expect(status).to.equal(1);
    expect(stderr)
      .to.contain('tool "mcp.fake.echo" has no input "txt"')
      .and.to.contain('did you mean "text"?');
  });

  it('validate names the servers that there are when a task names another one, and not for an address', async () => {
    folder.write(
      'p.yaml',
      ECHO.replace('mcp.fake.', 'mcp.fkae.').replace('text: hi', 'text: mcp.example.com'),
    );
    const { status, stderr } = await command('validate', 'p.yaml');
    expect(status).to.equal(1);
    expect(stderr)
      .to.contain('the MCP configuration mcp.json has no server "fkae"; it has fake, broken\n')
      .and.not.contain('"example"');
  });

  it('run fails with the reason when the server of a task cannot be started', async () => {
    folder.write('p.yaml', pipeline('{id: a, tool: mcp.broken.echo}'));
    const { status, stderr } = await command('run', 'p.yaml');
    expect(status).to.equal(2);
    expect(stderr.replaceAll(/\s+/g, ' ')).to.match(/the MCP server "broken".*cannot find the module "x"/);
  });

  for (const argv of [
    ['run', 'p.yaml'],
    ['validate', 'p.yaml'],
    ['graph', 'p.yaml'],
    ['tools'],
    ['schema', 'pipeline'],
    ['compile', 'x'],
    ['serve', '--port', '0'],
    ['mcp'],
  ]) {
    it(`${argv[0]} refuses a file of --mcp that is not there, or has a mistake, also when nothing needs it`, async () => {
      folder.write('p.yaml', pipeline('{id: a, tool: mock}'));
      folder.write('bad.json', '{"servers": {}}');
      const start = (file: string) => invoke([...argv, '--mcp', file], { cwd: folder.path, env: {} });
      const missing = await start('none.json');
      expect(missing.status).to.equal(2);
      expect(missing.stderr).to.contain('cannot read the MCP configuration none.json: there is no such file');
      const bad = await start('bad.json');
      expect(bad.status).to.equal(2);
      expect(bad.stderr).to.contain('has no object "mcpServers"');
    });
  }

  it('a definition without such tools starts no server', async () => {
    folder.write('p.yaml', pipeline('{id: a, tool: mock}'));
    const servers = { never: { command: '/no/such/program' } };
    folder.write('none.json', JSON.stringify({ mcpServers: servers }));
    const { status, stderr } = await invoke(['run', 'p.yaml', '--quiet', '--mcp', 'none.json'], {
      cwd: folder.path,
    });
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  });

  it('run on a server refuses --mcp: that server has its own', async () => {
    folder.write('p.yaml', ECHO);
    const { status, stderr } = await command(
      'run',
      'p.yaml',
      '--server',
      'http://127.0.0.1:9',
      '--mcp',
      'mcp.json',
    );
    expect(status).to.equal(2);
    expect(stderr).to.contain('--mcp does not go with --server');
  });

  it('an unknown tool of a server without a configuration says how to name one', async () => {
    folder.write('p.yaml', ECHO);
    const { status, stderr } = await invoke(['validate', 'p.yaml'], { cwd: folder.path });
    expect(status).to.equal(1);
    expect(stderr).to.contain('--mcp');
  });

  it('tools lists those of the servers that there are, and warns of the others', async () => {
    const { status, stdout, stderr } = await command('tools', '--json');
    expect(status).to.equal(0);
    const { tools } = JSON.parse(stdout) as { tools: string[] };
    expect(tools).to.include('mcp.fake.echo').and.to.include('mock');
    expect(stderr).to.contain('wavetrain: cannot list the tools of the MCP server "broken"');
  });

  it('run --verbose prints what servers write to standard error', async () => {
    folder.write('p.yaml', pipeline('{id: a, tool: mcp.fake.die}'));
    expect((await command('run', 'p.yaml', '--verbose')).stderr).to.contain('fake: dying of');
    expect((await command('run', 'p.yaml', '--quiet')).stderr).not.to.contain('fake: dying of');
  });

  it('schema knows the inputs of such tools, for editors', async () => {
    const { stdout } = await command('schema', 'pipeline', '--mcp', 'one.json').catch(() => ({ stdout: '' }));
    expect(stdout).to.equal('');
    folder.write(
      'one.json',
      JSON.stringify({ mcpServers: { fake: { command: process.execPath, args: [FAKE] } } }),
    );
    expect((await command('schema', 'pipeline', '--mcp', 'one.json')).stdout).to.contain(
      'inputs of mcp.fake.echo',
    );
  });

  it('the built command finds the SDK, and leaves no server behind', () => {
    requireBuild();
    folder.write('p.yaml', ECHO);
    const argv = [join(ROOT, 'bin/wavetrain.js'), 'run', 'p.yaml', '--json', '--quiet', '--mcp', 'mcp.json'];
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
      cwd: folder.path,
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).to.deep.equal({ status: 0, stdout: '{"a":"hi"}\n', stderr: '' });
  });
});
