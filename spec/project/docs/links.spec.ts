import { expect } from 'chai';
import { existsSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { anchorsOf, type Link, linksOf } from './markdown.js';
import { documents, filesBelow, read, ROOT } from '../files.js';

describe('The links in the documents', () => {
  for (const file of [...documents(), ...filesBelow('bench', '.md'), ...filesBelow('spec', '.md')]) {
    it(`${file} links only to files, headings and exports that exist`, () => {
      const broken = linksOf(file).flatMap((link) =>
        faultOf(link).map((fault) => `${file}:${link.line} ${fault}`),
      );
      expect(broken).to.deep.equal([]);
    });
  }

  it('name more than a few exports, so that the tour and the decision records follow the code', () => {
    const names = documents().flatMap((file) => linksOf(file).filter((link) => nameIn(link) !== undefined));
    expect(names.length).to.be.above(50);
  });

  it('reach every document from the README', () => {
    const seen = new Set<string>();
    const pending = ['README.md'];
    for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
      if (seen.has(file) || !documents().includes(file)) continue;
      seen.add(file);
      pending.push(...linksOf(file).flatMap((link) => pathOf(link) ?? []));
    }
    expect(documents().filter((file) => !seen.has(file))).to.deep.equal([]);
  });
});

function faultOf(link: Link): string[] {
  const path = pathOf(link);
  if (path === undefined) return [];
  if (!existsSync(join(ROOT, path))) return [`leads to ${path}, which does not exist`];
  const anchor = link.target.split('#')[1];
  if (anchor !== undefined && !anchorsOf(path).has(anchor))
    return [`leads to ${path}, which has no heading #${anchor}`];
  const name = nameIn(link);
  if (name === undefined || exportsOf(path).has(name)) return [];
  return [`says that ${path} exports ${name}, and it does not`];
}

/** Resolves a link relative to the root; undefined for an external address. */
function pathOf({ file, target }: Link): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const path = target.split('#')[0] ?? '';
  return path === ''
    ? file
    : normalize(join(dirname(file), path))
        .replaceAll('\\', '/')
        .replace(/\/$/, '');
}

/** The export that a link to a source file names: [`checkPipeline`](../lib/pipelines/check.ts). */
function nameIn({ text, target }: Link): string | undefined {
  return /\.(?:ts|js|mjs)$/.test(target) ? /^`(\w+)`$/.exec(text)?.[1] : undefined;
}

function exportsOf(path: string): Set<string> {
  if (statSync(join(ROOT, path)).isDirectory()) return new Set();
  const code = read(path);
  const declared = code.matchAll(
    /^export (?:declare )?(?:async |abstract )?(?:function\*?|class|const|interface|type) (\w+)/gm,
  );
  const listed = [...code.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
    names.split(',').map(
      (name) =>
        name
          .trim()
          .replace(/^type /, '')
          .split(' as ')
          .at(-1) ?? '',
    ),
  );
  return new Set([...[...declared].map(([, name = '']) => name), ...listed]);
}
