import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { filesBelow, read, ROOT } from './files.js';
import { type TestServer, startTestServer } from '../support/http/test-server.js';

const execute = promisify(execFile);

const PROGRAMS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  curl: ['sh', 'examples/http/curl.sh'],
  // tsconfig.json maps its imports to the source.
  client: [process.execPath, '--import', 'tsx', 'examples/http/client.ts'],
  fetch: [process.execPath, 'examples/http/fetch.mjs'],
};

describe('The HTTP examples', function () {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close(0));

  it('include every client, each with its expected output', () => {
    const outputs = filesBelow('examples/http', '.expected.txt');
    expect(outputs).to.deep.equal(
      Object.keys(PROGRAMS)
        .map((name) => `examples/http/${name}.expected.txt`)
        .sort(),
    );
  });

  for (const [name, [program, ...words]] of Object.entries(PROGRAMS)) {
    it(`${name} prints the committed output`, async () => {
      const env = { ...process.env, WAVETRAIN_SERVER: server.url };
      const { stdout, stderr } = await execute(program, words, { cwd: ROOT, env });
      expect(stderr).to.equal('');
      expect(stdout).to.equal(read(`examples/http/${name}.expected.txt`));
    });
  }
});
