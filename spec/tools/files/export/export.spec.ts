import { expect } from 'chai';
import type { Steps } from '../../../../lib/common/scheduling/steps.js';
import { applySchemaInSteps } from '../../../../lib/tools/files/export/apply-schema.js';
import { toCsvInSteps } from '../../../../lib/tools/files/export/csv.js';
import { toTableInSteps } from '../../../../lib/tools/files/export/table.js';
import readXlsxFile from 'read-excel-file/node';
import { ToolError } from '../../../../lib/common/errors.js';
import type { Json } from '../../../../lib/common/json/json.js';
import { exportFile } from '../../../../lib/tools/builtin/export.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import { catchRejection } from '../../../support/rejection.js';
import { PauseCounter, type TestContext, toolContext } from '../../../support/tool-context.js';

interface Exported {
  readonly output: Json;
  readonly name: string;
  readonly bytes: Buffer;
  readonly text: string;
}

async function run(given: Record<string, Json>, context: TestContext = toolContext()): Promise<Exported> {
  const validated = validateInputs(exportFile, given);
  if (!validated.ok) throw new Error(validated.errors.join('; '));
  const output = (await exportFile.run(validated.inputs, context)) as Json;
  const { name = '', bytes: content = '' } = context.written[0] ?? {};
  const bytes = Buffer.from(content as Uint8Array);
  return { output, name, bytes, text: bytes.toString() };
}

const errorOf = async (given: Record<string, Json>): Promise<string> => {
  const error = await catchRejection(run(given));
  expect(error).to.be.instanceOf(ToolError).and.include({ retryable: false });
  return (error as Error).message;
};

