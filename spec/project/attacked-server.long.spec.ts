import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Api } from '../../bench/soak/api.js';
import { ATTACKS } from '../../bench/soak/attacks.js';
import { floodSettings } from '../../bench/soak/floods.js';
import { startOrigin } from '../../bench/soak/origin.js';
import { cases } from '../support/measuring/cases.js';
import { TemporaryFolder } from '../support/temporary-folder.js';
import { requireBuild, ROOT } from './files.js';

/** The smallest setting, in MiB, with the heap that it asks for: what exceeds it ends the process. */
const MEMORY_MIB = 16;
const HEAP_MIB = 352;

const SUM = {
  pipeline: {
    id: 'sum',
    goal: 'g',
    tasks: [
      { id: 'a', tool: 'transform', inputs: { input: [1, 2, 4], expression: '$sum($)' } },
      { id: 'b', tool: 'mock', inputs: { v: '{{a.output}}' } },
    ],
  },
};

describe('a server in a process of its own, attacked by the holder of a key', () => {
  const folder = new TemporaryFolder();
  let server: ChildProcess;
  let honest: Api;
  let hostile: Api;
  let origin: Awaited<ReturnType<typeof startOrigin>>;

  before(async () => {
    requireBuild();
    const keys = ['alice', 'bob'].map((name) => ({
      name,
      sha256: createHash('sha256').update(toKey(name)).digest('hex'),
      tenants: [name],
    }));
    writeFileSync(join(folder.path, 'keys.yaml'), JSON.stringify(keys));
    origin = await startOrigin();
    server = spawn(process.execPath, [join(ROOT, 'bin/wavetrain.js'), 'serve', '--port', '0'], {
      cwd: folder.path,
      env: {
        PATH: process.env['PATH'],
        NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
        SERVICE_API_KEYS_FILE: 'keys.yaml',
        SERVICE_MEMORY: String(MEMORY_MIB),
        // The hostile server is on loopback.
        SERVICE_ALLOW_PRIVATE_NETWORK: 'true',
        ...floodSettings(folder.path, origin.url),
      },
    });
    const url = await readUrl(server);
    honest = new Api(url, toKey('bob'), 30_000);
    hostile = new Api(url, toKey('alice'), 30_000);
  });

  after(() => {
    honest.close();
    hostile.close();
    server.kill('SIGKILL');
    origin.server.close();
    origin.server.closeAllConnections();
    folder.remove();
  });

  it('stays alive whatever the attacks are, and answers another tenant correctly meanwhile', async () => {
    const workbooks = Math.min(4, cases(4).numRuns);
    const attacker = { random: createSequence(), patienceMs: 500, workbooks, originUrl: origin.url };
    let isOver = false;
    const attacking = Promise.all(
      Object.values(ATTACKS).map((attack) => attack(hostile, attacker).catch(() => undefined)),
    ).finally(() => {
      isOver = true;
    });
    let responses = 0;
    do {
      const { status, text } = await honest.send('POST', '/pipelines/run', SUM);
      expect(status, text).to.equal(200);
      expect((JSON.parse(text) as { outputs: { a: number } }).outputs.a).to.equal(7);
      responses++;
    } while (!isOver);
    await attacking;
    expect(responses).to.be.greaterThan(1);
    expect({ status: server.exitCode, signal: server.signalCode }).to.deep.equal({
      status: null,
      signal: null,
    });
  });
});

function toKey(name: string): string {
  return name.repeat(10);
}

/** Counts through 0 to 1, so that every variant of an attack is used. */
function createSequence(): () => number {
  let calls = 0;
  return () => (calls++ % 7) / 7;
}

async function readUrl({ stdout, stderr }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const read = (chunk: Buffer): void => {
      text = (text + chunk.toString()).slice(-10_000);
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
      if (url !== undefined) resolve(url);
    };
    stdout?.on('data', read);
    stderr?.on('data', read);
  });
}
