import { expect } from 'chai';
import fc from 'fast-check';
import { bytesFrame, FRAME, FrameReader } from '../../../lib/common/workers/frames.js';
import { cases } from '../../support/measuring/cases.js';

/** Adds chunks to a reader, and takes its frames after each. */
function read(chunks: readonly Buffer[]): Buffer[] {
  const reader = new FrameReader();
  const payloads: Buffer[] = [];
  for (const chunk of chunks) {
    reader.add(chunk);
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) payloads.push(frame.payload);
  }
  return payloads;
}

describe('A FrameReader', () => {
  it('finds the frames, wherever the socket has cut them', () => {
    const contents = fc.array(fc.uint8Array({ maxLength: 60 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(contents, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sent, lengths) => {
        const bytes = Buffer.concat(sent.map((content) => bytesFrame(FRAME.bytes, content)));
        const chunks: Buffer[] = [];
        for (let start = 0, index = 0; start < bytes.length; index++) {
          const end = start + (lengths[index % lengths.length] ?? 1);
          chunks.push(bytes.subarray(start, end));
          start = end;
        }
        expect(read(chunks)).to.deep.equal(sent.map((content) => Buffer.from(content)));
      }),
      cases(200),
    );
  });

  it('copies a frame that spans chunks, and nothing of what follows it', () => {
    const frames = ['first', 'spans chunks', 'last'].map((text) =>
      bytesFrame(FRAME.bytes, Buffer.from(text)),
    );
    const bytes = Buffer.concat(frames);
    const [head, tail] = [bytes.subarray(0, 18), bytes.subarray(18)].map((part) => {
      const chunk = Buffer.allocUnsafeSlow(part.length);
      part.copy(chunk);
      return chunk;
    }) as [Buffer, Buffer];
    const payloads = read([head, tail]);
    expect(payloads.map(String)).to.deep.equal(['first', 'spans chunks', 'last']);
    expect(payloads.map(({ buffer }) => [head.buffer, tail.buffer].indexOf(buffer))).to.deep.equal([
      0, -1, 1,
    ]);
  });
});
