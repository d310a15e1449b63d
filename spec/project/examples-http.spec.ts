import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { filesBelow, read, ROOT } from './files.js';
import { type Serving, serving } from '../support/http/serving.js';

const execute = promisify(execFile);

const PROGRAMS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  curl: ['sh', 'examples/http/curl.sh'],
  // Its imports lead to the source, as tsconfig.json says.
  client: [process.execPath, '--import', 'tsx', 'examples/http/client.ts'],
  fetch: [process.execPath, 'examples/http/fetch.mjs'],
};

describe('The examples of runs over HTTP', function () {
  this.timeout(30_000);
  let server: Serving;
  before(async () => {
    server = await serving();
  });
  after(() => server.close(0));

  it('are all there, each with what it prints', () => {
    const outputs = filesBelow('examples/http', '.expected.txt');
    expect(outputs).to.deep.equal(
      Object.keys(PROGRAMS)
        .map((name) => `examples/http/${name}.expected.txt`)
        .sort(),
    );
  });

  for (const [name, [program, ...words]] of Object.entries(PROGRAMS)) {
    it(`print, with ${name}, what is committed beside it`, async () => {
      const env = { ...process.env, WAVETRAIN_SERVER: server.url };
      const { stdout, stderr } = await execute(program, words, { cwd: ROOT, env });
      expect(stderr).to.equal('');
      expect(stdout).to.equal(read(`examples/http/${name}.expected.txt`));
    });
  }
});
