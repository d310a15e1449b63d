import { expect } from 'chai';
import { LineReader } from '../../../lib/common/requests/line-reader.js';
import { ByteMeter } from '../../../lib/common/requests/meter.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

describe('Lines of a stream', () => {
  function read(...chunks: readonly string[]): string[] {
    const lines: string[] = [];
    const reader = new LineReader(
      new ByteMeter(10),
      (line) => lines.push(line),
      () => lines.push('too long'),
    );
    for (const chunk of chunks) reader.push(Buffer.from(chunk));
    reader.end();
    return lines;
  }

  it('are passed on when they are complete, the last one at the end of the stream', () => {
    expect(read('a\nb', 'c\r\n', '\nlast', ' one')).to.deep.equal(['a', 'bc', '', 'last one']);
    expect(read('a\n')).to.deep.equal(['a']);
  });

  it('are left out when they are too long, also the last one', () => {
    expect(read('0123456789', 'x', 'y\nb\n')).to.deep.equal(['too long', 'b']);
    expect(read('0123456789x')).to.deep.equal(['too long']);
  });

  itTimed('are read in a time in proportion to their length, however many chunks they have', () => {
    let length = 0;
    const reader = new LineReader(
      new ByteMeter(2 ** 26),
      (line) => {
        length = line.length;
      },
      () => undefined,
    );
    const chunk = Buffer.alloc(512, 'x');
    const cpuMs = measureCpuMsSync(() => {
      for (let i = 0; i < 2 ** 15; i++) reader.push(chunk);
      reader.end();
    });
    expect(length).to.equal(2 ** 24);
    expect(cpuMs).to.be.below(2000);
  });
});
