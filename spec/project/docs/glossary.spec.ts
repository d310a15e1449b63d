import { expect } from 'chai';
import { tableRows } from './markdown.js';
import { filesBelow, read } from '../files.js';

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

  it('keeps the words of its third column out of code, comments, messages and spec titles', () => {
    const never = new Set(forbidden(rows));
    const code = [...filesBelow('lib', '.ts'), ...filesBelow('machines', '.ts')].map((file) => ({
      file,
      text: read(file),
    }));
    const titles = filesBelow('spec', '.spec.ts').map((file) => ({
      file,
      text: read(file).replaceAll(/^(?!\s*(?:it|describe)\().*$/gm, ''),
    }));
    const found = [...code, ...titles].flatMap(({ file, text }) =>
      wordsIn(text).flatMap(({ forms, line }) => {
        const word = forms.find((form) => never.has(form));
        return word === undefined ? [] : [`${file}:${line} has "${word}"`];
      }),
    );
    expect(found).to.deep.equal([]);
  });
});

describe('The comments', () => {
  it('begin with a subject or a verb, and not with What, Those, Who or Whether', () => {
    const files = ['lib', 'machines', 'web', 'spec', 'bench', 'scripts'].flatMap((folder) =>
      ['.ts', '.tsx'].flatMap((ending) => filesBelow(folder, ending)),
    );
    const found = files.flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, index) => (INDIRECT.test(line) ? [`${file}:${index + 1}`] : [])),
    );
    expect(found).to.deep.equal([]);
  });
});

const INDIRECT = /(?:^|\s)(?:\/\*\*|\/\/) (?:What|Those|Who|Whether)\b/;

function forbidden(rows: readonly string[][]): string[] {
  return rows
    .flatMap(([, , not = '']) => not.split(',').map((word) => word.trim()))
    .filter((word) => word !== '');
}

interface Word {
  /** In lower case, with and without the ending of a plural. */
  readonly forms: readonly string[];
  readonly line: number;
}

/** Splits identifiers, comments and messages into words. */
function wordsIn(text: string): Word[] {
  return text.split('\n').flatMap((line, index) =>
    line
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
      .split(/[^A-Za-z]+/)
      .map((word) => ({ forms: formsOf(word.toLowerCase()), line: index + 1 })),
  );
}

function formsOf(word: string): string[] {
  return [word, word.replace(/s$/, ''), word.replace(/es$/, '')];
}
