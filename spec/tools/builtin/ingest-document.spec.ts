import { expect } from 'chai';
import { errorMessage, ToolError } from '../../../lib/common/errors.js';
import { ingestDocument } from '../../../lib/tools/builtin/ingest-document.js';
import { fileAccess } from '../../../lib/tools/files/file-access.js';
import { validateInputs } from '../../../lib/tools/inputs/validate.js';
import { catchRejection } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { toolContext } from '../../support/tool-context.js';

describe('ingest_document (D49)', () => {
  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = new TemporaryFolder();
  });

  afterEach(() => folder.remove());

  async function ingest(path: string, format = 'auto'): Promise<unknown> {
    const context = toolContext({ files: fileAccess([folder.path]) });
    return await ingestDocument.run({ path, format }, context);
  }

  async function catchMessage(path: string, format?: string): Promise<string> {
    const error = await catchRejection(ingest(path, format));
    expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
    return errorMessage(error);
  }

  it('reads a text file', async () => {
    folder.write('notes/a.txt', 'Grüße\n');
    expect(await ingest('notes/a.txt')).to.deep.equal({
      source: 'notes/a.txt',
      format: 'text',
      title: 'a.txt',
      text: 'Grüße\n',
      bytes: 8,
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

  it('lists the supported extensions for an unknown one', async () => {
    expect(await catchMessage('report.pdf')).to.equal(
      '"report.pdf" has none of the supported extensions (.txt, .md, .markdown, .csv, .tsv, .json): ' +
        'set "format" to one of text, markdown, csv, json',
    );
    expect(await catchMessage('toString')).to.contain('none of the supported extensions');
    expect(validateInputs(ingestDocument, { path: 'a', format: 'pdf' })).to.have.property('ok', false);
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

  it('describes the error in a document', async () => {
    folder.write('bad.json', '{"a": }');
    folder.write('empty.json', '  ');
    folder.write('ragged.csv', 'a,b\n1\n');
    expect(await catchMessage('bad.json')).to.contain('"bad.json" is not JSON');
    expect(await catchMessage('empty.json')).to.contain('it is empty');
    expect(await catchMessage('ragged.csv')).to.equal(
      '"ragged.csv" is not a table: line 2 has 1 cell, but its header has 2',
    );
  });

  it('reads an empty file', async () => {
    for (const name of ['a.txt', 'a.md', 'a.csv']) folder.write(name, '');
    expect(await ingest('a.txt')).to.deep.include({ text: '', bytes: 0 });
    expect(await ingest('a.md')).to.deep.include({ title: 'a.md', sections: [] });
    expect(await ingest('a.csv')).to.deep.include({ columns: [], rows: [] });
  });
});
