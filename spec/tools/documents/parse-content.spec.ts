import { expect } from 'chai';
import writeXlsxFile from 'write-excel-file/node';
import type { DocumentContent, DocumentFormat, DocumentPage } from '../../../lib/tools/documents/document.js';
import { isLargeDocument, parseContent } from '../../../lib/tools/documents/parse-content.js';
import { itTimed, measureCpuMs } from '../../support/measuring/cpu-time.js';
import { catchToolMessage } from '../../support/rejection.js';
import { makePdf } from './make-pdf.js';
import { docxParagraph, makeDocx, makeZip } from './make-zip.js';

function parse(format: DocumentFormat, bytes: Buffer): Promise<DocumentContent> {
  return parseContent({ format, bytes, source: 'a' });
}

async function pagesOf(format: DocumentFormat, bytes: Buffer): Promise<readonly DocumentPage[]> {
  return (await parse(format, bytes)).pages ?? [];
}

const catchMessage = (format: DocumentFormat, bytes: Buffer): Promise<string> =>
  catchToolMessage(parse(format, bytes));

describe('isLargeDocument', () => {
  it('sends to another process what would hold the event loop for longer than some milliseconds', () => {
    const isLarge = (format: DocumentFormat, size: number): boolean =>
      isLargeDocument({ format, bytes: Buffer.alloc(size), source: 'a' });
    const kib = 1024;
    for (const [format, size] of [
      ['html', 16 * kib],
      ['json', 64 * kib],
      ['csv', 64 * kib],
      ['markdown', 64 * kib],
      ['pdf', 0],
    ] as const) {
      expect(isLarge(format, size)).to.equal(true);
      expect(isLarge(format, Math.max(size - 1, 0))).to.equal(size === 0);
    }
    expect(isLarge('text', 5000 * kib)).to.equal(false);
  });
});

