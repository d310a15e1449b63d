import { expect } from 'chai';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import { Suggestions } from '../../../lib/definition/did-you-mean.js';
import { readDraft } from '../../../lib/pipelines/draft.js';
import { checkTemplateKeys } from '../../../lib/pipelines/rules/template-keys.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';

describe('Templates in the keys of inputs (D15)', () => {
  it('are looked for in steps of some hundred inputs, members and items', () => {
    const catalog = builtinCatalog();
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key ${index}`, index]));
    for (const inputs of [many, { v: many }, { v: Object.values(many) }]) {
      const definition = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock', inputs }] };
      const draft = runToEnd(readDraft(definition, catalog, new Suggestions()));
      expect([...checkTemplateKeys(draft, catalog)].length).to.be.within(95, 105);
    }
  });
});