describe('export (D63)', () => {
  it('says what it has written, and where', async () => {
    const { output, text } = await run({ data: { a: 1 }, format: 'json', filename: 'f' });
    expect(output).to.deep.equal({
      status: 'success',
      format: 'json',
      filename: 'f',
      name: 'f.json',
      path: '/run/f.json',
      media_type: 'application/json',
      size: 12,
    });
    expect(text).to.equal('{\n  "a": 1\n}');
  });

  it('calls the file artifact, and adds the ending once', async () => {
    expect((await run({})).name).to.equal('artifact.md');
    expect((await run({ filename: 'r.CSV', format: 'csv' })).name).to.equal('r.CSV');
    expect((await run({ filename: 'v1.2', format: 'text' })).name).to.equal('v1.2.txt');
  });

  it('takes the format from the ending of the name when none is given, and adds no ending then', async () => {
    const named = async (given: Record<string, Json>): Promise<unknown[]> => {
      const { output, name } = await run({ data: [{ a: 1 }], ...given });
      const { format, media_type: mediaType } = output as Record<string, Json>;
      return [format, name, mediaType];
    };
    expect((await run({ data: [{ a: 1 }], filename: 'people.csv' })).text).to.equal('a\r\n1\r\n');
    expect(await named({ filename: 'people.csv' })).to.deep.equal(['csv', 'people.csv', 'text/csv']);
    expect(await named({ filename: 'r.JSON' })).to.deep.equal(['json', 'r.JSON', 'application/json']);
    expect(await named({ filename: 'r.md' })).to.deep.equal(['markdown', 'r.md', 'text/markdown']);
    expect(await named({ filename: 'r.markdown' })).to.deep.equal([
      'markdown',
      'r.markdown',
      'text/markdown',
    ]);
    expect(await named({ filename: 'r.txt' })).to.deep.equal(['text', 'r.txt', 'text/plain']);
    expect((await named({ filename: 'r.xlsx' })).slice(0, 2)).to.deep.equal(['xlsx', 'r.xlsx']);
    expect((await named({ filename: 'r.xlsx', format: null })).slice(0, 2)).to.deep.equal(['xlsx', 'r.xlsx']);
    expect((await run({ sheets: { a: [[1]] }, filename: 'book.xlsx' })).name).to.equal('book.xlsx');
  });

  it('writes Markdown when neither format nor ending says anything else, and prefers the format to the ending', async () => {
    expect((await run({ data: 'x', filename: 'v1.2' })).name).to.equal('v1.2.md');
    expect((await run({ data: 'x', filename: 'r.csv.bak' })).name).to.equal('r.csv.bak.md');
    expect((await run({ data: 'x', filename: 'r.csv', format: 'json' })).name).to.equal('r.csv.json');
  });

  it('refuses the ending of a format that it does not write, unless the format is given', async () => {
    const error = await catchRejection(run({ data: 'x', filename: 'r.Parquet' }));
    expect(error).to.include({
      message:
        'export writes no .Parquet files: end "filename" with .json, .csv, .md, .xlsx or .txt, or write "format"',
      retryable: false,
    });
    expect((await run({ data: 'x', filename: 'r.html', format: 'text' })).name).to.equal('r.html.txt');
  });

  it('refuses a name that no file can have before it writes anything', async () => {
    for (const format of ['xlsx', 'json']) {
      let threads = 0;
      const count = (): void => void threads++;
      process.on('worker', count);
      const error = await errorOf({ data: [[1]], format, filename: 'a/b' });
      process.off('worker', count);
      expect(error).to.match(
        /^a file cannot be called "a\/b\.\w+": it must be the name of a file, without folders$/,
      );
      expect(threads).to.equal(0);
    }
  });

  it('writes data before content, and reads a text that is JSON, also in a fence', async () => {
    const json = async (given: Record<string, Json>): Promise<string> =>
      (await run({ format: 'json', ...given })).text;
    expect(await json({ data: 1, content: 2 })).to.equal('1');
    expect(await json({ content: 'plain' })).to.equal('"plain"');
    expect(await json({ data: '```json\n{"a": [1]}\n```' })).to.equal('{\n  "a": [\n    1\n  ]\n}');
    expect(await json({ data: [] })).to.equal('[]');
  });

  it('writes JSON as JSON.stringify with an indent of 2 does, however long it is', async () => {
    const data = Array.from({ length: 1200 }, (_, index) => ({ index, text: 'a\nb', nested: [{ index }] }));
    expect((await run({ data, format: 'json' })).text).to.equal(JSON.stringify(data, null, 2));
    const object = { 'a "key"': data, b: null };
    expect((await run({ data: object, format: 'json' })).text).to.equal(JSON.stringify(object, null, 2));
  });

  describe('CSV', () => {
    const csv = async (data: Json, others: Record<string, Json> = {}): Promise<string> =>
      (await run({ data, format: 'csv', ...others })).text;

    it('has a column for each key of all objects, in the order in which they appear', async () => {
      const rows = [{ a: 1, b: 'x' }, { b: 'y', c: { d: [1] } }, { a: null }];
      expect(await csv(rows)).to.equal('a,b,c\r\n1,x,\r\n,y,"{""d"":[1]}"\r\n,,\r\n');
    });

    it('takes an object, lists of lists and a list of texts', async () => {
      expect(await csv({ a: 1, b: true })).to.equal('field,value\r\na,1\r\nb,true\r\n');
      expect(await csv([[1, 'x'], [2]])).to.equal('1,x\r\n2\r\n');
      expect(await csv(['p', 'q'])).to.equal('value\r\np\r\nq\r\n');
      expect(await csv(null)).to.equal('');
    });

    it('quotes what RFC 4180 wants quoted', async () => {
      expect(await csv([{ a: 'x,y', b: 'say "hi"', c: 'two\nlines', d: ' space' }])).to.equal(
        'a,b,c,d\r\n"x,y","say ""hi""","two\nlines"," space"\r\n',
      );
    });

    it('writes another delimiter and decimal sign', async () => {
      const data = [{ a: 1.5, b: 'x;y', c: 'x,y' }];
      expect(await csv(data, { delimiter: ';', decimal: ',' })).to.equal('a;b;c\r\n1,5;"x;y";x,y\r\n');
      expect(await csv(data, { decimal: ',' })).to.contain('"1,5"');
    });

    it('defuses texts that a spreadsheet takes for formulas, in names of columns too, but not numbers', async () => {
      const formulas = ['=1+1', '+cmd', '-cmd', '@SUM(A1)', '\t=1', '\r=1'];
      for (const text of formulas) {
        expect(await csv([[text]]), text).to.match(/^"?'/);
        expect(await csv([{ [text]: 1 }]), text).to.match(/^"?'/);
        expect(await csv([[text]], { formulas: true }), text).not.to.match(/^"?'/);
      }
      for (const number of ['-1', '+1.5', '-1,234.50', '-12%', '-1e5'])
        expect(await csv([[number]], { delimiter: ';' }), number).to.equal(`${number}\r\n`);
      expect(await csv([[-1]])).to.equal('-1\r\n');
    });
  });

  describe('Markdown', () => {
    it('has a column for each period, and a dash for what was not found', async () => {
      const data = [
        { revenue: 10, note: 'a|b' },
        { revenue: '__not_found__', margin: 0.5 },
      ];
      const periods = [{ label: 'FY2024' }, 'FY2025'];
      expect((await run({ data, periods, filename: 'income' })).text).to.equal(
        [
          '# income',
          '',
          '| Field | FY2024 | FY2025 |',
          '|---|---|---:|',
          '| revenue | 10 | — |',
          '| note | a\\|b | — |',
          '| margin | — | 0.5 |',
          '',
        ].join('\n'),
      );
      expect((await run({ data })).text).to.contain('| Field | Period 1 | Period 2 |');
    });

    it('aligns a column of numbers to the right, whatever its empty cells', async () => {
      const row = { price: 1.5, stock: null, name: 'a', mixed: 1, code: '007', none: null };
      const data = Array.from({ length: 13 }, (_, index) =>
        index === 3 ? { ...row, stock: 4, mixed: 'x' } : row,
      );
      const [, , heads, alignments] = (await run({ data })).text.split('\n');
      expect(heads).to.equal('| price | stock | name | mixed | code | none |');
      expect(alignments).to.equal('|---:|---:|---|---|---|---|');
    });

    it('has a row for each of many objects, two columns for an object, and a text as it is', async () => {
      const many = Array.from({ length: 13 }, (_, index) => ({ index }));
      expect((await run({ data: many })).text).to.contain('| index |\n|---:|\n| 0 |\n| 1 |');
      expect((await run({ data: { k: 'two\nlines' } })).text).to.contain('| k | two<br>lines |');
      expect((await run({ data: 'Some *text*' })).text).to.equal('# artifact\n\nSome *text*\n');
    });

    it('has notes of analysts only when they are given, and metadata above the data', async () => {
      expect((await run({ data: { k: 'v' } })).text).not.to.contain('Note');
      const notes = { notes: [{ period: 'FY2024', line_item: 'revenue', note: 'restated' }, 'checked'] };
      const { text } = await run({ data: { k: 'v' }, analyst_notes: notes, metadata: { company: 'Acme' } });
      expect(text).to.contain('| 1 | FY2024 | revenue | restated |\n| 2 | — | — | checked |');
      expect(text.indexOf('Acme')).to.be.lessThan(text.indexOf('| k | v |'));
    });
  });

  describe('XLSX', () => {
    const cells = async (given: Record<string, Json>): Promise<{ sheet: string; data: unknown[][] }[]> => {
      const { bytes } = await run({ format: 'xlsx', ...given });
      return await readXlsxFile(bytes);
    };

    it('has numbers, booleans, dates and texts, of which none is a formula', async () => {
      const data = [{ n: 1.5, b: true, d: '2025-03-31', f: '=1+1', no: '2025-02-30', x: 'a\u0001' }];
      const [sheet] = await cells({ data, filename: 'r' });
      expect(sheet?.sheet).to.equal('r');
      expect(sheet?.data).to.deep.equal([
        ['n', 'b', 'd', 'f', 'no', 'x'],
        [1.5, true, new Date('2025-03-31T00:00:00Z'), '=1+1', '2025-02-30', 'a?'],
      ]);
    });

    it('has several sheets, whose names spreadsheets accept', async () => {
      const long = 'a'.repeat(40);
      const sheets = { 'P&L [2025]': [{ a: 1 }], [long]: { k: 'v' }, [`${long}b`]: [[1]], '': 'x' };
      const read = await cells({ sheets, metadata: { by: 'me' }, analyst_notes: 'fine' });
      expect(read.map(({ sheet }) => sheet)).to.deep.equal([
        'P&L  2025',
        'a'.repeat(31),
        `${'a'.repeat(29)} 2`,
        'Sheet',
        'Metadata',
        'Notes',
      ]);
    });

    it('is refused with more cells than a workbook may have, or a longer text than a cell may have', async () => {
      expect(await errorOf({ format: 'xlsx', data: [['x'.repeat(32_768)]] })).to.contain('32767 characters');
      const data = Array.from({ length: 501 }, () => new Array<number>(1000).fill(1));
      expect(await errorOf({ format: 'xlsx', data })).to.contain('500000 cells');
      expect(await errorOf({ format: 'csv', sheets: { a: 1 } })).to.contain('sheets are for the format xlsx');
    });

    it('is written beside the event loop, and stops with its attempt', async () => {
      const data = Array.from({ length: 10_000 }, (_, row) => new Array<number>(10).fill(row));
      let turns = 0;
      const timer = setInterval(() => turns++, 1);
      const { bytes } = await run({ format: 'xlsx', data });
      clearInterval(timer);
      expect(bytes.subarray(0, 2).toString()).to.equal('PK');
      expect(turns).to.be.greaterThan(20);
      const context = toolContext();
      const aborted = catchRejection(run({ format: 'xlsx', data }, context));
      setImmediate(() => context.abort());
      expect(await aborted).to.be.instanceOf(Error);
      expect(context.written).to.deep.equal([]);
    });
  });

  it('lays out the data of few exports at once: a table takes many times the memory of its data', async () => {
    const contexts = ['a', 'a', 'a', 'a', 'b', 'c'].map((tenant) => toolContext({ tenant_id: tenant }));
    const pauses = new PauseCounter();
    const waitingAtWrite: number[] = [];
    const data = Array.from({ length: 5000 }, (_, row) => [row]);
    const exported = contexts.map((context) =>
      run(
        { format: 'csv', data },
        {
          ...context,
          pauseTimeout: pauses.pauseTimeout,
          artifacts: {
            ...context.artifacts,
            write: (file) => {
              waitingAtWrite.push(pauses.open);
              return context.artifacts.write(file);
            },
          },
        },
      ),
    );
    await Promise.all(exported);
    // Two of the first tenant are at work, and one of each of the others; then the last two of the first one.
    expect(waitingAtWrite[0]).to.equal(2);
  });

  it('lays out and writes wide rows in steps of cells, not of rows', () => {
    const rows = Array.from({ length: 20 }, () => new Array<number>(10_000).fill(1));
    const countSteps = (steps: Steps<unknown>): number => {
      let count = 0;
      while (steps.next().done !== true) count++;
      return count;
    };
    const options = { delimiter: ',', decimal: '.', formulas: false };
    expect(countSteps(toTableInSteps(rows))).to.be.at.least(50);
    expect(countSteps(toCsvInSteps({ columns: undefined, rows }, options))).to.be.at.least(19);
    const many = Array.from({ length: 5000 }, (_, a) => ({ a }));
    expect(countSteps(applySchemaInSteps(many, { fields: ['a'] }, false))).to.be.at.least(20);
  });

  describe('schema', () => {
    const fields = {
      source: 's.yaml',
      fields: [{ name: 'a' }, { name: 'b', required: false }, { name: 'c', required: false }],
    };

    it('drops fields that it does not declare, and names its source', async () => {
      const { text, output } = await run({
        data: [
          { a: 1, z: 2 },
          { a: 3, b: 4 },
        ],
        schema: fields,
        format: 'csv',
      });
      expect(text).to.equal('a,b\r\n1,\r\n3,4\r\n');
      expect(output).to.include({ schema_source: 's.yaml' });
    });

    it('refuses data without required fields, and with strict undeclared ones', async () => {
      expect(await errorOf({ data: { b: 1 }, schema: fields })).to.equal('the data lacks required fields: a');
      expect(await errorOf({ data: [{ a: 1 }, {}], schema: fields })).to.contain('in element 1: a');
      expect(await errorOf({ data: { a: 1, z: 2 }, schema: fields, strict: true })).to.contain(': z (strict');
    });

    it('may be a JSON Schema, and must be a schema', async () => {
      const schema = { title: 'T', properties: { a: {}, b: {} }, required: ['a'] };
      const { output, text } = await run({ data: { a: 1, z: 2 }, schema, format: 'json' });
      expect([text, (output as { schema_source: string }).schema_source]).to.deep.equal([
        '{\n  "a": 1\n}',
        'T',
      ]);
      expect(await errorOf({ data: { b: 1 }, schema })).to.contain('lacks required fields: a');
      expect(await errorOf({ data: {}, schema: { a: 1 } })).to.contain('must have "fields"');
    });
  });
});
