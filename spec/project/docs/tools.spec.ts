import { expect } from 'chai';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { read } from '../files.js';
import { toolSection } from './tool-section.js';

describe('The guide to tools', () => {
  const guide = read('docs/tools.md');
  const listed = guide.split('\n## The tools that are always there\n')[1]?.split('\n## ')[0] ?? '';

  for (const tool of builtinCatalog().metadata()) {
    it(`describes ${tool.name} as its declaration does`, () => {
      expect(listed.includes(toolSection(tool)), `docs/tools.md must have:\n\n${toolSection(tool)}`).to.be
        .true;
    });
  }

  it('has a section for each tool and no other', () => {
    const sections = [...listed.matchAll(/^### (.*)$/gm)].map(([, name]) => name);
    expect(sections).to.deep.equal(builtinCatalog().names());
  });
});
