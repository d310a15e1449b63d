import { expect } from 'chai';
import { WavetrainError } from '../../../../lib/common/errors.js';
import {
  type ReloadedPart,
  Reloader,
  type ReadVariables,
} from '../../../../lib/cli/commands/serve/reloader.js';
import { WATCH_MS } from '../../../../lib/cli/commands/serve/file-poller.js';
import type { Reload, ReloadChange } from '../../../../lib/http/reload.js';
import { deferred, settle } from '../../../support/deferred.js';
import { ManualClock } from '../../../support/manual-clock.js';

describe('Reloader', () => {
  let clock: ManualClock;
  let signatures: Map<string, string>;
  let log: string[];
  let reloads: Reload[];
  let used: string[];
  let variables: ReadVariables;
  let reloader: Reloader;

  const fails = (message: string) => (): Promise<never> =>
    Promise.reject(new WavetrainError('bad_usage', message));

  function part(
    kind: ReloadChange['kind'],
    file: string,
    read?: ReloadedPart['read'],
    changed: readonly string[] = ['x'],
  ): ReloadedPart {
    return {
      kind,
      files: () => [file],
      read:
        read ??
        (async () => ({
          use: () => {
            used.push(kind);
            return { changed };
          },
          drop: () => void used.push(`${kind} dropped`),
        })),
    };
  }

  function open(...parts: ReloadedPart[]): Reloader {
    const write = (_facts: object, message: string): void => void log.push(message);
    reloader = new Reloader({
      variables: { files: ['/env'], read: async () => variables },
      parts,
      clock,
      log: { debug: write, info: write, warn: write, error: write },
      onReload: (reload) => void reloads.push(reload),
      inspect: async (path) => signatures.get(path) ?? 'none',
    });
    return reloader;
  }

  /** Changes a file, and lets the watch look at it until the reload is over. */
  async function change(file: string): Promise<void> {
    const before = reloads.length;
    signatures.set(file, `${signatures.get(file)}+`);
    while (reloads.length === before) {
      clock.advance(WATCH_MS.poll);
      await settle(1);
    }
  }

  beforeEach(() => {
    clock = new ManualClock();
    signatures = new Map();
    [log, reloads, used] = [[], [], []];
    variables = { env: {}, changed: [], needRestart: [], use: () => void used.push('variables') };
  });

  afterEach(() => reloader.close());

  it('reads everything on request, and says in one line what has changed', async () => {
    open(part('keys', '/keys', undefined, ['ann', 'bob']), part('secrets', '/secrets'));
    const reload = await reloader.reload('signal');
    expect(reload).to.deep.equal({
      at: '2026-01-01T00:00:00.000Z',
      cause: 'signal',
      error: null,
      changes: [
        { kind: 'keys', changed: ['ann', 'bob'] },
        { kind: 'secrets', changed: ['x'] },
      ],
      needRestart: [],
    });
    expect(reloader.last).to.equal(reload);
    expect(reloads).to.deep.equal([reload]);
    expect(log).to.deep.equal(['configuration read again: keys (changed ann, bob), secrets (changed x)']);
    expect(used).to.deep.equal(['variables', 'keys', 'secrets']);
  });

  it('says so when nothing has changed', async () => {
    open(part('keys', '/keys', async () => ({ use: () => undefined })));
    await reloader.reload('request');
    expect(log).to.deep.equal(['configuration read again: nothing has changed']);
  });

  it('uses nothing when a part cannot be read, and says why', async () => {
    open(part('secrets', '/secrets'), part('keys', '/keys', fails('the keys file has no keys')));
    const { error, changes } = await reloader.reload('signal');
    expect({ error, changes }).to.deep.equal({ error: 'the keys file has no keys', changes: [] });
    expect(used).to.deep.equal(['secrets dropped']);
    expect(log).to.deep.equal([
      'configuration not read again, all stays as it was: the keys file has no keys',
    ]);
  });

  it('reads the part alone whose file has changed, also while another one is bad', async () => {
    open(part('keys', '/keys'), part('tools', '/tools', fails('bad')));
    await reloader.watch(new Map());
    await change('/keys');
    expect(used).to.deep.equal(['variables', 'keys']);
    await change('/tools');
    expect(reloads.map(({ cause, error }) => [cause, error])).to.deep.equal([
      ['file', null],
      ['file', 'bad'],
    ]);
  });

  it('reads everything with the new variables when their file has changed, and names those that need a restart', async () => {
    const env = { SERVICE_LOG_LEVEL: 'debug' };
    const seen: unknown[] = [];
    const needRestart = ['SERVICE_API_PORT', 'SERVICE_STORE'];
    variables = { ...variables, env, changed: ['SERVICE_LOG_LEVEL'], needRestart };
    open(
      part('tools', '/tools', async (given) => {
        seen.push(given);
        return { use: () => undefined };
      }),
    );
    await reloader.watch(new Map());
    await change('/env');
    expect(seen).to.deep.equal([env]);
    expect(reloads[0]?.changes).to.deep.equal([{ kind: 'settings', changed: ['SERVICE_LOG_LEVEL'] }]);
    expect(log).to.deep.equal([
      'configuration read again: settings (changed SERVICE_LOG_LEVEL); SERVICE_API_PORT, SERVICE_STORE changed: restart to use them',
    ]);
  });

  it('does one reload after another, and one for all who ask while it waits', async () => {
    const gate = deferred<void>();
    let reads = 0;
    open(
      part('keys', '/keys', async () => {
        reads++;
        await gate.promise;
        return { use: () => undefined };
      }),
    );
    const first = reloader.reload('signal');
    while (reads === 0) await settle(1);
    const others = [reloader.reload('signal'), reloader.reload('request')];
    expect(others[0]).to.equal(others[1]);
    await settle(1);
    expect(reads).to.equal(1);
    gate.resolve();
    await Promise.all([first, ...others]);
    expect(reads).to.equal(2);
  });
});
