import { expect } from 'chai';
import { ToolError } from '../../../lib/common/errors.js';
import type { Json } from '../../../lib/common/json/json.js';
import { select } from '../../../lib/tools/builtin/select/select.js';
import type { PageList } from '../../../lib/tools/builtin/select/select-pages.js';
import { validateInputs } from '../../../lib/tools/inputs/validate.js';
import { catchToolMessage } from '../../support/rejection.js';
import { toolContext } from '../../support/tool-context.js';

const TEXTS = [
  'REVENUE NOTE\n\nRevenue rose by ten percent in the cloud segment.',
  'Human Capital\n\nWe had 67000 employees and headcount grew.',
  '| a | b |\n|---|---|\n| employees | 5 |',
  'Legal matters.',
];
const DOCUMENT = toDocument(TEXTS);

function toDocument(texts: readonly string[], source = 'd'): Json {
  const pages = texts.map((text, i) => ({
    number: i + 1,
    text,
    is_scanned: false,
    sheet_name: null,
    metadata: {},
  }));
  return { source, format: 'text', pages, page_count: pages.length };
}

/** Validates the inputs, as a run does, and calls the tool. */
async function choose(inputs: Record<string, Json>): Promise<PageList | PageList[]> {
  const validated = validateInputs(select, inputs);
  if (!validated.ok) throw new ToolError(validated.errors.join('; '));
  return (await select.run(validated.inputs, toolContext())) as PageList | PageList[];
}

async function numbers(inputs: Record<string, Json>): Promise<unknown[]> {
  const list = await choose({ document: DOCUMENT, ...inputs });
  return [list].flat().flatMap(({ pages }) => pages.map(({ number }) => number));
}

const catchMessage = (inputs: Record<string, Json>): Promise<string> => catchToolMessage(choose(inputs));

