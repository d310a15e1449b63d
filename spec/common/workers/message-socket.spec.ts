import { expect } from 'chai';
import fc from 'fast-check';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, Socket } from 'node:net';
import { serializeFrame } from '../../../lib/common/workers/frames.js';
import { cutIntoPieces, MessageSocket } from '../../../lib/common/workers/message-socket.js';
import { cases } from '../../support/measuring/cases.js';

const MEBIBYTE = 2 ** 20;

interface Received {
  readonly head: unknown;
  readonly body: unknown;
}

describe('A MessageSocket', () => {
  let server: Server;
  let near: Socket;
  let far: Socket;
  const inbox: Received[] = [];
  let onMessage: () => void = () => undefined;
  let sender: MessageSocket<unknown, unknown>;

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection');
    near = new Socket().connect((server.address() as AddressInfo).port, '127.0.0.1');
    [far] = (await accepted) as [Socket];
    inbox.length = 0;
    read(far);
    sender = read(near);
  });

  afterEach(() => {
    near.destroy();
    far.destroy();
    server.close();
  });

  function read(socket: Socket): MessageSocket<unknown, unknown> {
    return new MessageSocket(socket, (head, body) => {
      inbox.push({ head, body });
      onMessage();
    });
  }

  async function transfer(head: unknown, body: unknown): Promise<Received> {
    const received = new Promise<void>((resolve) => (onMessage = resolve));
    await Promise.all([sender.send(head, body), received]);
    return inbox.pop() ?? expect.fail('nothing was received');
  }

  const text = fc.tuple(fc.string({ unit: 'binary', maxLength: 40 }), fc.integer({ min: 0, max: 6000 }));
  const texts = fc
    .array(text, { maxLength: 6 })
    .map((list) => list.map(([part, times]) => part.repeat(times)));
  const bytes = fc
    .tuple(fc.integer({ min: 0, max: 300_000 }), fc.nat(255))
    .map(([length, fill]) => Buffer.alloc(length, fill));

  it('delivers heads, values, lists of texts and bytes as they were, short or long, one message after another', async () => {
    const body = fc.record({ texts, bytes, more: texts, value: fc.jsonValue(), data: bytes });
    await fc.assert(
      fc.asyncProperty(body, fc.jsonValue(), async (sent, head) => {
        const received = await transfer(head, sent);
        expect(received.head).to.deep.equal(structuredClone(head));
        const { texts: list, more, ...rest } = received.body as typeof sent;
        expect(list.join('')).to.equal(sent.texts.join(''));
        expect(more.join('')).to.equal(sent.more.join(''));
        expect(rest.value).to.deep.equal(structuredClone(sent.value));
        expect(rest.bytes.equals(sent.bytes)).to.equal(true);
        expect(rest.data).to.be.instanceOf(Buffer);
        expect(rest.data.equals(sent.data)).to.equal(true);
      }),
      cases(100),
    );
  });

  it('cuts a text into pieces that are the text again', () => {
    fc.assert(
      fc.property(text, ([part, times]) => {
        const whole = part.repeat(times);
        const pieces = cutIntoPieces(whole);
        expect(pieces.join('')).to.equal(whole);
        expect(pieces.every(({ length }) => length <= 64 * 1024)).to.equal(true);
      }),
    );
  });

  for (const [kind, body] of Object.entries({
    JSON: { json: cutIntoPieces('x'.repeat(9 * MEBIBYTE)) },
    bytes: { bytes: Buffer.alloc(9 * MEBIBYTE) },
  })) {
    it(`sends 9 MiB of ${kind} in pieces of at most 128 KiB, and lets the event loop go on after every four`, async () => {
      const sizes: number[] = [];
      const write = near.write.bind(near) as (frame: Buffer, written?: () => void) => boolean;
      near.write = ((frame: Buffer, written?: () => void) => {
        sizes.push(frame.length);
        return write(frame, written);
      }) as typeof near.write;
      let turns = 0;
      const count = (): void => {
        turns++;
        timer = setImmediate(count);
      };
      let timer = setImmediate(count);
      await transfer(undefined, body);
      clearImmediate(timer);
      expect(Math.max(...sizes)).to.be.at.most(128 * 1024);
      expect(turns).to.be.at.least((9 * MEBIBYTE) / (4 * 64 * 1024) - 1);
    });
  }

  it('destroys its socket when a message is longer than any program sends, before it takes memory for it', async () => {
    const tooLong = Buffer.alloc(5);
    tooLong.writeUInt32LE(65 * MEBIBYTE);
    const parts = [{ field: 'bytes', kind: 'bytes', length: 257 * MEBIBYTE }];
    for (const frame of [tooLong, serializeFrame(1, { body: {}, parts })]) {
      const socket = new Socket();
      read(socket);
      const failed = once(socket, 'error');
      socket.emit('data', frame);
      const [error] = (await failed) as [Error];
      expect(error.message).to.match(/^a message of \d+ bytes is too long$/);
    }
    expect(inbox).to.deep.equal([]);
  });

  it('destroys its socket when a message is no message', async () => {
    const nothing = Buffer.alloc(5 + 8);
    nothing.writeUInt32LE(8);
    const failed = once(far, 'error');
    near.write(nothing);
    await failed;
    expect(far.destroyed).to.equal(true);
    expect(inbox).to.deep.equal([]);
  });

  it('stops sending when its socket is closed meanwhile', async () => {
    const sending = sender.send(undefined, { bytes: Buffer.alloc(64 * MEBIBYTE) });
    near.on('error', () => undefined);
    far.destroy();
    await sending;
  });
});
