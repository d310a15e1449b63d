import { Writable } from 'node:stream';
import { expect } from 'chai';
import { createLog, type LogOptions, type StreamLog } from '../../../lib/http/logging/log.js';
import { ManualClock } from '../../support/manual-clock.js';
import { SlowStream } from '../../support/http/slow-stream.js';

const REQUEST = { method: 'POST', path: '/pipelines/run', status: 200, duration_ms: 14 };
const SECRET = 'wt_secret';

/** All headers with credentials, at several depths. */
const SECRETS = {
  authorization: `Bearer ${SECRET}`,
  headers: { Authorization: `Bearer ${SECRET}`, 'X-API-Key': SECRET, host: 'localhost' },
  request: { headers: [{ cookie: SECRET, 'set-cookie': [SECRET], 'proxy-authorization': SECRET }] },
};

/** Creates a log and collects its lines. */
function openLog(options: Partial<LogOptions> = {}): {
  log: StreamLog;
  clock: ManualClock;
  lines: () => string[];
  /** The texts of the log, write by write. */
  written: readonly string[];
} {
  const written: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      written.push(chunk);
      done();
    },
  });
  // Terminal lines show local time.
  const clock = new ManualClock(new Date(2026, 0, 2, 12, 0, 1, 5).getTime());
  const log = createLog({ stream, interactive: false, colours: false, level: 'info', clock, ...options });
  return { log, clock, written, lines: () => written.join('').split('\n').slice(0, -1) };
}

function errorWithCause(): Error {
  const error = new TypeError('outer', { cause: new RangeError('inner') });
  return Object.assign(error, { code: 'E_ODD', rawPacket: Buffer.from(SECRET), headers: SECRETS.headers });
}

describe('The JSON log of a server', () => {
  it('writes one JSON object per line: level as a word, time in ISO 8601, facts and message', () => {
    const { log, clock, lines } = openLog();
    log.info({ ...REQUEST, run_id: 'r1' }, 'request');
    clock.advance(1000);
    log.warn({}, 'the disk is "full"\n');
    expect(lines()).to.deep.equal([
      JSON.stringify({
        level: 'info',
        time: new Date(clock.now() - 1000).toISOString(),
        ...REQUEST,
        run_id: 'r1',
        msg: 'request',
      }),
      JSON.stringify({
        level: 'warn',
        time: new Date(clock.now()).toISOString(),
        msg: 'the disk is "full"\n',
      }),
    ]);
  });

  it('leaves out lines rather than keep more than 8 MiB when nobody reads them, and says how many are missing', async () => {
    const stream = new SlowStream();
    const { log } = openLog({ stream });
    const path = 'x'.repeat(2 ** 20);
    const line = path.length + 200;
    for (let turn = 0; turn < 5; turn++) {
      for (let count = 0; count < 4; count++) log.info({ path }, 'request');
      await new Promise(setImmediate);
    }
    log.warn({}, 'also left out');
    expect(stream.writableLength).to.be.below(12 * line);
    stream.readAll();
    while (!stream.text.includes('missing')) await new Promise(setImmediate);
    const last = stream.text.trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).to.include({
      level: 'warn',
      msg: '13 lines of the log are missing: standard output is read too slowly',
    });
  });

  it('writes the lines of requests that end in one turn of the event loop at once, in their order', async () => {
    const { log, written, lines } = openLog();
    for (const path of ['/a', '/b', '/c']) log.info({ ...REQUEST, path }, 'request');
    expect(written).to.deep.equal([]);
    await new Promise(setImmediate);
    expect(written).to.have.length(1);
    expect(lines().map((line) => (JSON.parse(line) as { path: string }).path)).to.deep.equal([
      '/a',
      '/b',
      '/c',
    ]);
  });

  it('writes any other line at once, after the lines before it', () => {
    const { log, lines } = openLog();
    for (const level of ['info', 'warn', 'error'] as const) {
      log.info(REQUEST, 'request');
      log[level]({}, level);
    }
    const messages = lines().map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages).to.deep.equal(['request', 'info', 'request', 'warn', 'request', 'error']);
  });

  it('writes what is left when it is flushed, before the process ends', () => {
    const { log, lines } = openLog();
    log.info(REQUEST, 'request');
    log.flush();
    expect(lines()).to.have.length(1);
  });

  it('writes errors with their stacks and causes, without their other properties', () => {
    const { log, lines } = openLog();
    const err = errorWithCause();
    log.error({ err, id: 'bug-1' }, 'a bug');
    const { time: _time, ...entry } = JSON.parse(lines()[0] ?? '') as Record<string, unknown>;
    expect(entry).to.deep.equal({
      level: 'error',
      err: {
        type: 'TypeError',
        message: 'outer',
        code: 'E_ODD',
        stack: err.stack,
        cause: { type: 'RangeError', message: 'inner', stack: (err.cause as Error).stack },
      },
      id: 'bug-1',
      msg: 'a bug',
    });
  });

  it('survives circular facts', () => {
    const { log, lines } = openLog();
    const facts: Record<string, unknown> = { bytes: Buffer.from(SECRET) };
    facts['self'] = facts;
    log.info(facts, 'odd');
    expect(JSON.parse(lines()[0] ?? '')).to.include({ msg: 'odd', bytes: '[9 bytes]' });
    expect(lines()[0]).to.include('"self":"[deeper]"');
  });
});

