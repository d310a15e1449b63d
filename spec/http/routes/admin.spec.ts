import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { type Clock, systemClock } from '../../../lib/common/clock.js';
import { directLauncher, type Launcher } from '../../../lib/common/workers/launcher.js';
import { checkStore } from '../../../lib/runs/store/maintenance/check-store.js';
import { ServerBackups } from '../../../lib/runs/store/maintenance/server-backups.js';
import { distFile } from '../../../lib/common/files.js';
import { requireBuild } from '../../project/files.js';
import { openStore, writeStore } from '../../runs/store/maintenance/kept-store.js';
import { createApiKey } from '../../support/http/api-key.js';
import { startTestServer, type TestServer, type TestServerOptions } from '../../support/http/test-server.js';
import { deferred } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { useTemporaryFolder } from '../../support/temporary-folder.js';

interface Backup {
  readonly file: string;
  readonly bytes: number;
  readonly runs: number;
  readonly duration_ms: number;
}

interface Refusal {
  readonly detail: { readonly code: string; readonly message: string };
}

describe('POST /admin/backup (D74)', () => {
  const folder = useTemporaryFolder();
  let server: TestServer | undefined;

  before(() => requireBuild());

  afterEach(async () => {
    await server?.close(0);
    server = undefined;
  });

  /** Starts a server with a store of 20 runs. @param program that copies it @param process how it is launched and timed */
  async function start(
    options: TestServerOptions = {},
    program = distFile('backup-process.cjs'),
    process: { readonly launcher: Launcher; readonly clock: Clock } = {
      launcher: directLauncher,
      clock: systemClock,
    },
  ): Promise<TestServer> {
    const file = folder.at('runs.db');
    await writeStore(file, 20, 10, false, true);
    const store = await openStore(file);
    const backups = new ServerBackups({ file, program, ...process });
    server = await startTestServer({ ...options, store, backups });
    await server.restored;
    return server;
  }

  const backUp = <T = Refusal>(of: TestServer, file: unknown, key?: string) =>
    of.request<T>(
      'POST',
      '/admin/backup',
      { file },
      key === undefined ? {} : { authorization: `Bearer ${key}` },
    );

  const names = (): string[] => readdirSync(folder.path).filter((name) => !name.startsWith('runs.db'));

  it('writes a copy beside the store, in another process, and responds when it is sound', async () => {
    const running = await start();
    const { status, body } = await backUp<Backup>(running, 'backup.db');
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.include({ file: folder.at('backup.db'), runs: 20 });
    expect(Object.keys(body)).to.deep.equal(['file', 'bytes', 'runs', 'duration_ms']);
    expect(await checkStore(folder.at('backup.db'), false)).to.include({ ok: true, runs: 20 });
    expect(names()).to.deep.equal(['backup.db']);
    const again = await backUp(running, 'backup.db');
    expect(again.status).to.equal(409);
    expect(again.body.detail.code).to.equal('file_changed');
    expect(again.body.detail.message).to.contain('is there already: name another file');
  });

  it('waits for its process as long as the machine is busy with work of higher priority', async () => {
    const clock = new ManualClock();
    const hasStarted = deferred<() => void>();
    const launcher: Launcher = {
      ...directLauncher,
      launch: (copier, listener) =>
        directLauncher.launch(copier, {
          ...listener,
          onSocket: (socket) => hasStarted.resolve(() => listener.onSocket(socket)),
        }),
    };
    const running = await start({}, undefined, { launcher, clock });
    const backup = backUp<Backup>(running, 'backup.db');
    const connect = await hasStarted.promise;
    clock.advance(3_600_000);
    connect();
    expect((await backup).status).to.equal(200);
  });

  it('accepts the name of a file alone, and none that belongs to the store', async () => {
    const running = await start();
    for (const name of [
      '../b.db',
      '/b.db',
      'a/b.db',
      'a\\b.db',
      '..',
      '.b',
      'con',
      'b.db\u0000',
      'runs.db',
      'runs.db-wal',
    ]) {
      const { status, body } = await backUp(running, name);
      expect(status, name).to.equal(400);
      expect(body.detail.code, name).to.equal('invalid_request');
    }
    for (const name of [undefined, '', 7, null]) expect((await backUp(running, name)).status).to.equal(400);
    expect(names()).to.deep.equal([]);
  });

  it('needs a key with the scope "admin", which no key has by default (D37)', async () => {
    const keys = [createApiKey('operator', ['acme'], ['admin']), createApiKey('runner', ['*'])];
    const all = createApiKey('most', ['*'], ['read', 'run', 'edit', 'metrics']);
    const running = await start({ keys: [...keys, all] });
    expect((await backUp(running, 'a.db')).status).to.equal(401);
    for (const key of ['runner', 'most']) {
      const { status, body } = await backUp(running, 'a.db', key);
      expect(status).to.equal(403);
      expect(body.detail.message).to.equal('this key lacks the scope "admin"');
    }
    expect((await backUp(running, 'a.db', 'operator')).status).to.equal(200);
  });

  it('is refused without keys where other machines can reach the server', async () => {
    const env = { SERVICE_API_HOST: '0.0.0.0', SERVICE_ALLOW_ANONYMOUS: 'true' };
    const { status, body } = await backUp(await start({ env }), 'a.db');
    expect(status).to.equal(403);
    expect(body.detail.message).to.contain('start it with a keys file');
    expect(names()).to.deep.equal([]);
  });

  it('says that there is nothing to back up when runs are kept in memory', async () => {
    server = await startTestServer();
    const { status, body } = await backUp(server, 'a.db');
    expect(status).to.equal(400);
    expect(body.detail.message).to.contain('this server keeps its runs in memory');
  });

  it('writes one backup at a time, ends with the server, and leaves nothing behind', async () => {
    // A program that never answers.
    const running = await start({}, folder.write('runs.db-sleep.cjs', 'setInterval(() => {}, 1000);'));
    const first = backUp(running, 'a.db');
    const isAtWork = (): boolean => names().some((name) => name.startsWith('a.db.unfinished-'));
    while (!isAtWork()) await running.request('GET', '/health');
    const second = await backUp(running, 'b.db');
    expect(second.status).to.equal(429);
    expect(second.body.detail.message).to.contain('another backup is being written');
    expect(second.headers.get('retry-after')).to.equal('5');
    await running.close(0);
    server = undefined;
    const { status, body } = await first;
    expect(status).to.equal(503);
    expect(body.detail.code).to.equal('shutting_down');
    expect(names()).to.deep.equal([]);
  });

  it('says why a backup was not written, in the response and in the log, and writes the next one', async () => {
    const running = await start({}, folder.write('runs.db-crash.cjs', 'process.exit(9);'));
    for (let attempt = 0; attempt < 2; attempt++) {
      const { status, body } = await backUp(running, 'a.db');
      expect(status).to.equal(500);
      expect(body.detail.message).to.match(/^the backup was not written: its process ended \(status 9\)/);
    }
    expect(running.log.filter(({ level }) => level === 'error').map(({ message }) => message)).to.have.length(
      2,
    );
    expect(names()).to.deep.equal([]);
  });
});
