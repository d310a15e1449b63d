import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { requireBuild, ROOT } from '../project/files.js';

const FOLDER = join(ROOT, 'dist', 'web');

describe('The page of the inspector', () => {
  before(() => requireBuild());

  it('takes less than 60 kB compressed to load, with its statecharts', () => {
    const files = readdirSync(FOLDER).filter((name) => /\.(html|js|css|svg)$/.test(name));
    expect(files.some((name) => name.endsWith('.js'))).to.equal(true);
    const paths = [...files.map((name) => join(FOLDER, name)), join(ROOT, 'dist', 'statecharts.json')];
    const bytes = paths.map((path) => gzipSync(readFileSync(path)).length);
    expect(bytes.reduce((sum, size) => sum + size, 0)).to.be.lessThan(60_000);
  });
});

describe('The run console', () => {
  const folder = join(ROOT, 'dist', 'console');

  before(() => requireBuild());

  it('takes less than 60 kB compressed to load, without the editor of texts', () => {
    const files = ['index.html', 'console.css', 'icon.svg', ...listImported('console.js')];
    const bytes = files.map((name) => gzipSync(readFileSync(join(folder, name))).length);
    expect(bytes.reduce((sum, size) => sum + size, 0)).to.be.lessThan(60_000);
    // The editor is there, and comes by itself when its page is opened.
    expect(readdirSync(folder).filter((name) => name.endsWith('.js')).length).to.be.greaterThan(
      files.filter((name) => name.endsWith('.js')).length,
    );
  });

  /** The scripts that load with a script: those that it imports when it begins, and those that these import. */
  function listImported(name: string, known = new Set<string>()): string[] {
    if (known.has(name)) return [];
    known.add(name);
    const text = readFileSync(join(folder, name), 'utf8');
    const imported = [...text.matchAll(/(?:from|^import|;import)"\.\/([\w.-]+)"/g)].map(
      ([, file = '']) => file,
    );
    return [name, ...imported.flatMap((file) => listImported(file, known))];
  }
});