describe('The terminal log of a server', () => {
  it('writes one readable line per entry', () => {
    const { log, clock, lines } = openLog({ interactive: true });
    log.info({ ...REQUEST, run_id: 'r1' }, 'request');
    clock.advance(60_000);
    log.info({ ...REQUEST, method: 'GET', path: '/health', key: 'ci', left: true }, 'request');
    log.info({ url: 'http://127.0.0.1:8000', docs: undefined }, 'listening');
    log.warn({ queued: 3 }, 'hurry');
    expect(lines()).to.deep.equal([
      '12:00:01 POST /pipelines/run 200 14 ms run r1',
      '12:01:01 GET /health 200 14 ms by ci (client disconnected)',
      '12:01:01 listening url=http://127.0.0.1:8000',
      '12:01:01 warn: hurry queued=3',
    ]);
  });

  it('colours requests by their status', () => {
    const { log, lines } = openLog({ interactive: true, colours: true });
    for (const status of [200, 304, 404, 503]) log.info({ ...REQUEST, status }, 'request');
    const line = (colour: number, status: number): string =>
      `\u001b[2m12:00:01\u001b[22m POST /pipelines/run \u001b[${colour}m${status}\u001b[39m 14 ms`;
    expect(lines()).to.deep.equal([line(32, 200), line(36, 304), line(33, 404), line(31, 503)]);
  });

  it('writes errors below their line, with stacks and causes', () => {
    const { log, lines } = openLog({ interactive: true });
    const err = errorWithCause();
    log.error({ err, id: 'bug-1' }, 'a bug');
    const traces = [err.stack, (err.cause as Error).stack].flatMap((stack) => stack?.split('\n') ?? []);
    expect(lines()).to.deep.equal(['12:00:01 error: a bug id=bug-1', ...traces.map((line) => `  ${line}`)]);
  });

  it('escapes control characters of callers', () => {
    const { log, lines } = openLog({ interactive: true });
    log.info({ ...REQUEST, path: '/\u001b[2J\u009b2J\u202e\u2028' }, 'request');
    log.info({ name: 'a\nb', about: { '\u001b': 1 } }, 'odd\r\n');
    expect(lines()).to.deep.equal([
      '12:00:01 POST /\\u{1b}[2J\\u{9b}2J\\u{202e}\\u{2028} 200 14 ms',
      '12:00:01 odd\\u{d}\\u{a} name=a\\u{a}b about={"\\u001b":1}',
    ]);
  });
});

for (const interactive of [true, false]) {
  describe(`The ${interactive ? 'terminal' : 'JSON'} log of a server`, () => {
    it('redacts keys and cookies at every depth (D37)', () => {
      const { log, lines } = openLog({ interactive });
      log.info(SECRETS, 'a request');
      log.error({ ...SECRETS, err: errorWithCause() }, 'a bug');
      const text = lines().join('\n');
      expect(text).not.to.include(SECRET);
      expect(text).to.include('localhost');
      expect(text.split('[redacted]')).to.have.length(13);
    });

    it('writes nothing below its level', () => {
      const counts = Object.entries({ debug: 3, info: 3, warn: 2, error: 1, silent: 0 });
      for (const [level, count] of counts) {
        const { log, lines } = openLog({ interactive, level });
        log.info({}, 'one');
        log.warn({}, 'two');
        log.error({}, 'three');
        expect(lines(), level).to.have.length(count);
      }
    });
  });
}
