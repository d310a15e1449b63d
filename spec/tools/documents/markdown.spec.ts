import { expect } from 'chai';
import { readMarkdown } from '../../../lib/tools/documents/markdown.js';

function headingsOf(...lines: string[]): string[] {
  return (readMarkdown(lines.join('\n')).sections ?? []).map(({ level, heading }) => `${level} ${heading}`);
}

describe('readMarkdown', () => {
  it('cuts a text into its sections', () => {
    const text = '\nintro\n\n# One\n\nfirst\n\n## Two ##\nsecond\r\nline\r\n### Three\n';
    expect(readMarkdown(text).sections).to.deep.equal([
      { level: 0, heading: '', text: 'intro' },
      { level: 1, heading: 'One', text: 'first' },
      { level: 2, heading: 'Two', text: 'second\r\nline' },
      { level: 3, heading: 'Three', text: '' },
    ]);
  });

  it('takes the first heading of level 1 as title, or else the first', () => {
    expect(readMarkdown('## Small\n# Big\n# Other').title).to.equal('Big');
    expect(readMarkdown('### Small\n## Less').title).to.equal('Small');
    expect(readMarkdown('no heading')).to.not.have.property('title');
    expect(readMarkdown('#\ntext')).to.not.have.property('title');
  });

  it('knows headings from what only looks like one', () => {
    expect(headingsOf('#no', '#hash tag', '####### seven', '    # code', '\t# code', 'a # b')).to.deep.equal([
      '0 ',
    ]);
    expect(headingsOf('   # yes', '#\tyes', '# C#', '# C #', '# a ## b ##', '##')).to.deep.equal([
      '1 yes',
      '1 yes',
      '1 C#',
      '1 C',
      '1 a ## b',
      '2 ',
    ]);
  });

  it('knows underlined headings', () => {
    expect(headingsOf('Title', '===', 'text', '', 'Two', 'lines', '---', 'text')).to.deep.equal([
      '1 Title',
      '2 Two lines',
    ]);
    expect(
      headingsOf('text', '', '---', '', '- item', '---', '> quote', '---', '| a |', '---', 'x'),
    ).to.deep.equal(['0 ']);
  });

  it('sees no headings in code', () => {
    expect(headingsOf('```sh', '# code', '~~~', '# code', '```', '# yes')).to.deep.equal(['0 ', '1 yes']);
    expect(headingsOf('~~~~', '~~~', '# code', '```', '~~~~~ ', '# yes')).to.deep.equal(['0 ', '1 yes']);
    expect(headingsOf('```', '# never closed')).to.deep.equal(['0 ']);
    expect(headingsOf('```not a fence```', '# yes')).to.deep.equal(['0 ', '1 yes']);
  });

  it('passes over the front matter', () => {
    expect(readMarkdown('---\ntitle: x\n# comment\n---\n# Yes\n').sections).to.deep.equal([
      { level: 1, heading: 'Yes', text: '' },
    ]);
    expect(headingsOf('---', '', '# Yes')).to.deep.equal(['0 ', '1 Yes']);
  });

  it('loses no text outside of the headings', () => {
    const text = 'a\n# H\nb\n\nc\n## I\nd';
    expect(readMarkdown(text).sections?.map((section) => section.text)).to.deep.equal(['a', 'b\n\nc', 'd']);
  });

  it('takes time in proportion to the text', () => {
    const before = performance.now();
    for (const text of [
      'a\n'.repeat(500_000),
      '# a\n'.repeat(200_000),
      `# ${'#'.repeat(500_000)}x`,
      `${'`'.repeat(500_000)}\n`,
      '---\n'.repeat(200_000),
      ' '.repeat(1_000_000),
    ]) {
      readMarkdown(text);
    }
    expect(performance.now() - before).to.be.lessThan(4000);
  });
});