describe('parseContent', () => {
  describe('of HTML', () => {
    const html = (body: string): Promise<readonly DocumentPage[]> => pagesOf('html', Buffer.from(body));
    const shown = async (body: string): Promise<unknown[]> =>
      (await html(body)).map(({ text, metadata }) => [metadata['type'], metadata['heading'], text]);

    it('gives a page for each section under h1 to h4, and one for each table', async () => {
      const body =
        '<title>T</title>before<h1>One</h1><p>a <b>b</b>&amp;c</p><div>d</div>' +
        '<table><tr><th>x<th>y<tr><td>1<td>2</table><h5>small</h5>e<h4>Two</h4><table><tr><td>p<td>q</table>';
      expect(await shown(body)).to.deep.equal([
        ['prose', null, 'before'],
        ['prose', 'One', 'One\n\na b&c\n\nd'],
        ['table', 'One', 'x | y\n1 | 2'],
        ['prose', 'One', 'small\n\ne'],
        ['table', 'Two', 'p | q'],
      ]);
      expect(await parse('html', Buffer.from(body))).to.have.property('title', 'T');
    });

    it('gives prose, a table and prose again as three pages, with a heading before the first prose only', async () => {
      const table = '<table><tr><td>x<td>y</table>';
      expect(await shown(`a${table}b`)).to.deep.equal([
        ['prose', null, 'a'],
        ['table', null, 'x | y'],
        ['prose', null, 'b'],
      ]);
      expect(await shown(`<h2>H</h2>${table}<p>b</p>${table}c`)).to.deep.equal([
        ['table', 'H', 'x | y'],
        ['prose', 'H', 'H\n\nb'],
        ['table', 'H', 'x | y'],
        ['prose', 'H', 'c'],
      ]);
    });

    it('writes numbers in brackets as negative, with the signs that filings put into cells of their own', async () => {
      const rows =
        '<tr><td>a<td>(1,234)<td>x<tr><td>b<td>$ (5.5)<td>(note)' +
        '<tr><td>c<td></td><td>$</td><td>(7</td><td>)</td><tr><td>d<td><td>8<td>%';
      const [page] = await html(`<table>${rows}</table>`);
      expect(page?.text.split('\n')).to.deep.equal([
        'a | -1234 | x',
        'b | -5.5 | (note)',
        'c |  |  | -7',
        'd |  | 8%',
      ]);
    });

    it('drops the empty cells at the end of a row, and no bar that is text', async () => {
      const [page] = await html('<table><tr><td>a<td><td>b<tr><td>c<td><td></td><tr><td>d<td>|</table>');
      expect(page?.text.split('\n')).to.deep.equal(['a |  | b', 'c', 'd | |']);
    });

    itTimed('reads a table of many empty cells in linear time', async () => {
      const row = `<tr>${'<td>'.repeat(20_000)}x`;
      const body = `<table><tr>${'<td>x'.repeat(20_000)}${row}</table>`;
      let pages: readonly DocumentPage[] = [];
      expect(await measureCpuMs(async () => (pages = await html(body)))).to.be.below(1200);
      expect(pages[0]?.text.split('\n')[1]).to.match(/^ \|  \| .* \| x$/);
    });

    it('drops scripts, styles and the header of XBRL', async () => {
      const body =
        '<style>s{}</style><script>if (a<b) x("<p>")</script>a<ix:header><ix:hidden>h</ix:hidden></ix:header><p>b';
      expect(await shown(body)).to.deep.equal([['prose', null, 'a\n\nb']]);
    });

    it('finds the labels of notes and items in headings', async () => {
      const labels = ['NOTE 2 - Revenue', 'Item 7a. MD&amp;A', '3. Taxes', '2024 in short', 'Notes'];
      const pages = await html(labels.map((label) => `<h2>${label}</h2>x`).join(''));
      expect(pages.map(({ metadata }) => metadata['note_label'])).to.deep.equal([
        'Note 2',
        'Item 7A',
        '3.',
        null,
        null,
      ]);
    });

    it('splits long prose at paragraphs and loses nothing', async () => {
      const paragraph = 'word '.repeat(500).trim();
      const pages = await html(`<h1>H</h1>${`<p>${paragraph}</p>`.repeat(10)}`);
      expect(pages).to.have.length(4);
      expect(pages.map(({ text }) => text).join('\n\n')).to.equal(
        ['H', ...Array.from({ length: 10 }, () => paragraph)].join('\n\n'),
      );
    });

    itTimed(
      'decodes it as it declares, and reads a table in a table and tags that are never closed',
      async () => {
        expect(
          (await pagesOf('html', Buffer.from('<meta charset="iso-8859-1">Gr\xfc\xdfe', 'latin1')))[0]?.text,
        ).to.equal('Grüße');
        expect(await catchMessage('html', Buffer.from('<meta charset="none-such">'))).to.contain(
          'cannot be decoded as "none-such"',
        );
        const spaces = Buffer.from(`<meta charset=${' '.repeat(4080)}>`);
        const cpuMs = await measureCpuMs(async () => {
          for (let count = 0; count < 50; count++) await pagesOf('html', spaces);
        });
        expect(cpuMs).to.be.lessThan(500);
        const nested = '<table><tr><td><table><tr><td>a<td>b</table>outer<h1>';
        expect(await shown(nested)).to.deep.equal([
          ['prose', null, 'outer'],
          ['table', null, 'a | b'],
        ]);
      },
    );

    it('refuses more than 10,000 pages', async () => {
      expect(await catchMessage('html', Buffer.from('<h1>a</h1>'.repeat(10_001)))).to.contain(
        '10,001 pages, more than the limit of 10,000',
      );
    });
  });

  describe('of PDF', () => {
    it('gives a page for each page with its size, and says which have no text', async () => {
      const content = await parse('pdf', makePdf([['One', 'line (two)'], []]));
      expect(
        content.pages?.map(({ text, is_scanned, metadata }) => ({ text, is_scanned, ...metadata })),
      ).to.deep.equal([
        { text: 'One\nline (two)', is_scanned: false, width: 612, height: 792, native_char_count: 12 },
        { text: '', is_scanned: true, width: 612, height: 792, native_char_count: 0 },
      ]);
    });

    it('refuses a file that is damaged, encrypted or empty', async () => {
      const whole = makePdf([['One']]);
      expect(await catchMessage('pdf', whole.subarray(0, 300))).to.contain('is not a PDF that can be read');
      expect(await catchMessage('pdf', makePdf([['One']], { encrypted: true }))).to.equal(
        '"a" is encrypted: save it without a password',
      );
      expect(await catchMessage('pdf', Buffer.alloc(0))).to.contain('its size is zero bytes');
      expect(await catchMessage('pdf', makePdf([]))).to.equal('"a" has no pages: check the file');
    });

    it('reads 10,000 pages at most', async () => {
      const lines = Array.from({ length: 10_001 }, (_, i) => [`Page ${i}`]);
      expect(await catchMessage('pdf', makePdf(lines))).to.contain(
        'has 10,001 pages, more than the limit of 10,000',
      );
    });
  });

  describe('of DOCX', () => {
    it('gives a page for each section and table, as of HTML', async () => {
      const table = `<w:tbl><w:tr><w:tc>${docxParagraph('x')}</w:tc><w:tc>${docxParagraph('(1,000)')}</w:tc></w:tr></w:tbl>`;
      const body =
        docxParagraph('Title', 'Heading1') + docxParagraph('Body') + table + docxParagraph('After');
      expect((await pagesOf('docx', makeDocx(body))).map(({ text }) => text)).to.deep.equal([
        'Title\n\nBody',
        'x | -1000',
        'After',
      ]);
    });

    it('refuses a bomb before it is unpacked, also one whose directory lies', async () => {
      const zeros = Buffer.alloc(101 * 2 ** 20);
      const bomb = makeDocx('', [{ name: 'word/media/a', content: zeros }]);
      expect(bomb.length).to.be.below(200_000);
      expect(await catchMessage('docx', bomb)).to.match(/unpacks to 101 MiB, more than the limit of 100 MiB/);
      const liar = makeDocx('', [{ name: 'word/media/a', content: zeros, claimedBytes: 10 }]);
      expect(await catchMessage('docx', liar)).to.contain(
        '"word/media/a" in it cannot be unpacked, or is larger than it says',
      );
    });

    it('refuses too many files, and an archive that is cut off', async () => {
      const files = Array.from({ length: 10_001 }, (_, i) => ({ name: `f${i}`, content: '' }));
      expect(await catchMessage('docx', makeZip(files))).to.contain(
        '10,001 files, more than the limit of 10,000',
      );
      expect(await catchMessage('docx', makeDocx('').subarray(0, 200))).to.contain(
        'its ZIP directory cannot be read',
      );
      expect(await catchMessage('docx', makeZip([{ name: 'a', content: 'b' }]))).to.contain(
        'is not a DOCX file that can be read',
      );
    });
  });

  describe('of XLSX', () => {
    it('gives a page for each sheet with its name and rows', async () => {
      const bytes = await writeXlsxFile(
        [
          [
            [{ value: 'name' }, { value: 'due' }],
            [{ value: 1.5 }, { value: new Date(Date.UTC(2024, 0, 31)), format: 'yyyy-mm-dd' }],
          ],
          [[{ value: true }, null, { value: 'x' }]],
        ].map((data, i) => ({ data, sheet: `S${i + 1}` })),
      ).toBuffer();
      const pages = await pagesOf('xlsx', bytes);
      expect(pages.map(({ sheet_name, rows, text }) => ({ sheet_name, rows, text }))).to.deep.equal([
        {
          sheet_name: 'S1',
          rows: [
            ['name', 'due'],
            [1.5, '2024-01-31'],
          ],
          text: 'name | due\n1.5 | 2024-01-31',
        },
        { sheet_name: 'S2', rows: [[true, null, 'x']], text: 'true |  | x' },
      ]);
    });

    it('refuses a bomb before it is unpacked, and what is no workbook', async () => {
      const bomb = makeZip([{ name: 'xl/worksheets/sheet1.xml', content: Buffer.alloc(101 * 2 ** 20) }]);
      expect(await catchMessage('xlsx', bomb)).to.match(/unpacks to 101 MiB, more than the limit of 100 MiB/);
      expect(await catchMessage('xlsx', makeZip([{ name: 'a', content: 'b' }]))).to.contain(
        'is not an XLSX file that can be read',
      );
    });
  });
});
