import { expect } from 'chai';
import { errorMessage, ToolError } from '../../../../lib/common/errors.js';
import type { Json } from '../../../../lib/common/json/json.js';
import { select } from '../../../../lib/tools/builtin/select/select.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import type { PageList } from '../../../../lib/tools/builtin/select/select-pages.js';
import { catchRejection } from '../../../support/rejection.js';
import { type TestContext, toolContext } from '../../../support/tool-context.js';
import { ScriptedModels } from '../../../models/scripted-models.js';

const PAGES = [
  { number: 1, text: 'Revenue grew.', metadata: { heading: 'Note 2' } },
  { number: 2, text: '| a | b |\n|---|---|\n| employees | 5 |', sheet_name: 'Staff' },
  { number: 4, text: 'x'.repeat(1000) },
];
const DOCUMENT: Json = { source: 'd', format: 'text', pages: PAGES };

describe('select by a model (D49)', () => {
  let models: ScriptedModels;
  let context: TestContext;

  async function choose(inputs: Record<string, Json>, answer: string | object): Promise<PageList> {
    models = new ScriptedModels(answer);
    context = toolContext({ llm: models });
    const given = { document: DOCUMENT, prompt: 'employees', model: 'openai/gpt-4o', ...inputs };
    const checked = validateInputs(select, given);
    if (!checked.ok) throw new Error(checked.errors.join('; '));
    return (await select.run(checked.inputs, context)) as PageList;
  }

  async function numbers(inputs: Record<string, Json>, answer: string | object): Promise<unknown[]> {
    return (await choose(inputs, answer)).pages.map(({ number }) => number);
  }

  for (const answer of [
    '[2]',
    'pages 2 and 9',
    '{"pages": [2]}',
    '{"pages": ["2"]}',
    '<think>1 or 4</think>2',
  ]) {
    it(`reads the answer ${answer}`, async () => {
      const list = await choose({}, answer);
      expect(list.pages.map(({ number }) => number)).to.deep.equal([2]);
      expect(list.selector_prompt).to.equal('[explicit pages]');
    });
  }

  it('asks once, for the purpose select and 256 tokens, with the beginning of each page', async () => {
    await choose({}, '[2]');
    expect(models.requests).to.have.length(1);
    expect(models.requests[0]).to.deep.include({
      purpose: 'select',
      model: 'openai/gpt-4o',
      max_tokens: 256,
    });
    const lines = models.promptOf(0).split('\n');
    expect(lines).to.include('{"page":1,"heading":"Note 2","begins":"Revenue grew."}');
    expect(lines.find((line) => line.startsWith('{"page":2'))).to.contain('"sheet":"Staff","table":true');
    expect(lines).to.include(`{"page":4,"begins":"${'x'.repeat(300)}"}`);
  });

  it('keeps the pages in the order of the document', async () => {
    expect(await numbers({}, '[4, 1]')).to.deep.equal([1, 4]);
  });

  it('passes all pages on when the model chooses none, and logs it', async () => {
    const list = await choose({}, '[]');
    expect(list.pages.map(({ number }) => number)).to.deep.equal([1, 2, 4]);
    expect(list.selector_prompt).to.equal('[passthrough]');
    expect(context.logs).to.deep.equal(['the model has chosen no page: passed all on']);
  });

  it('fails when the call fails or its answer was cut', async () => {
    expect(errorMessage(await catchRejection(numbers({}, new ToolError('no connection'))))).to.equal(
      'no connection',
    );
    const cut = await catchRejection(numbers({}, { text: '[1, 2', finish: 'length' }));
    expect(errorMessage(cut)).to.contain('raise "max_tokens"');
  });

  it('says how to select among too many pages', async () => {
    const pages = Array.from({ length: 2000 }, (_, i) => ({ number: i + 1, text: 'x'.repeat(300) }));
    const error = await catchRejection(numbers({ document: { source: 'd', format: 'text', pages } }, '[1]'));
    expect(errorMessage(error)).to.contain('by words first');
  });

  for (const [what, inputs, purpose] of [
    ['a prompt and a model', { prompt: 'p', model: 'openai/gpt-4o' }, 'select'],
    ['a prompt and by: model', { prompt: 'p', by: 'model' }, 'select'],
    ['a prompt alone', { prompt: 'p' }, undefined],
    ['by: words, whatever the model', { prompt: 'p', by: 'words', model: 'openai/gpt-4o' }, undefined],
    ['page numbers', { prompt: 'p', pages: [1], model: 'openai/gpt-4o' }, undefined],
    ['chunks', { prompt: 'p', granularity: 'chunk', model: 'openai/gpt-4o' }, undefined],
    ['no prompt', { model: 'openai/gpt-4o' }, undefined],
  ] as const) {
    it(`${purpose === undefined ? 'needs no model' : 'needs a model'} with ${what}`, async () => {
      expect(select.usesModel?.({ document: 'x', ...inputs } as never)).to.equal(purpose);
      const asked = new ScriptedModels('[1]');
      const checked = validateInputs(select, { document: DOCUMENT, ...inputs } as never);
      if (checked.ok) await select.run(checked.inputs, toolContext({ llm: asked }));
      expect(asked.requests).to.have.length(purpose === undefined ? 0 : 1);
    });
  }
});
