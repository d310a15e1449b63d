import { expect } from 'chai';
import * as fc from 'fast-check';
import { messageOf, ToolError } from '../../../lib/common/errors.js';
import type { DocumentContent } from '../../../lib/tools/documents/document.js';
import { readCsv } from '../../../lib/tools/documents/csv.js';
import { rejectionOf } from '../../support/rejection.js';

const never = new AbortController().signal;

async function read(text: string, source = 'table.csv'): Promise<DocumentContent> {
  return await readCsv(Buffer.from(text), text, source, never);
}

async function refusal(text: string): Promise<string> {
  const error = await rejectionOf(read(text));
  expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
  return messageOf(error).replace('"table.csv" is no table: ', '');
}

describe('readCsv', () => {
  it('takes a cell for a number only when it is spelt as a number is printed', async () => {
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

  it('takes quotes, line ends of every kind, and cells over several lines', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const { rows } = await read(['a,"b, c"', '1,"x ""y"""', '"two\nlines",2'].join(end));
      expect(rows).to.deep.equal([
        { a: 1, 'b, c': 'x "y"' },
        { a: 'two\nlines', 'b, c': 2 },
      ]);
    }
  });

  it('recognises semicolons and tabs by the header', async () => {
    const expected = [{ a: '1,5', b: 'x' }];
    expect((await read('a;b\n1,5;x\n')).rows).to.deep.equal(expected);
    expect((await read('a\tb\n1,5\tx\n')).rows).to.deep.equal(expected);
    expect((await read('"a;b;c",d\n1,2\n')).columns).to.deep.equal(['a;b;c', 'd']);
    expect((await read('a;b\n1;2\n', 'table.tsv')).columns).to.deep.equal(['a;b']);
  });

  it('passes over empty lines and trims the names of columns', async () => {
    expect(await read('\n a , b\n\n1,2\n\n')).to.deep.equal({ columns: ['a', 'b'], rows: [{ a: 1, b: 2 }] });
  });

  it('gives no columns and no rows for an empty text, and no rows for a header alone', async () => {
    expect(await read('')).to.deep.equal({ columns: [], rows: [] });
    expect(await read('\n\n')).to.deep.equal({ columns: [], rows: [] });
    expect(await read('a,b')).to.deep.equal({ columns: ['a', 'b'], rows: [] });
  });

  it('says which line is ragged', async () => {
    expect(await refusal('a,b\n1,2\n3\n')).to.equal('line 3 has 1 cell, but its header has 2');
    expect(await refusal('a,b\n1,2,3\n')).to.equal('line 2 has 3 cells, but its header has 2');
    expect(await refusal('a,b\n1,"open\n')).to.match(/quote.*line 2/i);
  });

  it('says what is wrong with the header', async () => {
    expect(await refusal('a,,c\n1,2,3\n')).to.equal(
      'its first line must name the columns, and column 2 has no name',
    );
    expect(await refusal('a,b,a\n1,2,3\n')).to.equal('two columns are named "a"');
    expect(await refusal('1,2\n3,4\n')).to.equal(
      'its first line must name the columns, but holds only numbers',
    );
  });

  it('treats __proto__ and constructor as names like any other', async () => {
    const { rows } = await read('__proto__,constructor\npolluted,1\n');
    expect(rows).to.have.length(1);
    expect(Object.entries(rows?.[0] ?? {})).to.deep.equal([
      ['__proto__', 'polluted'],
      ['constructor', 1],
    ]);
    expect(Object.getPrototypeOf(rows?.[0])).to.equal(Object.prototype);
  });

  it('keeps letters whole that stand where the text is cut for reading', async () => {
    const cell = '😀'.repeat(40_000);
    expect((await read(`a\nx${cell}\n`)).rows).to.deep.equal([{ a: `x${cell}` }]);
  });

  it('gives others their turn while it reads', async () => {
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

  it('stops when it is told to', async () => {
    const controller = new AbortController();
    const text = `a,b\n${'1,2\n'.repeat(100_000)}`;
    const reading = readCsv(Buffer.from(text), text, 'table.csv', controller.signal);
    controller.abort();
    expect(await rejectionOf(reading))
      .to.be.instanceOf(ToolError)
      .and.include({ message: 'stopped', retryable: false });
  });

  it('reads back any table of texts', async () => {
    const cell = fc.string({ maxLength: 8, unit: 'grapheme' }).filter((text) => Number.isNaN(Number(text)));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell), { maxLength: 5 }), async (table) => {
        const quoted = table.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(','));
        const { rows } = await read(['one,two', ...quoted].join('\n'));
        expect(rows).to.deep.equal(table.map(([one, two]) => ({ one, two })));
      }),
    );
  });

  it('takes time in proportion to the number of columns', async () => {
    const names = Array.from({ length: 50_000 }, (_, i) => `c${i}`);
    const before = performance.now();
    expect((await read(`${names.join(',')}\n${names.join(',')}\n`)).columns).to.have.length(50_000);
    expect(performance.now() - before).to.be.lessThan(2000);
  });
});
