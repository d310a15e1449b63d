import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { setImmediate as nextTick } from 'node:timers/promises';
import { systemClock } from '../../../lib/common/clock.js';
import { ToolError } from '../../../lib/common/errors.js';
import type { Steps } from '../../../lib/common/scheduling/steps.js';
import { DocumentPool } from '../../../lib/tools/documents/document-pool.js';
import type { DocumentFormat } from '../../../lib/tools/documents/document.js';
import { parseContent } from '../../../lib/tools/documents/parse-content.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { deferred } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { PauseCounter, toolContext } from '../../support/tool-context.js';
import { isAlive } from '../../common/workers/processes.js';
import { makePdf } from './make-pdf.js';
import { makeScan, rgbImage } from './make-scan.js';

const PROGRAM = join(ROOT, 'dist', 'document-process.cjs');
const LONG = makePdf(
  Array.from({ length: 3000 }, (_, i) => Array.from({ length: 40 }, () => `Line of page ${i}`)),
);

/** Its rows fill some 60 MiB in less than a second, of which a long PDF would take many. */
const MANY_ROWS = Buffer.from(`a,b\n${'x,1\n'.repeat(300_000)}`);

describe('DocumentPool', () => {
  let steps = 0;

  before(() => requireBuild());

  function open(limits = { timeoutMs: 60_000, memoryMiB: 512 }, file = PROGRAM): DocumentPool {
    return new DocumentPool({
      file,
      parallelism: 1,
      tenantShare: 10,
      isolateTenants: true,
      clock: systemClock,
      limits,
      runSteps: async <T>(work: Steps<T>): Promise<T> => {
        for (let step = work.next(); ; step = work.next(), steps++) if (step.done === true) return step.value;
      },
    });
  }

  function request(format: DocumentFormat, bytes: Buffer) {
    return { format, bytes, source: 'a' };
  }

  it('gives what parsing in this process gives, and the same errors', async () => {
    const pool = open();
    try {
      const pdf = request('pdf', makePdf([['One'], ['Two']]));
      expect(await pool.parse(pdf, toolContext())).to.deep.equal(await parseContent(pdf));
      const scan = { ...request('pdf', makeScan([{ images: { A: rgbImage(['█ ']) } }])), drawScans: true };
      const drawn = await pool.parse(scan, toolContext());
      expect(drawn).to.deep.equal(await parseContent(scan));
      expect(drawn.pages?.[0]?.image_bytes).to.be.instanceOf(Uint8Array);
      const csv = request('csv', MANY_ROWS);
      steps = 0;
      expect((await pool.parse(csv, toolContext())).rows).to.have.length(300_000);
      expect(steps).to.be.above(50);
      const bad = request('pdf', Buffer.from('%PDF-1.4 nothing'));
      const [here, there] = await Promise.all([
        catchRejection(parseContent(bad)),
        catchRejection(pool.parse(bad, toolContext())),
      ]);
      expect(there)
        .to.be.instanceOf(ToolError)
        .with.property('message', (here as Error).message);
    } finally {
      await pool.close();
    }
  });

  it('ends a document when its attempt aborts, takes too long or too much memory, and reads the next', async () => {
    const pool = open({ timeoutMs: 60_000, memoryMiB: 512 });
    const hasty = open({ timeoutMs: 1, memoryMiB: 512 });
    const small = open({ timeoutMs: 60_000, memoryMiB: 24 });
    try {
      const context = toolContext();
      const started = deferred<void>();
      const pauseTimeout = () => () => started.resolve(undefined);
      const parsing = catchRejection(pool.parse(request('pdf', LONG), { ...context, pauseTimeout }));
      await started.promise;
      await nextTick();
      context.abort();
      expect(await parsing).to.have.property('message', '"a" was not read: it was aborted');
      expect(await catchRejection(hasty.parse(request('pdf', LONG), toolContext())))
        .to.have.property('message')
        .that.contains('takes too much to read: it ran for more than 0.001 s');
      expect(await catchRejection(small.parse(request('csv', MANY_ROWS), toolContext())))
        .to.have.property('message')
        .that.contains('takes too much to read: it needed more than 24 MiB of memory');
      expect((await pool.parse(request('pdf', makePdf([['x']])), toolContext())).pages).to.have.length(1);
    } finally {
      await Promise.all([pool.close(), hasty.close(), small.close()]);
    }
  });

  it('says of a PDF that grows without end when it is unpacked that it takes too much memory', async () => {
    // Not the time limit: on a busy machine, it may take a minute to unpack so much.
    const pool = open({ timeoutMs: 600_000, memoryMiB: 64 });
    try {
      const bomb = request('pdf', makeBomb(200 * 2 ** 20));
      expect(bomb.bytes.length).to.be.below(4096);
      for (const _ of [1, 2, 3]) {
        expect(await catchRejection(pool.parse(bomb, toolContext())))
          .to.have.property('message')
          .that.contains('takes too much to read: it needed more than 64 MiB of memory');
      }
    } finally {
      await pool.close();
    }
  });

  it('ends with its server, although it is at work', async function () {
    if (process.platform === 'win32') this.skip();
    const server = spawn(process.execPath, ['-e', SERVER_OF_A_LONG_DOCUMENT, PROGRAM]);
    const [pid] = (await once(server.stdout, 'data')) as [Buffer];
    const child = Number(pid.toString());
    expect(await isAlive(child)).to.equal(true);
    server.kill('SIGKILL');
    while (await isAlive(child));
  });

  it('lets the time limit of the attempt run again when the process never starts (rule 13)', async () => {
    const pool = open({ timeoutMs: 60_000, memoryMiB: 512 }, join(ROOT, 'dist', 'no-such-process.cjs'));
    const pauses = new PauseCounter();
    const { pauseTimeout } = pauses;
    try {
      const pdf = request('pdf', makePdf([['x']]));
      const error = await catchRejection(pool.parse(pdf, { ...toolContext(), pauseTimeout }));
      expect(error).to.have.property('message').that.contains('"a" could not be read');
      expect(pauses).to.include({ begun: 1, open: 0 });
    } finally {
      await pool.close();
    }
  });
});

/** Makes a PDF whose page is drawn by so many bytes, packed twice. */
function makeBomb(bytes: number): Buffer {
  const data = deflateSync(deflateSync(Buffer.alloc(bytes, 'q Q '), { level: 9 }), { level: 9 });
  const filled = makeScan([{ content: 'q Q' }]).toString('latin1');
  const stream = `<<  /Length ${data.length} /Filter [/FlateDecode /FlateDecode] >>\nstream\n${data.toString('latin1')}\nendstream`;
  return Buffer.from(
    filled.replace(/<<  \/Length 3 >>\nstream\nq Q\nendstream/, () => stream),
    'latin1',
  );
}

/** Sends a document that takes minutes, and prints the id of the process that reads it. */
const SERVER_OF_A_LONG_DOCUMENT = `
  const { spawn } = require('node:child_process');
  const { serialize } = require('node:v8');
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe'];
  const child = spawn(process.execPath, [process.argv[1], '3'], { stdio });
  child.stdio[3].once('data', () => {
    const body = { bytes: Buffer.from('<div>'.repeat(3_000_000)), format: 'html', source: 'x' };
    const message = serialize({ body, parts: [] });
    const header = Buffer.alloc(5);
    header.writeUInt32LE(message.length);
    child.stdio[3].write(Buffer.concat([header, message]), () => console.log(child.pid));
  });
`;
