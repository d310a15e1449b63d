import { expect } from 'chai';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { read } from '../files.js';
import { toolSection } from './tool-section.js';

const INPUTS = 'docs/reference/tool-inputs.md';

describe('The guide to tools and the list of their inputs', () => {
  const [listed, explained] = [INPUTS, 'docs/tools.md'].map(
    (file) => read(file).split('\n## The tools that are always there\n')[1]?.split('\n## ')[0] ?? '',
  );

  for (const tool of builtinCatalog().metadata()) {
    it(`describe ${tool.name} as its declaration does`, () => {
      const section = toolSection(tool);
      expect(listed?.includes(section), `${INPUTS} must have:\n\n${section}`).to.be.true;
      expect(explained).to.include(`### ${tool.name}\n\n${section.split('\n')[2]} [Inputs](`);
    });
  }

  it('have a section for each tool and no other', () => {
    for (const text of [listed, explained]) {
      const sections = [...(text ?? '').matchAll(/^### (.*)$/gm)].map(([, name]) => name);
      expect(sections).to.deep.equal(builtinCatalog().names());
    }
  });
});
