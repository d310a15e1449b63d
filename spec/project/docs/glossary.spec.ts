import { expect } from 'chai';
import { tableRows } from './markdown.js';
import { filesBelow, read } from '../files.js';

/** Where a word of the third column must stand, because somebody else owns it. */
const ALLOWED: readonly {
  readonly file: string;
  readonly words: readonly string[];
  readonly reason: string;
}[] = [
  { file: 'lib/telemetry/otlp.ts', words: ['batch'], reason: 'OpenTelemetry sends spans so' },
  {
    file: 'lib/definition/text/source.ts',
    words: ['node'],
    reason: 'the yaml package calls parts of its tree so',
  },
  { file: 'lib/definition/text/scan.ts', words: ['node'], reason: 'the same' },
  { file: 'lib/definition/text/aliases.ts', words: ['node'], reason: 'the same' },
  { file: 'lib/definition/text/limits.ts', words: ['flow'], reason: 'YAML calls its bracketed style so' },
  { file: 'lib/pipelines/chart.ts', words: ['node'], reason: 'Graphviz calls its boxes so' },
  { file: 'lib/cli/commands/doctor.ts', words: ['node', 'engine'], reason: 'Node.js in "engines"' },
  { file: 'lib/cli/package-info.ts', words: ['node', 'engine'], reason: 'the same' },
  { file: 'lib/tools/expressions/sandbox.ts', words: ['engine'], reason: "an option of JSONata's" },
];

describe('The glossary', () => {
  const rows = tableRows(read('docs/glossary.md'));

  it('has each word once, in one sentence', () => {
    const words = rows.map(([word = '']) => word);
    expect(words.filter((word, index) => words.indexOf(word) !== index)).to.deep.equal([]);
    const long = rows.filter(
      ([, meaning = '']) => !/^[^.]+(?:\.[^.\s]+)*\.$/.test(meaning.replaceAll('…', '')),
    );
    expect(long).to.deep.equal([]);
  });

  it('forbids no word that it explains', () => {
    const words = new Set(rows.map(([word = '']) => word));
    expect(forbidden(rows).filter((word) => words.has(word))).to.deep.equal([]);
  });

  it('is kept: no word of its third column stands in lib or machines, but where somebody else owns it', () => {
    const never = new Set(forbidden(rows));
    const found = [...filesBelow('lib', '.ts'), ...filesBelow('machines', '.ts')].flatMap((file) =>
      wordsIn(read(file)).flatMap(({ forms, line }) => {
        const word = forms.find((form) => never.has(form));
        return word === undefined ? [] : [{ file, word, line }];
      }),
    );
    const owned = ALLOWED.flatMap(({ file, words }) => words.map((word) => `${file} says "${word}"`));
    const said = new Set(found.map(({ file, word }) => `${file} says "${word}"`));
    const strays = found.filter(({ file, word }) => !owned.includes(`${file} says "${word}"`));
    expect(strays).to.deep.equal([]);
    expect(owned.filter((words) => !said.has(words))).to.deep.equal([]);
  });
});

function forbidden(rows: readonly string[][]): string[] {
  return rows
    .flatMap(([, , not = '']) => not.split(',').map((word) => word.trim()))
    .filter((word) => word !== '');
}

interface Word {
  /** In lower case, and without the endings that make plurals. */
  readonly forms: readonly string[];
  readonly line: number;
}

/** Every word of identifiers, comments and messages; not the names of modules and of Node.js. */
function wordsIn(text: string): Word[] {
  return text.split('\n').flatMap((line, index) =>
    line
      .replaceAll(/'node:[^']*'|\bNode(?:\.js|JS\b)|\bNode(?='s| reads)/g, '')
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
      .split(/[^A-Za-z]+/)
      .map((word) => ({ forms: formsOf(word.toLowerCase()), line: index + 1 })),
  );
}

function formsOf(word: string): string[] {
  return [word, word.replace(/s$/, ''), word.replace(/es$/, '')];
}
