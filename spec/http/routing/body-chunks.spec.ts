import { expect } from 'chai';
import * as fc from 'fast-check';
import { cases } from '../../support/measuring/cases.js';
import { ReceivedBytes } from '../../../lib/http/routing/received-bytes.js';
import { itTimed, measureCpuMs } from '../../support/measuring/cpu-time.js';
import { RawSocket } from '../../support/http/raw-socket.js';
import { formatRequestHead } from '../support/body-server.js';
import { suiteServer } from '../support/suite-server.js';

/** The text as chunks of so many bytes. */
function splitIntoChunks(text: string, length: number): string {
  const chunks: string[] = [];
  for (let start = 0; start < text.length; start += length) {
    const part = text.slice(start, start + length);
    chunks.push(`${part.length.toString(16)}\r\n${part}\r\n`);
  }
  return chunks.join('');
}

const HEAD = formatRequestHead('Transfer-Encoding: chunked\r\nConnection: close');

describe('A request body in many chunks (Limits)', () => {
  const server = suiteServer();
  let socket: RawSocket | undefined;

  afterEach(() => socket?.disconnect());

  function begin(): RawSocket {
    return (socket = new RawSocket(server.url).send(HEAD));
  }

  const body = (length: number): string => `{"yaml": "${'x'.repeat(length - 12)}"}`;

  it('is refused when it has more than 1000 of fewer than 64 bytes on average', async () => {
    const sent = begin().send(splitIntoChunks(body(100_000), 1).slice(0, 60_000));
    const { status, body: text } = await sent.readResponse();
    expect(status).to.equal(400);
    expect(text)
      .to.contain('invalid_request')
      .and.to.contain('more than 1,000 chunks of fewer than 64 bytes');
  });

  itTimed('takes no time for the chunks that arrive with the one after which it is refused', async () => {
    const packet = splitIntoChunks('x'.repeat(10_000), 1);
    const refuse = async (text: string): Promise<number> =>
      measureCpuMs(async () => {
        const sockets = Array.from({ length: 50 }, () => new RawSocket(server.url).send(HEAD).send(text));
        for (const sent of sockets) expect((await sent.readResponse()).status).to.equal(400);
      });
    await refuse(packet);
    const short = await refuse(packet.slice(0, 1001 * 6));
    expect(await refuse(packet)).to.be.below(2 * short);
  });

  it('is refused also when all of it is in one packet, and what came before makes a whole body', async () => {
    const text = `${body(20)}${' '.repeat(4000)}`;
    const { status, body: answer } = await begin()
      .send(`${splitIntoChunks(text, 1)}0\r\n\r\n`)
      .readResponse();
    expect(status).to.equal(400);
    expect(answer).to.contain('more than 1,000 chunks');
  });

  it('leaves the parser of its connection as it was, for the requests of others', async () => {
    await begin()
      .send(splitIntoChunks(body(2000), 1))
      .readResponse();
    for (let time = 0; time < 20; time++) {
      const { status } = await new RawSocket(server.url)
        .send(`${HEAD}${splitIntoChunks(body(200), 1)}0\r\n\r\n`)
        .readResponse();
      expect(status).to.equal(200);
    }
  });

  it('is read no further once it is refused', async () => {
    const sent = begin();
    const chunks = splitIntoChunks('x'.repeat(10_000), 1);
    let pushed = 0;
    // More than the two systems hold between them.
    while (sent.isOpen && pushed++ < 1000) await sent.push(chunks);
    expect((await sent.readResponse()).status).to.equal(400);
    expect(pushed).to.be.below(1000);
  });

  for (const [length, size] of [
    [1000, 1],
    [200_000, 100],
  ] as const) {
    it(`is read when it has ${length} bytes in chunks of ${size}`, async () => {
      const { status } = await begin()
        .send(`${splitIntoChunks(body(length), size)}0\r\n\r\n`)
        .readResponse();
      expect(status).to.equal(200);
    });
  }
});

describe('The bytes of a request body', () => {
  it('are joined as they arrive, so that no chunk is kept', () => {
    const received = new ReceivedBytes();
    for (let i = 0; i < 1000; i++) received.add(Buffer.from([i % 256]));
    const { bytes } = received;
    expect([...bytes]).to.deep.equal(Array.from({ length: 1000 }, (_, i) => i % 256));
    // A small one may be part of the pool of Node.js.
    expect(bytes.buffer.byteLength).to.be.at.most(Math.max(10_000, Buffer.poolSize));
  });

  it('are those of all chunks in their order, whatever their sizes', () => {
    const size = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1000, max: 9000 }));
    fc.assert(
      fc.property(fc.array(size, { maxLength: 50 }), (sizes) => {
        const received = new ReceivedBytes();
        const chunks = sizes.map((length, index) => Buffer.alloc(length, index));
        for (const chunk of chunks) received.add(chunk);
        expect(received.bytes.equals(Buffer.concat(chunks))).to.equal(true);
      }),
      cases(100),
    );
  });
});
