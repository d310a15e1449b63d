import { expect } from 'chai';
import { readSource } from '../../../lib/definition/text/source.js';

function problemOf(text: string) {
  const { problems } = readSource(text);
  return problems[0];
}

describe('readSource (D7)', () => {
  it('reads YAML and JSON alike', () => {
    expect(readSource('a: [1, {b: x}]').value).to.deep.equal({ a: [1, { b: 'x' }] });
    expect(readSource('{"a": [1, {"b": "x"}]}').value).to.deep.equal({ a: [1, { b: 'x' }] });
    expect(readSource('\uFEFFa: 1').value).to.deep.equal({ a: 1 });
  });

  it('locates keys and values', () => {
    const source = readSource('a:\n  - b: one\n    c: two\n');
    expect(source.positionOf(['a', 0, 'c'])).to.deep.equal({ line: 3, column: 8 });
    expect(source.positionOf(['a', 0, 'c'], 'key')).to.deep.equal({ line: 3, column: 5 });
    expect(source.positionOf(['a', 0, 'gone'])).to.deep.equal({ line: 2, column: 5 });
  });

  it('locates values behind aliases', () => {
    const source = readSource('x: &x {k: 1}\ny: *x\n');
    expect(source.positionOf(['y', 'k'])).to.deep.equal({ line: 1, column: 11 });
  });

  const refused: [string, string, string][] = [
    ['an empty text', '', 'empty'],
    ['blanks only', ' \n\t\n', 'empty'],
    ['a comment only', '# nothing here\n', 'empty'],
    ['two documents', 'a: 1\n---\nb: 2\n', 'several_documents'],
    ['broken flow', 'a: [1, 2', 'syntax'],
    ['tabs for indentation', 'a:\n\tb: 1', 'syntax'],
    ['an unknown tag', 'a: !custom 1', 'syntax'],
    ['an unknown alias', 'a: *nothing', 'syntax'],
    ['an alias of what it stands in', 'a: &a [*a]', 'syntax'],
    ['another version of YAML', '%YAML 1.1\n---\nd: 2024-01-01', 'syntax'],
    ['a set', 'a: !!set {x, y}', 'syntax'],
    ['bytes', 'a: !!binary aGk=', 'syntax'],
    ['a key that is a list', '[a]: 1', 'syntax'],
    ['a number with more digits than it keeps', 'a: 12345678901234567890', 'invalid_value'],
    ['a number that JSON does not have', 'a: .inf', 'invalid_value'],
    ['a key that stands twice', 'a: 1\na: 2', 'duplicate_key'],
    ['a merge key of YAML 1.1', 'a: &a {x: 1}\nb: {<<: *a, y: 2}', 'invalid_value'],
    ['a key that stands twice in JSON', '{"a": 1, "b": {"c": 1, "c": 2}}', 'duplicate_key'],
    ['a bomb of aliases', nestedAliases(), 'too_large'],
    ['5 MB of brackets', '['.repeat(5e6), 'too_deep'],
    ['5 MB of brackets in a map', `a: ${'{b: '.repeat(1e6)}`, 'too_deep'],
    ['5 MB of dashes', '- '.repeat(2.5e6), 'too_deep'],
    ['dashes and tabs', `${'-\t'.repeat(2500)}a`, 'too_deep'],
    ['dashes behind a tab', `a:\n\t${'- '.repeat(4000)}a`, 'too_deep'],
    ['deep indentation', Array.from({ length: 300 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), 'too_deep'],
    [
      'very deep indentation',
      Array.from({ length: 3000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
      'too_deep',
    ],
    ['9 million characters of two bytes', `a: ${'é'.repeat(9 * 2 ** 20)}`, 'too_large'],
    ['17 MB of text', `a: ${'x'.repeat(17 * 2 ** 20)}`, 'too_large'],
  ];
  for (const [title, text, code] of refused) {
    it(`rejects ${title}`, () => {
      expect(problemOf(text)).to.deep.include({ code, severity: 'error' });
    });
  }

  it('does not count brackets in strings and comments as nesting', () => {
    const text = `a: "${'['.repeat(500)}"\n# ${'{'.repeat(500)}\nb: |\n  ${'['.repeat(500)}\n`;
    expect(readSource(text).problems).to.deep.equal([]);
  });

  it('reports an unquoted template with a hint', () => {
    const source = readSource('tasks:\n  - inputs:\n      x: {{a.output}}\n');
    expect(source.problems).to.deep.equal([
      {
        code: 'unquoted_template',
        severity: 'error',
        message: 'YAML reads this as a map, not as a template',
        hint: 'put quotes around the template',
        path: '/tasks/0/inputs/x',
        line: 3,
        column: 10,
        fix: {
          title: 'put quotes around it',
          edits: [{ from: { line: 3, column: 10 }, to: { line: 3, column: 22 }, text: '"{{a.output}}"' }],
        },
      },
    ]);
    expect(source.unquoted).to.deep.equal([['tasks', 0, 'inputs', 'x']]);
  });

  it('reports an unquoted template that is followed by text', () => {
    expect(problemOf('x: {{a.output}} and more')).to.deep.include({
      code: 'syntax',
      hint: 'put quotes around the template',
      line: 1,
    });
  });

  it('reports only the first syntax error of a text', () => {
    const { problems } = readSource('a: b: c\nd: [\ne: f: g\n');
    expect(problems).to.have.length(1);
    expect(problems[0]).to.deep.include({ code: 'syntax', line: 1 });
    expect(problems[0]?.hint).to.include('block after "|"');
  });

  const COLUMNS = 'check the indentation: the keys of one map start in the same column';
  const indented: Record<string, [string, string]> = {
    'a key further in than the one it belongs with': ['a:\n  b: x\n    c: 1\n', COLUMNS],
    'a key further out than the one it belongs with': ['a:\n    b: 1\n  c: 2\n', COLUMNS],
    'a key below the dash of its entry': ['a:\n  - b: 1\n  c: 2\n', COLUMNS],
    'a key between the dash and its entry': ['a:\n  - b: 1\n   c: 2\n', COLUMNS],
    'a dash among keys': ['a:\n  b: 1\n  - c\n', COLUMNS],
    'a dash in the column of the key around it': ['a: x\n- b\n', COLUMNS],
    'a dash further in than the entry before it': ['a:\n  - b: 1\n    - c: 2\n', COLUMNS],
    'a first key further in than the others': [' a: 1\nb: 2\n', COLUMNS],
    'wrong columns beside braces': ['a:\n  - {b: 1, c: 2}\n d: {e: 1, f: 1}\n', COLUMNS],
    'a tab': ['a:\n\tb: 1\n', 'indent with spaces, not with tabs'],
    'a tab after blanks': ['a:\n  - b: 1\n\t  c: {d: 1, e: 2}\n', 'indent with spaces, not with tabs'],
    'a key without its colon': [
      'a:\n  b\n  c: 1\n',
      'a key ends with ":" and starts in the same column as the other keys of its map',
    ],
  };
  for (const [title, [text, hint]] of Object.entries(indented)) {
    it(`gives a hint for ${title}`, () => {
      expect(problemOf(text)).to.deep.include({ code: 'syntax', hint });
    });
  }

  it('gives no indentation hint for unclosed braces and brackets', () => {
    for (const text of ['a: [1, 2', 'a: {b: 1\nc: 2\n']) expect(problemOf(text)).not.to.have.property('hint');
  });

  it('says that a file has lost its line breaks, as curl -d sends it', () => {
    const hint = 'the text has no line breaks: curl -d drops them, --data-binary keeps them';
    const file = 'pipeline:\n  id: shown\n  goal: be shown\n  tasks:\n    - id: a\n      tool: mock\n';
    expect(problemOf(file.replaceAll('\n', ''))).to.deep.include({ code: 'syntax', hint });
    expect(problemOf(`# shown\n${file}`.replaceAll('\n', ''))).to.deep.include({ code: 'empty', hint });
    const others = [
      `a: b: c: d # ${'x'.repeat(60)}\n`,
      'a: b: c: d',
      `{a: b, c: d, e: [f, ${'x'.repeat(60)}}`,
      `[x] ${'x'.repeat(60)}: y`,
    ];
    for (const text of others) {
      expect(problemOf(text)?.code, text).to.equal('syntax');
      expect(problemOf(text)?.hint, text).not.to.equal(hint);
    }
  });

  it('reports several problems of a text at once', () => {
    const { problems } = readSource('a: 1\na: 2\nb: {{x.output}}\n');
    expect(problems.map(({ code, line }) => `${code} ${line}`)).to.deep.equal([
      'duplicate_key 2',
      'unquoted_template 3',
    ]);
  });

  it('keeps keys such as __proto__ and constructor', () => {
    const { value } = readSource('__proto__: {a: 1}\nconstructor: 2\n');
    expect(JSON.stringify(value)).to.equal('{"__proto__":{"a":1},"constructor":2}');
  });
});

function nestedAliases(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 10; i++)
    lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(', ')}]`);
  return lines.join('\n');
}
