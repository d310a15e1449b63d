import { expect } from 'chai';
import { errorMessage, ToolError } from '../../../../lib/common/errors.js';
import type { Json } from '../../../../lib/common/json/json.js';
import { createIngestDocument } from '../../../../lib/tools/builtin/ingest-document.js';
import { parseContent } from '../../../../lib/tools/documents/parse-content.js';
import { fileAccess } from '../../../../lib/tools/files/file-access.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import { catchRejection } from '../../../support/rejection.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { type TestContext, toolContext } from '../../../support/tool-context.js';
import { FULL_PAGE, makeScan, rgbImage } from '../../documents/make-scan.js';
import { ScriptedModels } from '../../../models/scripted-models.js';

const PNG = Buffer.from('\x89PNG\r\n\x1a\nand more', 'latin1');

const ingestDocument = createIngestDocument((request, { signal }) => parseContent(request, signal));

describe('ingest_document with images (D49)', () => {
  let folder: TemporaryFolder;
  let models: ScriptedModels;
  let context: TestContext;

  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('a.png', PNG);
    folder.write('b.png', PNG);
  });

  afterEach(() => folder.remove());

  async function ingest(inputs: Record<string, Json>, ...answers: (string | object)[]): Promise<unknown> {
    models = new ScriptedModels(...answers);
    context = toolContext({ llm: models, files: fileAccess([folder.path]) });
    const checked = validateInputs(ingestDocument, { path: 'a.png', ...inputs });
    if (!checked.ok) throw new Error(checked.errors.join('; '));
    return await ingestDocument.run(checked.inputs, context);
  }

  it('asks one vision call for each image, for the purpose ocr and 2,048 tokens', async () => {
    const documents = (await ingest(
      { path: ['a.png', 'b.png'], model: 'openai/gpt-4o' },
      'One',
      'Two',
    )) as object[];
    expect(documents.map((document) => (document as { text: string }).text)).to.deep.equal(['One', 'Two']);
    expect(documents[1]).to.have.nested.property('pages[0].text', 'Two');
    expect(documents[1]).to.have.nested.property('pages[0].metadata.ocr_model', 'openai/gpt-4o');
    expect(documents[1]).to.have.nested.property('pages[0].is_scanned', true);
    expect(models.requests).to.have.length(2);
    expect(models.requests[0]).to.deep.include({ purpose: 'ocr', model: 'openai/gpt-4o', max_tokens: 2048 });
    const [image] = models.requests[0]?.messages[0]?.content ?? [];
    expect(image).to.deep.equal({ type: 'image', bytes: PNG, media_type: 'image/png' });
  });

  it('asks the configured model with ocr: true', async () => {
    expect(await ingest({ ocr: true }, '```\nText\n```')).to.have.property('text', 'Text');
    expect(models.requests[0]?.model).to.equal(undefined);
  });

  it('asks no model unless it is asked for', async () => {
    expect(await ingest({}, 'x')).to.have.property('text', '');
    expect(await ingest({ ocr: false, model: 'openai/gpt-4o' }, 'x')).to.have.property('text', '');
    expect(models.requests).to.have.length(0);
  });

  it('says before a run whether it needs a model', () => {
    const needs = (written: Record<string, Json>): unknown => ingestDocument.usesModel?.(written);
    expect(
      [{}, { ocr: true }, { model: 'mock/echo' }, { ocr: false, model: 'mock/echo' }].map(needs),
    ).to.deep.equal([undefined, 'ocr', 'ocr', undefined]);
  });

  it('fails when the call fails, or the text was cut', async () => {
    const failed = await catchRejection(ingest({ ocr: true }, new ToolError('no connection')));
    expect(errorMessage(failed)).to.equal('no connection');
    const cut = await catchRejection(ingest({ ocr: true }, { text: 'Te', finish: 'length' }));
    expect(errorMessage(cut)).to.contain('raise "max_tokens"');
  });

  it('asks one vision call for each scanned page of a PDF, and no other; its text has the number of the page', async () => {
    const scan = { images: { A: rgbImage(['█ ']) } };
    const text = 'BT /F1 12 Tf 10 50 Td (Written) Tj ET';
    folder.write('a.pdf', makeScan([{ content: text }, scan, { content: '' }, scan]));
    const document = await ingest({ path: 'a.pdf', model: 'openai/gpt-4o' }, 'Two', 'Four');
    expect(document).to.have.property('text', 'Written\n\nTwo\n\n\n\nFour');
    expect(document).to.have.nested.property('pages[3].number', 4);
    expect(document).to.have.nested.property('pages[3].text', 'Four');
    expect(document).to.have.nested.property('pages[3].metadata.ocr_model', 'openai/gpt-4o');
    expect(document).to.have.nested.property('pages[3].image_bytes', null);
    expect(document).to.have.nested.property('pages[2].is_scanned', false);
    expect(models.requests).to.have.length(2);
    const [image] = models.requests[0]?.messages[0]?.content ?? [];
    expect(image).to.include({ type: 'image', media_type: 'image/png' });
    expect(context.logs).to.deep.equal([]);
  });

  it('keeps the text that a scanned page of a PDF has, such as a stamp', async () => {
    const content = `${FULL_PAGE} BT /F1 12 Tf 10 50 Td (Page 7) Tj ET`;
    folder.write('a.pdf', makeScan([{ content, images: { A: rgbImage(['█ ']) } }]));
    expect(await ingest({ path: 'a.pdf', ocr: true }, 'Read')).to.have.property('text', 'Page 7\n\nRead');
  });

  it('logs the scanned pages of a PDF that no model reads, and how to have them read', async () => {
    const scan = { images: { A: rgbImage(['█ ']) } };
    folder.write('a.pdf', makeScan([scan, scan]));
    const document = await ingest({ path: 'a.pdf' });
    const cure =
      'did not read pages without text of "a.pdf": 1, 2: with "ocr: true", a language model reads them';
    expect(context.logs).to.deep.equal([cure]);
    const passed = (await ingest({ path: document as Json, ocr: true }, 'x')) as object;
    expect(passed).to.have.property('text', '\n\n');
    expect(context.logs.join()).to.contain('1, 2: no image of them was made').and.contain('read its file');
  });

  it('logs pages of a PDF that draw shapes, of which there is no image', async () => {
    folder.write('a.pdf', makeScan([{ content: '10 10 50 50 re f' }]));
    await ingest({ path: 'a.pdf', ocr: true }, 'x');
    expect(models.requests).to.have.length(0);
    expect(context.logs.join()).to.contain('"a.pdf": 1: lines and shapes are drawn, but no image; convert');
  });
});
