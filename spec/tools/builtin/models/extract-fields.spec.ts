import { expect } from 'chai';
import { ToolError } from '../../../../lib/common/errors.js';
import type { Json } from '../../../../lib/common/json/json.js';
import { extractFields } from '../../../../lib/tools/builtin/models/extract-fields.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import { catchRejection } from '../../../support/rejection.js';
import { ScriptedModels } from '../../../models/scripted-models.js';
import { type TestContext, toolContext } from '../../../support/tool-context.js';

const SCHEMA = { fields: [{ name: 'a' }, { name: 'b', type: 'number' }] };
const PAGES = ['Revenue was  4,200\nin 2024.', 'Loss: (17)'].map((text, i) => ({ number: i + 1, text }));
const DOCUMENT = { source: 'report.pdf', format: 'pdf', pages: PAGES };
const NONE = '__not_found__';

describe('extract_fields (D49)', () => {
  let models: ScriptedModels;
  let context: TestContext;

  async function extract(inputs: Record<string, Json>, ...answers: (string | object)[]): Promise<unknown> {
    models = new ScriptedModels(...answers);
    context = toolContext({ llm: models });
    const checked = validateInputs(extractFields, { document: DOCUMENT, schema: SCHEMA, ...inputs });
    if (!checked.ok) throw new Error(checked.errors.join('; '));
    return await extractFields.run(checked.inputs, context);
  }

  async function catchError(
    inputs: Record<string, Json>,
    ...answers: (string | object)[]
  ): Promise<ToolError> {
    const error = await catchRejection(extract(inputs, ...answers));
    expect(error).to.be.instanceOf(ToolError);
    return error as ToolError;
  }

  it('gives exactly the declared fields, and __not_found__ for what did not come, as recorded', async () => {
    expect(await extract({}, '{"a": "5", "zz": 1}')).to.deep.equal({ a: '5', b: NONE });
    expect(await extract({}, '{"a": null, "b": "__not_found__"}')).to.deep.equal({ a: NONE, b: NONE });
  });

  it('asks once, for the purpose extract, with a schema and 4,096 tokens', async () => {
    await extract({ model: 'openai/gpt-4o' }, '{"a": 1}');
    const [request, second] = models.requests;
    expect(second).to.equal(undefined);
    expect(request).to.deep.include({ purpose: 'extract', model: 'openai/gpt-4o', max_tokens: 4096 });
    expect(request?.schema).to.deep.include({ required: ['a', 'b'], additionalProperties: false });
    expect(models.promptOf(0)).to.contain('<page number="2">\nLoss: (17)').and.to.contain('- "b": number');
  });

  it('needs a model, which is known before a run', () => {
    expect(extractFields.usesModel?.({})).to.equal('extract');
  });

  it('converts values of a type if nothing is lost', async () => {
    expect(await extract({}, '{"a": 1, "b": "12.5"}')).to.deep.equal({ a: 1, b: 12.5 });
  });

  it('sends a wrong answer back with what is wrong, and takes the fixed one', async () => {
    const fields = await extract({}, '{"a": "x", "b": "many"}', '{"a": "x", "b": 3}');
    expect(fields).to.deep.equal({ a: 'x', b: 3 });
    expect(models.requests[1]?.messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user']);
    expect(models.promptOf(1)).to.contain('field "b" must be a number, not "many"');
    expect(context.logs.join()).to.contain('to fix its answer');
  });

  it('fails when the answer stays wrong, and never reads that as not found', async () => {
    const error = await catchError({}, 'no json', 'still none', 'none at all');
    expect(error.message).to.contain('after 2 repairs').and.to.contain('no complete JSON value');
    expect(error.retryable).to.equal(false);
    expect(models.requests).to.have.length(3);
  });

  it('makes as many repairs as max_repairs says', async () => {
    await catchError({ max_repairs: 0 }, 'no json');
    expect(models.requests).to.have.length(1);
  });

  it('stops when the same answer comes twice', async () => {
    const error = await catchError({ max_repairs: 5 }, '{"b": "many"}');
    expect(error.message).to.contain('which it gave twice');
    expect(models.requests).to.have.length(2);
  });

  it('passes the failure of a call on', async () => {
    const error = await catchError({}, new ToolError('openai/gpt-4o: no connection'));
    expect(error.message).to.equal('openai/gpt-4o: no connection');
  });

  it('says to raise max_tokens when the answer was cut, even if it can be read', async () => {
    const error = await catchError({ max_tokens: 20 }, { text: '{"a": "5"}', finish: 'length' });
    expect(error).to.have.property('retryable', false);
    expect(error.message).to.contain('"max_tokens" (20)').and.to.contain('raise "max_tokens"');
  });

  for (const [what, text] of Object.entries({
    'a fence': '```json\n{"a": 7}\n```',
    prose: 'Here you are: {"a": 7}. Anything else?',
    'references before a fence': 'See [1] and [2].\n```json\n{"a": 7}\n```\nDone.',
    thoughts: '<think>perhaps {"a": 1}</think>\n{"a": 7}',
    'thoughts without a beginning': 'perhaps {"a": 1}</think>{"a": 7}',
  })) {
    it(`finds the JSON of an answer in ${what}`, async () => {
      expect(await extract({}, text)).to.deep.equal({ a: 7, b: NONE });
    });
  }

  it('does not take an answer with other keys only for one that found nothing', async () => {
    expect(await extract({}, '{"result": {"a": 1}}', '{"a": 1}')).to.deep.equal({ a: 1, b: NONE });
    expect(models.promptOf(1)).to.contain('its keys must be "a", "b"');
  });

  it('takes a JSON Schema, and checks each value against it', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'integer', minimum: 10 }, b: { type: 'string' } },
      required: ['a'],
    };
    const fields = await extract({ schema }, '{"a": 9, "b": null}', '{"a": 11}');
    expect(fields).to.deep.equal({ a: 11, b: NONE });
    expect(models.promptOf(1)).to.contain('field "a" must be at least 10, not 9');
  });

  it('refuses a JSON Schema whose check could take too long, before it asks', async () => {
    const schema = { type: 'object', properties: { a: { type: 'array', uniqueItems: true } } };
    const error = await catchError({ schema }, '{}');
    expect(error.message).to.contain('"properties.a.uniqueItems" is not allowed');
    expect(models.requests).to.have.length(0);
  });

  it('refuses the name of a schema, and says how to load it', async () => {
    expect((await catchError({ schema: 'invoice' }, '{}')).message).to.contain('load_schema');
  });

  it('gives {} without a call when no field is wanted', async () => {
    expect(await extract({ schema: { fields: [] } }, '{}')).to.deep.equal({});
    expect(await extract({ section_filter: 'face' }, '{}')).to.deep.equal({});
    expect(models.requests).to.have.length(0);
  });

  it('takes the fields of a section', async () => {
    const schema = { fields: [{ name: 'a', section: 'Face' }, { name: 'b' }] };
    expect(await extract({ schema, section_filter: 'face' }, '{"a": 1, "b": 2}')).to.deep.equal({ a: 1 });
  });

  it('keeps fields that are named like members of objects', async () => {
    const schema = JSON.parse('{"fields": ["__proto__", "constructor"]}') as Json;
    const fields = (await extract({ schema }, '{"__proto__": 1}')) as object;
    expect(Object.entries(fields)).to.deep.equal([
      ['__proto__', 1],
      ['constructor', NONE],
    ]);
  });

  it('passes rules and the end of the period on, and logs that a selector has no effect', async () => {
    const rules = { source: 'rules.md', format: 'markdown', pages: [{ number: 1, text: 'Round nothing.' }] };
    await extract({ rules, period_end: '2024-12-31', selector: 'x' }, '{"a": 1}');
    expect(models.promptOf(0)).to.contain('Rules:\nRound nothing.').and.to.contain('ends on 2024-12-31');
    expect(context.logs.join()).to.contain('"selector" has no effect');
  });

  describe('gives with provenance where each value is', () => {
    const schema = { fields: ['revenue', 'loss', 'tax'] };

    it('the page, and the words if they are there', async () => {
      const answer = {
        fields: { revenue: 4200, loss: 17, tax: null },
        sources: {
          revenue: { page: 1, quote: 'revenue was 4,200 in 2024' },
          loss: { page: 1, quote: 'Loss: (17)' },
        },
      };
      expect(await extract({ schema, provenance: true }, JSON.stringify(answer))).to.deep.equal({
        fields: { revenue: 4200, loss: 17, tax: NONE },
        provenance: {
          revenue: { source: 'report.pdf', page: 1, quote: 'revenue was 4,200 in 2024', verified: true },
          loss: { source: 'report.pdf', page: 2, quote: 'Loss: (17)', verified: true },
        },
      });
    });

    it('words that are on no page are not verified', async () => {
      const answer = { fields: { revenue: 1 }, sources: { revenue: { page: 2, quote: 'invented' } } };
      const result = await extract({ schema, provenance: true }, JSON.stringify(answer));
      expect(result).to.have.nested.property('provenance.revenue.verified', false);
    });
  });

  describe('with on_unverified: fail', () => {
    const schema = { fields: ['revenue', 'loss'] };
    const inputs = { schema, on_unverified: 'fail' };
    const quoted = (loss: object | undefined): string =>
      JSON.stringify({
        fields: { revenue: 4200, loss: loss === undefined ? null : 17 },
        sources: { revenue: { page: 1, quote: 'revenue was 4,200 in 2024' }, loss },
      });

    it('asks for the words of each value, and gives the fields alone when all are on the pages', async () => {
      expect(await extract(inputs, quoted(undefined))).to.deep.equal({ revenue: 4200, loss: NONE });
      expect(models.promptOf(0)).to.contain('"quote"');
    });

    it('fails when words are on no page, or there are none, so that another attempt may do better', async () => {
      const error = await catchError(inputs, quoted({ page: 2, quote: 'invented' }));
      expect(error.message).to.contain('quotes for "loss" ("invented"); on_unverified: keep');
      expect(error.retryable).to.equal(true);
    });

    it('fails for a value without any words', async () => {
      const error = await catchError({ ...inputs, provenance: true }, quoted({ page: 2, quote: null }));
      expect(error.message).to.contain('"loss" (no words)');
    });
  });

  describe('refuses a text that the model cannot read at once', () => {
    const text = `${'a'.repeat(900)}\n${'b'.repeat(900)}\n`;

    it('before it asks, and how to split it', async () => {
      const error = await catchError({ document: text, max_chars: 1000 }, '{}');
      expect(error.message).to.contain('1,802 characters').and.to.contain('"split": true');
      expect(models.requests).to.have.length(0);
    });

    it('with split, asks once for each part, leaves nothing out and joins the answers', async () => {
      const inputs = { document: text, max_chars: 1000, split: true };
      const fields = await extract(inputs, '{"a": ["x"]}', '{"a": ["y"], "b": 2}');
      expect(fields).to.deep.equal({ a: ['x', 'y'], b: 2 });
      const asked = models.requests.map((_, i) => models.promptOf(i)).join('');
      expect([asked.split('a'.repeat(900)).length, asked.split('b'.repeat(900)).length]).to.deep.equal([
        2, 2,
      ]);
    });

    it('with split, cuts no character in two', async () => {
      const document = `x${'\u{1F600}'.repeat(1000)}`;
      await extract({ document, max_chars: 1000, split: true }, '{"a": null}');
      const prompts = models.requests.map((_, request) => models.promptOf(request));
      expect(prompts.length).to.be.above(1);
      for (const prompt of prompts) expect(prompt).not.to.match(/\p{Cs}/u);
      expect(prompts.join('').split('\u{1F600}')).to.have.length(1001);
    });

    it('with split, the first value counts, and a log names the field', async () => {
      const fields = await extract({ document: text, max_chars: 1000, split: true }, '{"b": 1}', '{"b": 2}');
      expect(fields).to.deep.equal({ a: NONE, b: 1 });
      expect(context.logs.join()).to.contain('different values of "b"');
    });
  });

  it('says what to do when the document has no text', async () => {
    const document = { source: 'scan.png', format: 'image', pages: [{ number: 1, text: '' }] };
    expect((await catchError({ document }, '{}')).message).to.contain('"ocr": true');
  });

  it('takes the memory of what was read from the run, so that thousands of answers are bounded', async () => {
    const held: number[] = [];
    const llm = new ScriptedModels(JSON.stringify({ a: 'x'.repeat(5000) }));
    const bounded = toolContext({ llm, holdMemory: (bytes) => void held.push(bytes) });
    const checked = validateInputs(extractFields, { document: 'text', schema: SCHEMA });
    if (checked.ok) await extractFields.run(checked.inputs, bounded);
    expect(held.reduce((sum, bytes) => sum + bytes, 0)).to.be.greaterThan(5000);
  });
});