describe('select (D49)', () => {
  describe('gives what the recorded cases of pages give', () => {
    it('explicit pages', async () => {
      const list = await choose({ document: DOCUMENT, pages: [2, 4] });
      expect(list).to.deep.include({
        parent_source: 'd',
        parent_format: 'text',
        selector_prompt: '[explicit pages]',
        metadata: {},
      });
      expect(await numbers({ pages: [2, 4] })).to.deep.equal([2, 4]);
    });

    it('all pages', async () => {
      expect(await choose({ document: DOCUMENT })).to.have.property('selector_prompt', '[passthrough]');
      expect(await numbers({})).to.deep.equal([1, 2, 3, 4]);
    });

    it('all pages, with the label of all, for an empty list of pages, and for a prompt of which no page has a word', async () => {
      for (const inputs of [{ pages: [] }, { prompt: 'dividends' }, { pages: [], prompt: 'dividends' }]) {
        expect(await choose({ document: DOCUMENT, ...inputs })).to.have.property(
          'selector_prompt',
          '[passthrough]',
        );
        expect(await numbers(inputs)).to.deep.equal([1, 2, 3, 4]);
      }
      expect(await numbers({ pages: [], prompt: 'employees' })).to.deep.equal([2, 3]);
    });

    it('pages that a prompt selects have the label of explicit ones', async () => {
      expect(await choose({ document: DOCUMENT, prompt: 'employees' })).to.deep.include({
        selector_prompt: '[explicit pages]',
      });
    });

    it('chunks without a prompt are an error', async () => {
      expect(await catchMessage({ document: DOCUMENT, granularity: 'chunk' })).to.contain('needs a prompt');
    });

    it('a text is a page', async () => {
      const list = await choose({ document: 'inline text' });
      expect(list).to.deep.include({ parent_source: '<inline>', parent_format: 'text' });
      expect(list)
        .to.have.property('pages')
        .that.deep.equals([
          {
            number: 1,
            text: 'inline text',
            is_scanned: false,
            sheet_name: null,
            metadata: {},
            image_bytes: null,
            image_mime: null,
          },
        ]);
    });

    it('a text in a list is an error that names its position', async () => {
      expect(await catchMessage({ document: ['text'] })).to.contain(
        '"document"[0] is a string, not a document',
      );
    });
  });

  it('takes page numbers, texts of numbers and ranges, in the order of the document', async () => {
    expect(await numbers({ pages: ['4', 2] })).to.deep.equal([2, 4]);
    expect(await numbers({ pages: '2-3' })).to.deep.equal([2, 3]);
    expect(await numbers({ pages: '1, 3-9' })).to.deep.equal([1, 3, 4]);
    expect(await numbers({ pages: 3 })).to.deep.equal([3]);
  });

  it('says which pages there are when none of those named is, and refuses what is no page number', async () => {
    expect(await catchMessage({ document: DOCUMENT, pages: [9] })).to.contain('it has 1, 2, 3, 4');
    for (const pages of [['two'], [0], [1.5], [null]]) {
      expect(await catchMessage({ document: DOCUMENT, pages })).to.contain(
        'use page numbers such as 3, or "1-3"',
      );
    }
    expect(await catchMessage({ document: DOCUMENT, pages: '3-1' })).to.contain(
      '"pages" holds "3-1", a range that ends before it begins: did you mean "1-3"?',
    );
  });

  it('takes at most 10,000 pages of a document, as it is read with, 10,000 page numbers and 1000 documents', async () => {
    const long = toDocument(Array.from({ length: 10_001 }, () => 'a'));
    for (const inputs of [{}, { prompt: 'a' }, { pages: 1 }]) {
      expect(await catchMessage({ document: long, ...inputs })).to.equal(
        '"d" has 10,001 pages, more than the limit of 10,000: split it',
      );
    }
    const many = Array.from({ length: 5 }, () => '1,'.repeat(4000));
    expect(await catchMessage({ document: DOCUMENT, pages: many })).to.contain('more than 10,000 entries');
    const documents = Array.from({ length: 1001 }, () => DOCUMENT);
    expect(await catchMessage({ document: documents })).to.contain(
      '1001 documents, more than the limit of 1000',
    );
  });

  it('selects the pages that share words with a prompt, and all when none does', async () => {
    expect(await numbers({ prompt: 'how many employees?' })).to.deep.equal([2, 3]);
    expect(await numbers({ prompt: 'how many employees?', top_k: 1 })).to.deep.equal([3]);
    expect(await numbers({ prompt: 'dividends' })).to.deep.equal([1, 2, 3, 4]);
  });

  it('selects the pages of the best chunks, in page order', async () => {
    expect(await numbers({ prompt: 'employees', granularity: 'chunk' })).to.deep.equal([2, 3]);
    expect(await numbers({ prompt: 'cloud segment', granularity: 'chunk', top_k: 1 })).to.deep.equal([1]);
  });

  it('selects the pages of the first chunks when none has a word of the prompt, and all pages without text', async () => {
    const none = { prompt: 'none of it', granularity: 'chunk' };
    expect(await numbers({ ...none, top_k: 2 })).to.deep.equal([1, 2]);
    expect(await choose({ document: toDocument(['', ' ']), ...none })).to.deep.include({
      selector_prompt: '[chunk-fallback-passthrough]',
    });
  });

  it('prefers chunks to page numbers, and page numbers to the words of a prompt', async () => {
    expect(await numbers({ prompt: 'legal', pages: [1] })).to.deep.equal([1]);
    expect(await numbers({ prompt: 'legal', pages: [1], granularity: 'chunk' })).to.deep.equal([4]);
  });

  it('selects from pages that were selected before, and names their document', async () => {
    const first = (await choose({ document: DOCUMENT, pages: '2-3' })) as unknown as Json;
    const second = await choose({ document: first, pages: [3] });
    expect(second).to.deep.include({ parent_source: 'd', source: 'd', format: 'text' });
    expect(second).to.have.property('pages').that.has.length(1);
  });

  it('gives a page list for each document of a list', async () => {
    const lists = await choose({ document: [DOCUMENT, toDocument(['employees'], 'e')], prompt: 'employees' });
    expect(lists).to.have.length(2);
    expect([lists].flat().map(({ parent_source }) => parent_source)).to.deep.equal(['d', 'e']);
    expect(await catchMessage({ document: [] })).to.contain('empty list');
    expect(await catchMessage({ document: 7 })).to.contain('"document" is a number, not a document');
  });
});
