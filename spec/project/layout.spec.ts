import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { browserFolders } from './browser/browser-specs.js';
import { filesBelow, read, ROOT } from './files.js';
import { pageFiles, type SourceFile, sourceFiles } from './imports.js';

const MOST_ENTRIES = 15;
const MOST_LINES = 400;
/** A shorter file needs several importers, or a reason to be loaded on its own. */
const FEW_LINES = 40;
const SEVERAL_IMPORTERS = 3;

/** Files that something other than an import reaches: the packages' entry points and programs of their own. */
const ENTRY_POINTS = [
  'lib/cli/lazy/commands.ts', // by the build
  'lib/cli/main.ts',
  'lib/client/index.ts',
  'lib/common/workers/fork-server-process.ts',
  'lib/definition/parsing/parsing-process.ts',
  'lib/tools/builtin/sql-query/local/local-process.ts',
  'lib/runs/store/maintenance/backup-process.ts',
  'lib/index.ts',
  'lib/testing/index.ts',
  'lib/tools/documents/document-process.ts',
  'lib/tools/expressions/expression-process.ts',
  'web/console/main.tsx',
  'web/inspect/main.tsx',
  'web/stately/main.ts',
];

/** Each tool and each source of data has a file of its name, however short it is. */
const NAMED_FOLDERS = ['lib/tools/builtin/'];

const EXPORTED_VALUE = /^export (?:abstract |async )*(?:const|let|function\*?|class|enum) (\w+)/gm;
const EXPORTED = /^export (?:abstract |async )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

/** `lib` has a folder for each room; `spec` has those of `lib`, and those for machines, the project and support. */
const MOST_ROOMS = new Map([
  // A guide for each thing that people do.
  ['docs', MOST_ENTRIES + 3],
  ['lib', MOST_ENTRIES + 4],
  // A file for each kind of message.
  ['lib/common/wire', MOST_ENTRIES + 2],
  ['spec', MOST_ENTRIES + 6],
  // Each decision has its record, and keeps it.
  ['docs/decisions', MOST_ENTRIES + 6],
]);

describe('The layout', () => {
  const files = [...sourceFiles(), ...pageFiles()];
  const importers = importersOf(files);

  for (const folder of ['bench', 'docs', 'examples', 'lib', 'machines', 'scripts', 'spec', 'web']) {
    it(`no folder of ${folder} has more than ${MOST_ENTRIES} entries`, () => {
      const crowded = foldersBelow(folder)
        .map((path) => ({ path, entries: readdirSync(join(ROOT, path)).length }))
        .filter(({ path, entries }) => entries > (MOST_ROOMS.get(path) ?? MOST_ENTRIES));
      expect(crowded).to.deep.equal([]);
    });
  }

  it(`no file of lib, machines or web has more than ${MOST_LINES} lines`, () => {
    const long = files.filter((file) => linesOf(file) > MOST_LINES);
    expect(long.map(({ path }) => path)).to.deep.equal([]);
  });

  it(`a file of fewer than ${FEW_LINES} lines has ${SEVERAL_IMPORTERS} importers, or is an entry point, a tool, a source or loaded lazily`, () => {
    const crumbs = files.filter((file) => {
      const { all, lazy } = importers.get(file.path) ?? { all: new Set(), lazy: new Set() };
      const isFoundByName =
        ENTRY_POINTS.includes(file.path) || NAMED_FOLDERS.some((folder) => file.path.startsWith(folder));
      const isNeeded = all.size >= SEVERAL_IMPORTERS || lazy.size > 0 || isFoundByName;
      return linesOf(file) < FEW_LINES && !isNeeded;
    });
    expect(crumbs.map((file) => `${file.path} has ${linesOf(file)} lines`)).to.deep.equal([]);
  });

  it('every exported name is defined once', () => {
    const places = new Map<string, string[]>();
    for (const { path, code } of files) {
      const names = new Set([...code.matchAll(EXPORTED)].map(([, name = '']) => name));
      for (const name of names) places.set(name, [...(places.get(name) ?? []), path]);
    }
    expect([...places].filter(([, paths]) => paths.length > 1)).to.deep.equal([]);
  });

  it('every file is reachable from an entry point', () => {
    const imports = new Map(files.map(({ path, imports: found }) => [path, found]));
    const reached = new Set<string>();
    const waiting = [...ENTRY_POINTS];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (reached.has(path)) continue;
      reached.add(path);
      waiting.push(...(imports.get(path) ?? []).map(({ target }) => target));
    }
    expect(files.map(({ path }) => path).filter((path) => !reached.has(path))).to.deep.equal([]);
  });

  it('every folder of browser specs is run by the spec file of its name', () => {
    const specs = filesBelow('spec/project/browser', '.long.spec.ts').map((path) =>
      basename(path, '.long.spec.ts'),
    );
    expect(specs).to.deep.equal(browserFolders());
  });

  it('every exported function, class and constant is used by another file', () => {
    const folders = ['lib', 'machines', 'spec', 'scripts', 'bench', 'examples', 'web'];
    const paths = folders.flatMap((folder) => [...filesBelow(folder, '.ts'), ...filesBelow(folder, '.tsx')]);
    const elsewhere = paths.map((path) => ({ path, words: wordsIn(read(path)) }));
    const users = new Map<string, Set<string>>();
    for (const { path, words } of elsewhere) {
      for (const word of words) users.set(word, (users.get(word) ?? new Set()).add(path));
    }
    const unused = files.flatMap(({ path, code }) =>
      [...code.matchAll(EXPORTED_VALUE)]
        .map(([, name = '']) => name)
        .filter((name) => [...(users.get(name) ?? [])].every((user) => user === path))
        .map((name) => `${path} exports ${name}`),
    );
    expect(unused).to.deep.equal([]);
  });
});

interface Importers {
  readonly all: Set<string>;
  /** The files that import a file when they need it: `import('./file.js')`. */
  readonly lazy: Set<string>;
}

function importersOf(files: readonly SourceFile[]): Map<string, Importers> {
  const found = new Map<string, Importers>();
  for (const { path, imports } of files) {
    for (const { target, isLazy } of imports) {
      const importers = found.get(target) ?? { all: new Set(), lazy: new Set() };
      importers.all.add(path);
      if (isLazy) importers.lazy.add(path);
      found.set(target, importers);
    }
  }
  return found;
}

function foldersBelow(folder: string): string[] {
  const paths = new Set([folder]);
  for (const file of filesBelow(folder, '')) {
    for (let path = dirname(file); path !== folder && path !== '.'; path = dirname(path)) paths.add(path);
  }
  return [...paths].sort();
}

function linesOf({ text }: SourceFile): number {
  return text.split('\n').length - 1;
}

function wordsIn(text: string): Set<string> {
  return new Set(text.match(/\w+/g));
}
