import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { parseMarkdown } from '../../../lib/tools/document-formats/markdown.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function parseHeadings(...lines: string[]): string[] {
  return (parseMarkdown(lines.join('\n')).sections ?? []).map(({ level, heading }) => `${level} ${heading}`);
}

describe('parseMarkdown', () => {
  it('splits a text into its sections', () => {
    const text = '\nintro\n\n# One\n\nfirst\n\n## Two ##\nsecond\r\nline\r\n### Three\n';
    expect(parseMarkdown(text).sections).to.deep.equal([
      { level: 0, heading: '', text: 'intro' },
      { level: 1, heading: 'One', text: 'first' },
      { level: 2, heading: 'Two', text: 'second\r\nline' },
      { level: 3, heading: 'Three', text: '' },
    ]);
  });

  it('uses the first heading of level 1 as the title, or else the first heading', () => {
    expect(parseMarkdown('## Small\n# Big\n# Other').title).to.equal('Big');
    expect(parseMarkdown('### Small\n## Less').title).to.equal('Small');
    expect(parseMarkdown('no heading')).to.not.have.property('title');
    expect(parseMarkdown('#\ntext')).to.not.have.property('title');
  });

  it('distinguishes headings from similar lines', () => {
    expect(
      parseHeadings('#no', '#hash tag', '####### seven', '    # code', '\t# code', 'a # b'),
    ).to.deep.equal(['0 ']);
    expect(parseHeadings('   # yes', '#\tyes', '# C#', '# C #', '# a ## b ##', '##')).to.deep.equal([
      '1 yes',
      '1 yes',
      '1 C#',
      '1 C',
      '1 a ## b',
      '2 ',
    ]);
  });

  it('parses underlined headings', () => {
    expect(parseHeadings('Title', '===', 'text', '', 'Two', 'lines', '---', 'text')).to.deep.equal([
      '1 Title',
      '2 Two lines',
    ]);
    expect(
      parseHeadings('text', '', '---', '', '- item', '---', '> quote', '---', '| a |', '---', 'x'),
    ).to.deep.equal(['0 ']);
  });

  it('ignores headings in code blocks', () => {
    expect(parseHeadings('```sh', '# code', '~~~', '# code', '```', '# yes')).to.deep.equal(['0 ', '1 yes']);
    expect(parseHeadings('~~~~', '~~~', '# code', '```', '~~~~~ ', '# yes')).to.deep.equal(['0 ', '1 yes']);
    expect(parseHeadings('```', '# never closed')).to.deep.equal(['0 ']);
    expect(parseHeadings('```not a fence```', '# yes')).to.deep.equal(['0 ', '1 yes']);
  });

  it('skips the front matter', () => {
    expect(parseMarkdown('---\ntitle: x\n# comment\n---\n# Yes\n').sections).to.deep.equal([
      { level: 1, heading: 'Yes', text: '' },
    ]);
    expect(parseHeadings('---', '', '# Yes')).to.deep.equal(['0 ', '1 Yes']);
  });

  it('keeps all text outside of the headings', () => {
    const text = 'a\n# H\nb\n\nc\n## I\nd';
    expect(parseMarkdown(text).sections?.map((section) => section.text)).to.deep.equal(['a', 'b\n\nc', 'd']);
  });

  it('makes headings and sections that do not keep the whole text in memory', () => {
    const kept: unknown[] = [];
    const readHeap = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = readHeap();
    for (let count = 0; count < 20; count++) {
      const head = `# the title of document ${count}\n\nthe text of section ${count}\n`;
      const { title, sections } = parseMarkdown(`${head}# ${'x'.repeat(2 ** 20)}`);
      kept.push(title, sections?.[0]);
    }
    expect(readHeap() - before).to.be.below(4 * 2 ** 20);
    expect(kept).to.have.length(40);
  });

  itTimed('takes linear time in the length of the text', () => {
    const cpuMs = measureCpuMsSync(() => {
      for (const text of [
        'a\n'.repeat(500_000),
        '# a\n'.repeat(200_000),
        `# ${'#'.repeat(500_000)}x`,
        `${'`'.repeat(500_000)}\n`,
        '---\n'.repeat(200_000),
        ' '.repeat(1_000_000),
      ])
        parseMarkdown(text);
    });
    expect(cpuMs).to.be.lessThan(4000);
  });
});
