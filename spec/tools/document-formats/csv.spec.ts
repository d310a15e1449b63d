import { expect } from 'chai';
import * as fc from 'fast-check';
import { ToolError } from '../../../lib/common/errors.js';
import type { DocumentContent } from '../../../lib/tools/documents/document.js';
import { parseCsv } from '../../../lib/tools/document-formats/csv.js';
import { catchRejection, catchToolMessage } from '../../support/rejection.js';
import { itTimed, measureCpuMs } from '../../support/measuring/cpu-time.js';

const never = new AbortController().signal;

async function read(text: string, source = 'table.csv'): Promise<DocumentContent> {
  return await parseCsv(Buffer.from(text), text, source, never);
}

async function catchMessage(text: string): Promise<string> {
  return (await catchToolMessage(read(text))).replace('"table.csv" is not a table: ', '');
}

describe('parseCsv', () => {
  it('parses a cell as a number only when the number prints as the same text', async () => {
    const cells = [
      '1',
      '-2.5',
      '0',
      '1e+21',
      '007',
      '1.50',
      '+1',
      '1e3',
      '-0',
      '',
      ' 1',
      '1 ',
      '0x10',
      'NaN',
      'Infinity',
    ];
    const { rows } = await read(`v,w\n${cells.map((cell) => `${cell},x`).join('\n')}\n`);
    const numbers = [1, -2.5, 0, 1e21];
    expect(rows?.map((row) => row['v'])).to.deep.equal([...numbers, ...cells.slice(numbers.length)]);
    const { rows: long } = await read('v\n9007199254740993\n12345678901234567890\n');
    expect(long).to.deep.equal([{ v: '9007199254740993' }, { v: '12345678901234567890' }]);
  });

  it('parses quotes, all line endings and multi-line cells', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const { rows } = await read(['a,"b, c"', '1,"x ""y"""', '"two\nlines",2'].join(end));
      expect(rows).to.deep.equal([
        { a: 1, 'b, c': 'x "y"' },
        { a: 'two\nlines', 'b, c': 2 },
      ]);
    }
  });

  it('detects semicolons and tabs by the header', async () => {
    const expected = [{ a: '1,5', b: 'x' }];
    expect((await read('a;b\n1,5;x\n')).rows).to.deep.equal(expected);
    expect((await read('a\tb\n1,5\tx\n')).rows).to.deep.equal(expected);
    expect((await read('"a;b;c",d\n1,2\n')).columns).to.deep.equal(['a;b;c', 'd']);
  });

  it('skips empty lines and trims column names', async () => {
    expect(await read('\n a , b\n\n1,2\n\n')).to.deep.equal({ columns: ['a', 'b'], rows: [{ a: 1, b: 2 }] });
  });

  it('returns no columns and rows for an empty text, and no rows for a header alone', async () => {
    expect(await read('')).to.deep.equal({ columns: [], rows: [] });
    expect(await read('\n\n')).to.deep.equal({ columns: [], rows: [] });
    expect(await read('a,b')).to.deep.equal({ columns: ['a', 'b'], rows: [] });
  });

  it('names the line with a wrong number of cells', async () => {
    expect(await catchMessage('a,b\n1,2\n3\n')).to.equal('line 3 has 1 cell, but its header has 2');
    expect(await catchMessage('a,b\n1,2,3\n')).to.equal('line 2 has 3 cells, but its header has 2');
    expect(await catchMessage('a,b\n1,"open\n')).to.match(/quote.*line 2/i);
  });

  it('describes the error in the header', async () => {
    expect(await catchMessage('a,,c\n1,2,3\n')).to.equal(
      'its first line must name the columns, and column 2 has no name',
    );
    expect(await catchMessage('a,b,a\n1,2,3\n')).to.equal('two columns are named "a": rename one');
    expect(await catchMessage('1,2\n3,4\n')).to.equal(
      'its first line must name the columns, but holds only numbers',
    );
  });

  it('treats __proto__ and constructor as ordinary names', async () => {
    const { rows } = await read('__proto__,constructor\npolluted,1\n');
    expect(rows).to.have.length(1);
    expect(Object.entries(rows?.[0] ?? {})).to.deep.equal([
      ['__proto__', 'polluted'],
      ['constructor', 1],
    ]);
    expect(Object.getPrototypeOf(rows?.[0])).to.equal(Object.prototype);
  });

  it('keeps characters intact at the boundary of two slices', async () => {
    const cell = '😀'.repeat(40_000);
    expect((await read(`a\nx${cell}\n`)).rows).to.deep.equal([{ a: `x${cell}` }]);
  });

  it('yields to the event loop while it parses', async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    await read(`a,b\n${'1,some text\n'.repeat(100_000)}`);
    clearImmediate(timer);
    expect(turns).to.be.greaterThan(10);
  });

  itTimed(
    'does a small part of its work between two turns of the event loop, although its rows are tiny',
    async () => {
      let longestMs = 0;
      let last = process.cpuUsage();
      const turn = (): void => {
        const { user } = process.cpuUsage(last);
        longestMs = Math.max(longestMs, user / 1000);
        last = process.cpuUsage();
        timer = setImmediate(turn);
      };
      let timer = setImmediate(turn);
      const totalMs = await measureCpuMs(async () => {
        expect((await read(`a\n${'1\n'.repeat(32_000)}`)).rows).to.have.length(32_000);
      });
      clearImmediate(timer);
      expect(longestMs).to.be.below(totalMs / 3);
    },
  );

  it('names the line of a cell that does not convert, whatever lies before it', async () => {
    const text = '\ufeffa,b\n\n"two\nlines",1\n\nx,y\nz,2\n';
    const reading = parseCsv(Buffer.from(text), text, 't.csv', undefined, { columns: { b: 'number' } });
    expect(await catchRejection(reading))
      .to.have.property('message')
      .that.contains('line 6, column "b": "y" is not a number');
  });

  it('stops when its signal aborts', async () => {
    const controller = new AbortController();
    const text = `a,b\n${'1,2\n'.repeat(100_000)}`;
    const reading = parseCsv(Buffer.from(text), text, 'table.csv', controller.signal);
    controller.abort();
    expect(await catchRejection(reading))
      .to.be.instanceOf(ToolError)
      .and.include({ message: 'stopped', retryable: false });
  });

  it('parses any table of strings that was written as CSV', async () => {
    const cell = fc.string({ maxLength: 8, unit: 'grapheme' }).filter((text) => Number.isNaN(Number(text)));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell), { maxLength: 5 }), async (table) => {
        const quoted = table.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(','));
        const { rows } = await read(['one,two', ...quoted].join('\n'));
        expect(rows).to.deep.equal(table.map(([one, two]) => ({ one, two })));
      }),
    );
  });

  itTimed('takes linear time in the number of columns', async () => {
    const names = Array.from({ length: 50_000 }, (_, i) => `c${i}`);
    const cpuMs = await measureCpuMs(async () => {
      expect((await read(`${names.join(',')}\n${names.join(',')}\n`)).columns).to.have.length(50_000);
    });
    expect(cpuMs).to.be.lessThan(2000);
  });
});
