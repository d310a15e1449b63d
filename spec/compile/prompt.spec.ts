import { expect } from 'chai';
import { COMPILE_LIMITS } from '../../lib/common/limits.js';
import { checkAnswer } from '../../lib/compile/check-answer.js';
import { createSystemMessage } from '../../lib/compile/prompt.js';
import { WORKED_EXAMPLES } from '../../lib/compile/worked-examples.js';
import { checkToEnd } from '../../lib/definition/text/source.js';
import {
  PARAM_FIELDS,
  PIPELINE_FIELDS,
  PLAN_FIELDS,
  RESERVED_TASK_IDS,
  SUB_PIPELINE_FIELDS,
  TASK_FIELDS,
} from '../../lib/definition/schema/fields.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { defineTool } from '../../lib/tools/tool.js';

describe('The prompt of compile (D35)', () => {
  const catalog = builtinCatalog();
  const prompt = createSystemMessage(catalog, 'read a contract');

  for (const { request, yaml } of WORKED_EXAMPLES) {
    it(`shows an example that is valid without a warning: ${request}`, () => {
      const checked = checkToEnd(checkAnswer(yaml, catalog));
      expect(checked.problems).to.deep.equal([]);
      expect(checked.ok).to.equal(true);
      expect(prompt).to.contain(yaml).and.to.contain(request);
    });
  }

  it('names every field of the schema', () => {
    const fields = [PIPELINE_FIELDS, TASK_FIELDS, PARAM_FIELDS, PLAN_FIELDS, SUB_PIPELINE_FIELDS].flat();
    expect(fields.filter((field) => !new RegExp(`^- ${field}\\b`, 'm').test(prompt))).to.deep.equal([]);
  });

  it('names the reserved ids of tasks', () => {
    const rule = /are not (.*)\./.exec(prompt)?.[1] ?? '';
    for (const id of RESERVED_TASK_IDS) expect(rule).to.contain(id);
  });

  it('describes every tool but those that do nothing, with inputs, defaults and output', () => {
    const offered = catalog.names().filter((name) => !['mock', 'fail'].includes(name));
    expect(offered.filter((name) => !prompt.includes(`\n- ${name}: `))).to.deep.equal([]);
    expect(prompt)
      .to.contain('    prompt (string; required): what the model shall do')
      .and.to.contain('    append (boolean; optional; default false):')
      .and.to.contain('    output: {status: integer, url: text, headers: ')
      .and.to.contain('    any other input: passed on under its name')
      .and.to.contain('    function ticker_lookup: ')
      .and.to.contain('    source url: ');
  });

  it('has room left in the context of a small model', () => {
    expect(prompt.length).to.be.below(48_000);
  });

  it('describes only the tools near to the request whole when there are very many', () => {
    const many = Array.from({ length: 500 }, (_, index) =>
      defineTool({
        name: `tool_${index}`,
        description: index === 400 ? 'Paints a zebra' : 'Does something',
        inputs: { first: { type: 'string', description: 'd'.repeat(300), required: true } },
        run: () => null,
      }),
    );
    const message = createSystemMessage(catalog.with(many), 'paint me a zebra');
    expect(message).to.contain('- tool_400: Paints a zebra\n    first (string; required)');
    expect(message).to.contain('- tool_499: Does something\n-');
    expect(message.length).to.be.below(COMPILE_LIMITS.catalogLength + 60_000);
  });

  it('describes shorter tools whole beside one that has no room, and says how many are named alone', () => {
    const tools = [200, 1].map((inputs) =>
      defineTool({
        name: `zebra_${inputs}`,
        description: 'Paints a zebra',
        inputs: Object.fromEntries(
          Array.from({ length: inputs }, (_, i) => [`input_${i}`, { description: 'd'.repeat(400) }]),
        ),
        run: () => null,
      }),
    );
    const message = createSystemMessage(catalog.with(tools), 'paint me a zebra');
    expect(message).to.contain('- zebra_1: Paints a zebra\n    input_0 (any; optional)');
    expect(message).to.contain('- zebra_200: Paints a zebra\n(');
    expect(message).to.contain('\n(1 of these tools are named without their inputs.)');
    expect(prompt).not.to.contain('without their inputs');
  });

  it('counts the tools for which there is no room even in one line', () => {
    const many = Array.from({ length: 5000 }, (_, index) =>
      defineTool({ name: `tool_${index}`, description: 'd'.repeat(390), inputs: {}, run: () => null }),
    );
    const message = createSystemMessage(catalog.with(many), 'paint a zebra');
    expect(message.length).to.be.below(2 * COMPILE_LIMITS.catalogLength + 40_000);
    expect(message).to.match(/\n\(There are \d+ more tools, which are further from the request\.\)\n/);
  });
});
