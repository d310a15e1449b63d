import { expect } from 'chai';
import { errorMessage, ToolError } from '../../../lib/common/errors.js';
import { createIngestDocument } from '../../../lib/tools/builtin/ingest-document.js';
import { parseContent } from '../../../lib/tools/documents/parse-content.js';
import type { Json } from '../../../lib/common/json/json.js';
import type { FetchedResponse } from '../../../lib/tools/tool.js';
import { fileAccess } from '../../../lib/tools/files/file-access.js';
import { validateInputs } from '../../../lib/tools/inputs/validate.js';
import { catchRejection, catchToolMessage } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { type TestContext, type TestContextOptions, toolContext } from '../../support/tool-context.js';

const PAGE = { is_scanned: false, sheet_name: null, metadata: {}, image_bytes: null, image_mime: null };

/** The fields that every document of one page has. */
const WHOLE = { page_count: 1, is_scanned: false, source_url: null, metadata: {} };

/** The tool that parses in this process. */
const ingestDocument = createIngestDocument((request, { signal }) => parseContent(request, signal));

describe('ingest_document (D49)', () => {
  let folder: TemporaryFolder;
  let context: TestContext;
  let answers: Record<string, Partial<FetchedResponse>>;

  beforeEach(() => {
    folder = new TemporaryFolder();
    answers = {};
  });

  afterEach(() => folder.remove());

  async function ingest(path: Json, format = 'auto', options: Record<string, Json> = {}): Promise<unknown> {
    const validated = validateInputs(ingestDocument, { path, format, ...options });
    if (!validated.ok) throw new ToolError(validated.errors.join('; '));
    const fetch: TestContextOptions['fetch'] = (url) => {
      const answer = answers[url];
      if (answer === undefined) return Promise.reject(new ToolError(`no answer from ${url}`));
      return Promise.resolve({ status: 200, url, headers: {}, bytes: Buffer.alloc(0), ...answer });
    };
    context = toolContext({ files: fileAccess([folder.path]), fetch });
    return await ingestDocument.run(validated.inputs, context);
  }

  const catchMessage = (path: Json, format?: string, options?: Record<string, Json>): Promise<string> =>
    catchToolMessage(ingest(path, format, options));

  it('reads a text file', async () => {
    folder.write('notes/a.txt', 'Grüße\n');
    expect(await ingest('notes/a.txt')).to.deep.equal({
      source: 'notes/a.txt',
      format: 'text',
      title: 'a.txt',
      filename: 'a.txt',
      text: 'Grüße\n',
      bytes: 8,
      pages: [{ ...PAGE, number: 1, text: 'Grüße\n' }],
      ...WHOLE,
    });
  });

  it('reads the sections and the title of a Markdown file', async () => {
    folder.write('a.MD', 'before\n# The title\nbody\n');
    expect(await ingest('a.MD')).to.deep.equal({
      source: 'a.MD',
      format: 'markdown',
      title: 'The title',
      text: 'before\n# The title\nbody\n',
      bytes: 24,
      filename: 'a.MD',
      pages: [{ ...PAGE, number: 1, text: 'before\n# The title\nbody\n' }],
      ...WHOLE,
      sections: [
        { level: 0, heading: '', text: 'before' },
        { level: 1, heading: 'The title', text: 'body' },
      ],
    });
  });

  it('reads the columns and rows of a CSV file', async () => {
    folder.write('a.csv', '\ufeffid,name\n1,x\n007,y\n');
    expect(await ingest('a.csv')).to.deep.equal({
      source: 'a.csv',
      format: 'csv',
      title: 'a.csv',
      text: 'id,name\n1,x\n007,y\n',
      bytes: 21,
      filename: 'a.csv',
      pages: [{ ...PAGE, number: 1, text: 'id,name\n1,x\n007,y\n' }],
      ...WHOLE,
      columns: ['id', 'name'],
      rows: [
        { id: 1, name: 'x' },
        { id: '007', name: 'y' },
      ],
    });
    folder.write('a.tsv', 'a,b\tc\n1,2\t3\n');
    expect(await ingest('a.tsv')).to.deep.include({ format: 'csv', rows: [{ 'a,b': '1,2', c: 3 }] });
  });

  it('reads a JSON file', async () => {
    folder.write('a.json', '\ufeff{"a": [1]}');
    expect(await ingest('a.json')).to.deep.include({ format: 'json', text: '{"a": [1]}', data: { a: [1] } });
    folder.write('null.json', 'null');
    expect(await ingest('null.json')).to.deep.include({ data: null });
  });

  it('prefers the input "format" to the extension', async () => {
    folder.write('table', 'a\n1\n');
    expect(await ingest('table', 'csv')).to.deep.include({ rows: [{ a: 1 }] });
    expect(await ingest('table', 'text')).to.deep.include({ format: 'text', text: 'a\n1\n' });
  });

  it('reads a file with an unknown ending as text, and refuses one that is binary', async () => {
    folder.write('a.log', 'started\n');
    folder.write('a.bin', new Uint8Array([1, 0, 2]));
    folder.write('nul.txt', 'a\0b');
    folder.write('a.gz', new Uint8Array([0x1f, 0x8b, 8]));
    expect(await ingest('a.log')).to.deep.include({ format: 'text', text: 'started\n' });
    expect(await catchMessage('a.bin')).to.contain('"a.bin" is binary, and nothing that can be read');
    expect(await catchMessage('nul.txt')).to.contain('it holds NUL characters, as binary files do');
    expect(await catchMessage('a.gz')).to.contain('is a gzip archive, which cannot be read');
    expect(validateInputs(ingestDocument, { path: 'a', format: 'doc' })).to.have.property('ok', false);
  });

  it('rejects a file that is outside the allowed folders, missing or too large (D51)', async () => {
    expect(await catchMessage('../a.txt')).to.contain('may be read');
    expect(await catchMessage('a.txt')).to.contain('there is no such file');
    folder.write('big.txt', new Uint8Array(10 * 2 ** 20 + 1));
    expect(await catchMessage('big.txt')).to.contain('larger than the limit of 10 MiB');
  });

  it('rejects a file that is not UTF-8', async () => {
    folder.write('latin.txt', Buffer.from('Grüße', 'latin1'));
    folder.write('utf16.csv', Buffer.from('\ufeffa,b', 'utf16le'));
    expect(await catchMessage('latin.txt')).to.contain('cannot read "latin.txt": it is not UTF-8 text');
    expect(await catchMessage('utf16.csv')).to.contain('it looks like UTF-16');
  });

  it('reads an empty file', async () => {
    for (const name of ['a.txt', 'a.md', 'a.csv']) folder.write(name, '');
    expect(await ingest('a.txt')).to.deep.include({ text: '', bytes: 0 });
    expect(await ingest('a.md')).to.deep.include({ title: 'a.md', sections: [] });
    expect(await ingest('a.csv')).to.deep.include({ columns: [], rows: [] });
  });

  it('indents the page of JSON, and gives a list for a list of several, as recorded', async () => {
    folder.write('a.json', '{"b":1}');
    folder.write('a.txt', 'a');
    expect(await ingest('a.json')).to.deep.include({
      pages: [{ ...PAGE, number: 1, text: '{\n  "b": 1\n}' }],
    });
    const documents = await ingest(['a.txt', 'a.json']);
    expect(documents).to.have.length(2);
    expect(await ingest(['a.txt'])).to.deep.include({ source: 'a.txt' });
  });

  it('passes a document on as it is, also among paths', async () => {
    folder.write('a.txt', 'a');
    const document = { source: 'x', format: 'text', pages: [], metadata: {} };
    expect(await ingest(document)).to.deep.equal(document);
    expect(await ingest([document, 'a.txt'])).to.have.length(2);
  });

  it('refuses what names no document, with its position', async () => {
    expect(await catchMessage({ status: 'success', results: [] })).to.contain('without filings in "results"');
    expect(await catchMessage(['a', 7])).to.contain(
      '"path"[1] is a number: give a path, a URL or a document',
    );
    expect(await catchMessage([])).to.contain('"path" names no document');
    expect(await catchMessage('')).to.contain('the path is empty');
    expect(await catchMessage(Array.from({ length: 1001 }, () => 'a'))).to.contain(
      'more than the limit of 1,000',
    );
  });

  describe('reads from URLs', () => {
    const url = 'https://example.com/reports/a.bin?x=1';

    it('by the content type first, then by the ending', async () => {
      answers = {
        [url]: { bytes: Buffer.from('<p>Hi'), headers: { 'content-type': 'text/html; charset=utf-8' } },
        'https://example.com/t.csv': {
          bytes: Buffer.from('a\nx\n'),
          headers: { 'content-type': 'text/plain' },
        },
      };
      expect(await ingest(url)).to.deep.include({
        source: url,
        source_url: url,
        format: 'html',
        filename: 'a.bin',
        text: 'Hi',
      });
      expect(await ingest('https://example.com/t.csv')).to.deep.include({
        format: 'csv',
        rows: [{ a: 'x' }],
      });
    });

    it('with the name and the ending of where a redirect led, and the host where that has no name', async () => {
      const plain = { bytes: Buffer.from('a\nx\n'), headers: { 'content-type': 'text/plain' } };
      answers = { [url]: { ...plain, url: 'https://example.com/files/Annual%20Report.csv' } };
      expect(await ingest(url)).to.deep.include({
        source: url,
        format: 'csv',
        filename: 'Annual Report.csv',
        title: 'Annual Report.csv',
        rows: [{ a: 'x' }],
      });
      answers = {
        [url]: { ...plain, url: 'https://example.com/t.tsv', bytes: Buffer.from('a,b\tc\n1\t2\n') },
      };
      expect(await ingest(url)).to.deep.include({ columns: ['a,b', 'c'] });
      answers = { 'https://example.com/a.csv': { ...plain, url: 'https://example.com/f81d4fae' } };
      expect(await ingest('https://example.com/a.csv')).to.deep.include({
        format: 'csv',
        filename: 'f81d4fae',
      });
      for (const [end, filename] of [
        ['', 'example.com'],
        ['reports/', 'reports'],
        ['100%', '100%'],
        ['a%2Fb.txt', 'b.txt'],
      ] as const) {
        answers = { [url]: { ...plain, url: `https://example.com/${end}` } };
        expect(await ingest(url)).to.deep.include({ filename, title: filename });
      }
    });

    it('of the filings that fetch_data found, and leaves out those that fail with a message', async () => {
      answers = { [url]: { bytes: Buffer.from('text') } };
      const filings = [{ url }, { url: 'https://example.com/gone' }];
      expect(await ingest({ status: 'success', results: [{ filings }] })).to.deep.include({ text: 'text' });
      expect(context.logs).to.deep.equal(['left out a filing: no answer from https://example.com/gone']);
      expect(await ingest({ status: 'success', url, data: 'x' })).to.deep.include({ text: 'text' });
    });

    it('and fails for another status, for good unless the server may recover', async () => {
      for (const [status, retryable] of [
        [404, false],
        [503, true],
      ] as const) {
        answers = { [url]: { status } };
        const error = await catchRejection(ingest(url));
        expect(error).to.be.instanceOf(ToolError).with.property('retryable', retryable);
        expect(errorMessage(error)).to.contain(`the server answered ${status}`);
      }
    });
  });

  it('keeps the bytes of an image, which become a file of the run (D24), and knows a wrong ending', async () => {
    const bytes = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
    folder.write('a.pdf', bytes);
    expect(await ingest('a.pdf')).to.deep.include({
      format: 'image',
      is_scanned: true,
      text: '',
      pages: [
        { ...PAGE, number: 1, text: '', is_scanned: true, image_bytes: bytes, image_mime: 'image/png' },
      ],
    });
  });

  it('refuses a document with more text than an output can hold twice', async () => {
    folder.write('long.txt', 'x'.repeat(5 * 2 ** 20 + 1));
    expect(await catchMessage('long.txt')).to.contain(
      '"long.txt" has more text than a document may have, which is 5 MiB',
    );
    for (const name of ['a.txt', 'b.txt']) folder.write(name, 'x'.repeat(3 * 2 ** 20));
    expect(await catchMessage(['a.txt', 'b.txt'])).to.contain('together more than 5 MiB of text');
  });

  it('reads 32 MiB of images in one task, and says how to read more', async () => {
    const bytes = Buffer.alloc(8 * 2 ** 20);
    bytes.write('\x89PNG\r\n\x1a\n', 'latin1');
    folder.write('a.png', bytes);
    folder.write('small.png', bytes.subarray(0, 8));
    const four = ['a.png', 'a.png', 'a.png', 'a.png'];
    expect(await ingest(four)).to.have.length(4);
    expect(await catchMessage([...four, 'small.png'])).to.equal(
      'the documents have together more than 32 MiB of images: use parallel_over',
    );
  });

  it('refuses a format that the content contradicts', async () => {
    folder.write('a.txt', '%PDF-1.7');
    folder.write('b.txt', 'text');
    expect(await catchMessage('a.txt', 'text')).to.contain('"a.txt" is not text: it is a PDF');
    expect(await catchMessage('b.txt', 'pdf')).to.contain('"b.txt" is not a PDF');
    folder.write('b.docx', 'text');
    expect(await catchMessage('b.docx')).to.contain('is not a DOCX file, whatever its name says');
  });

  describe('converts the cells of CSV', () => {
    it('to numbers with either decimal sign, integers, booleans and dates', async () => {
      folder.write('us.csv', 'n,i,b,d,s\n"$ 1,200.00",7,yes,2024-02-29,007\n(300.5),,,,\n');
      const columns = { n: 'number', i: 'integer', b: 'boolean', d: 'date', s: 'string' };
      expect(await ingest('us.csv', 'auto', { columns })).to.deep.include({
        rows: [
          { n: 1200, i: 7, b: true, d: '2024-02-29', s: '007' },
          { n: -300.5, i: null, b: null, d: null, s: '' },
        ],
      });
      folder.write('de.csv', 'n;m\n1.234,50;-5 €\n1234,5;1 000\n');
      expect(
        await ingest('de.csv', 'auto', { columns: { n: 'number', m: 'number' }, decimal: ',' }),
      ).to.deep.include({
        rows: [
          { n: 1234.5, m: -5 },
          { n: 1234.5, m: 1000 },
        ],
      });
    });

    it('or names the line and the column of the one that does not convert', async () => {
      folder.write('a.csv', 'n\n"1\n"\n1,5\n'.replace('1,5', '"1,5"'));
      expect(await catchMessage('a.csv', 'auto', { columns: { n: 'number' } })).to.equal(
        '"a.csv" is not a table: line 4, column "n": "1,5" is not a number',
      );
      folder.write('b.csv', 'd\n2023-02-29\n');
      expect(await catchMessage('b.csv', 'auto', { columns: { d: 'date' } })).to.contain(
        'line 2, column "d": "2023-02-29" is not a date',
      );
      expect(await catchMessage('b.csv', 'auto', { columns: { x: 'date' } })).to.contain('no column "x"');
      expect(await catchMessage('b.csv', 'auto', { columns: { d: 'money' } })).to.contain(
        '"columns" gives "d" the type "money": use string, integer, number, boolean, date',
      );
    });

    it('to a date only with a day and a time that exist', async () => {
      const columns = { d: 'date' };
      const dates = ['2024-02-29T23:59:59Z', '2024-01-31 00:00', '2024-01-31T12:30:00.5+05:30'];
      folder.write('dates.csv', `d\n${dates.join('\n')}\n`);
      expect(await ingest('dates.csv', 'auto', { columns })).to.deep.include({
        rows: dates.map((d) => ({ d })),
      });
      for (const date of [
        '2024-01-01T99:99',
        '2024-01-01T24:00',
        '2024-01-01 10:60',
        '2024-01-01T10:00:60',
      ]) {
        folder.write('c.csv', `d\n${date}\n`);
        expect(await catchMessage('c.csv', 'auto', { columns })).to.contain(`"${date}" is not a date`);
      }
      for (const zone of ['+24:00', '-05:60', '+9999']) {
        folder.write('c.csv', `d\n2024-01-01T10:00${zone}\n`);
        expect(await catchMessage('c.csv', 'auto', { columns })).to.contain('is not a date');
      }
    });

    it('between any delimiter', async () => {
      folder.write('a.csv', 'a|b\n1|2\n');
      expect(await ingest('a.csv', 'auto', { delimiter: '|' })).to.deep.include({ rows: [{ a: 1, b: 2 }] });
      expect(await catchMessage('a.csv', 'auto', { delimiter: '' })).to.contain('use one to 10 characters');
    });
  });
});
