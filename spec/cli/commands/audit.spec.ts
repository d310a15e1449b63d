import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { AuditEntry } from '../../../lib/audit/audit-entry.js';
import { AUDIT_LOOK_MS } from '../../../lib/cli/commands/audit.js';
import { systemClock } from '../../../lib/common/clock.js';
import { createApiKey } from '../../support/http/api-key.js';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';
import { ManualClock } from '../../support/manual-clock.js';
import { type Invocation, invoke, type InvokeOptions, Recorder } from '../invoke.js';

const KEYS = [
  createApiKey('root', ['*'], ['read', 'run', 'admin']),
  createApiKey('ci', ['acme'], ['read', 'run']),
];
const HELLO = { id: 'hello', goal: 'greet', tasks: [{ id: 'greet', tool: 'mock' }] };
const MINUTE_MS = 60_000;

describe('wavetrain audit (D95)', () => {
  let clock: ManualClock;
  let server: TestServer;
  /** Of the first run, which the key `ci` starts at 00:00. */
  let runId: string;

  beforeEach(async () => {
    clock = new ManualClock();
    server = await startTestServer({ keys: KEYS, clock });
    runId = await submit('ci');
    clock.advance(5 * MINUTE_MS);
    for (let attempt = 0; attempt < 4; attempt++) await server.request('GET', '/pipelines/runs');
    clock.advance(MINUTE_MS);
    await submit('root');
  });
  afterEach(() => server.close(0));

  const submit = async (key: string): Promise<string> => {
    const accepted = await server.request<{ run_id: string }>(
      'POST',
      '/pipelines/run_async',
      { pipeline: HELLO },
      { 'x-api-key': key },
    );
    await server.registry.settled(accepted.body.run_id);
    return accepted.body.run_id;
  };

  const audit = (args = '', options: InvokeOptions = {}, key = 'root'): Promise<Invocation> =>
    invoke(['audit', ...args.split(' ').filter((arg) => arg !== '')], {
      env: { WAVETRAIN_SERVER: server.url, WAVETRAIN_API_KEY: key },
      clock,
      ...options,
    });

  const read = async (args: string): Promise<readonly AuditEntry[]> => {
    const { status, stdout, stderr } = await audit(`--json ${args}`);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    return (JSON.parse(stdout) as { entries: AuditEntry[] }).entries;
  };

  it('prints a line for each entry, the newest first, with the number of repeated refused attempts', async () => {
    const { status, stdout, stderr } = await audit();
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    const [head, ...rows] = toCells(stdout);
    expect(head).to.deep.equal(['TIME (UTC)', 'WHO', 'ACTION', 'RESULT', 'ADDRESS', 'TENANT', 'OBJECT']);
    expect(rows.map((cells) => cells.slice(0, 6))).to.deep.equal([
      ['2026-01-01 00:06:00', 'key root', 'submit', 'ok', '127.0.0.1', 'default'],
      ['2026-01-01 00:06:00', 'anonymous', 'access', 'refused 401 x3', '127.0.0.1', '-'],
      ['2026-01-01 00:05:00', 'anonymous', 'access', 'refused 401', '127.0.0.1', '-'],
      ['2026-01-01 00:00:00', 'key ci', 'submit', 'ok', '127.0.0.1', 'acme'],
    ]);
    expect(rows[1]?.at(-1)).to.equal('path /pipelines/runs (unauthorized)');
    expect(rows[3]?.at(-1)).to.equal(`run ${runId} (pipeline hello)`);
  });

  it('prints the entries of the API as one JSON document with --json', async () => {
    const entries = await read('');
    const listed = await server.request<{ entries: unknown }>('GET', '/admin/audit', undefined, {
      'x-api-key': 'root',
    });
    expect(entries).to.deep.equal(listed.body.entries);
    expect(entries).to.have.length(4);
  });

  it('says that there are more entries than it lists, and lists all of them with --all', async () => {
    const { stdout, stderr } = await audit('--limit 2');
    expect(toCells(stdout)).to.have.length(3);
    expect(stderr).to.contain(
      'the server has more entries: --limit N lists N of them, --all lists every entry',
    );
    expect((await audit('--limit 4')).stderr).to.equal('');
    expect(await read('--all')).to.have.length(4);
  });

  it('says that no entry was found', async () => {
    expect(await audit('--who schedule')).to.deep.equal({
      status: 0,
      stdout: 'no entries found\n',
      stderr: '',
    });
  });

  for (const [flags, times] of [
    ['--who key', ['00:06', '00:00']],
    ['--who key:ci', ['00:00']],
    ['--action access', ['00:06', '00:05']],
    ['--object path:/pipelines/runs', ['00:06', '00:05']],
    ['--result ok', ['00:06', '00:00']],
    ['--tenant acme', ['00:00']],
    ['--since 2m', ['00:06', '00:06', '00:05']],
    ['--until 2026-01-01T00:05:00Z', ['00:00']],
    ['--since 6m --until 2026-01-01T00:06:00Z --result refused', ['00:05']],
  ] as const) {
    it(`selects with ${flags}`, async () => {
      expect((await read(flags)).map(({ time }) => time.slice(11, 16))).to.deep.equal(times);
    });
  }

  describe('--follow', () => {
    let stdout: Recorder;
    let processEvents: EventEmitter;
    let following: Promise<Invocation>;

    /** The time between two looks is over at once. */
    const hasty = {
      now: () => clock.now(),
      monotonicNow: () => systemClock.monotonicNow(),
      setTimeout: (run: () => void, ms: number) => systemClock.setTimeout(run, ms === AUDIT_LOOK_MS ? 1 : ms),
      clearTimeout: (timer: unknown) => systemClock.clearTimeout(timer),
    };
    const follow = async (args: string, lines: number): Promise<void> => {
      stdout = new Recorder();
      processEvents = new EventEmitter();
      following = audit(`--follow ${args}`, { stdout, processEvents, clock: hasty });
      await untilPrinted(lines);
    };
    const untilPrinted = async (lines: number): Promise<void> => {
      while (linesOf(stdout.text).length < lines) await Promise.race([setImmediate(), following]);
    };

    it('prints the newest entries and then those that come, the newest last, until a signal', async () => {
      await follow('--limit 2 --result ok', 3);
      const later = await submit('ci');
      await untilPrinted(4);
      processEvents.emit('SIGINT');
      expect((await following).status).to.equal(130);
      const [head, ...rows] = toCells(stdout.text);
      expect(head?.[0]).to.equal('TIME (UTC)');
      expect(rows.map((cells) => cells[1])).to.deep.equal(['key ci', 'key root', 'key ci']);
      expect(rows.at(-1)?.at(-1)).to.contain(later);
      expect(processEvents.listenerCount('SIGINT')).to.equal(0);
    });

    it('prints with --json one document per line, and selects what comes', async () => {
      await follow('--json --who key:ci', 1);
      await submit('root');
      const later = await submit('ci');
      await untilPrinted(2);
      processEvents.emit('SIGTERM');
      expect((await following).status).to.equal(130);
      const ids = linesOf(stdout.text).map((line) => (JSON.parse(line) as AuditEntry).object.id);
      expect(ids).to.deep.equal([runId, later]);
    });
  });

  describe('exits with 2 and says what to do, for', () => {
    for (const [args, told] of [
      ['--who nobody', /--who must be .*key.*schedule.*webhook/],
      ['--object thing:1', /--object must be .*run.*pipeline/],
      ['--action steal', /--action must be .*submit/],
      ['--result good', /--result must be .*ok, refused/],
      ['--since yesterday', /--since must be how long ago, or a date or time/],
      ['--limit 0', /--limit must be/],
      ['--all --limit 3', /give --limit or --all, not both/],
      ['--follow --until 2026-01-01', /--follow goes on with new entries/],
    ] as const) {
      it(args, async () => {
        const { status, stdout, stderr } = await audit(args);
        expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
        expect(stderr).to.match(told);
      });
    }

    it('a key without the scope "admin"', async () => {
      const { status, stdout, stderr } = await audit('', {}, 'ci');
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr)
        .to.contain('this key lacks the scope "admin"')
        .and.contain('the operator of the server gives it to a key under "scopes"');
    });
  });
});

function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

function toCells(table: string): string[][] {
  return linesOf(table).map((line) => line.split(/ {2,}/));
}
