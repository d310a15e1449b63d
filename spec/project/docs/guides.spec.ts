import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { documents, read, requireBuild, ROOT } from '../files.js';
import { linksOf } from './markdown.js';

/** The page for newcomers, and the longest that it may be, in words. */
const FIRST_PAGE = { file: 'docs/first-pipeline.md', words: 3_500 };

/** The longest that all guides together may be, in words. */
const MOST_WORDS = 45_000;

/** Pages that are no guides: rules and tables to look up, and pages for people who change Wavetrain. */
const NOT_GUIDES =
  /^(?:CHANGELOG|CONTRIBUTING)\.md$|^docs\/(?:reference|glossary|tour)\.md$|^docs\/(?:reference|decisions|machines)\/|^examples\//;

describe('The guides', () => {
  const guides = documents().filter((file) => !NOT_GUIDES.test(file));

  it(`have at most ${MOST_WORDS} words together, so that a change of one shortens another`, () => {
    const lengths = guides.map((file) => ({ file, words: wordsOf(file) }));
    const total = lengths.reduce((sum, { words }) => sum + words, 0);
    const longest = lengths.sort((one, other) => other.words - one.words);
    expect(total, longest.map(({ file, words }) => `${words} ${file}`).join('\n')).to.be.at.most(MOST_WORDS);
  });

  it('begin with a short page for newcomers, which is the first link of the README to a page of ours', () => {
    expect(wordsOf(FIRST_PAGE.file)).to.be.at.most(FIRST_PAGE.words);
    const [first] = linksOf('README.md').filter(({ target }) => target.endsWith('.md'));
    expect(first?.target).to.equal(FIRST_PAGE.file);
  });
});

describe('The README', () => {
  it('is right about the packages and the size of an installation, give or take ten', () => {
    requireBuild();
    const [, packages, megabytes] =
      /has about (\d+) packages and takes about (\d+) MB/.exec(read('README.md')) ?? [];
    const installed = installedPackages();
    expect(installed.length + 1).to.be.closeTo(Number(packages), 10);
    const bytes = installed.reduce((sum, path) => sum + sizeOf(join(ROOT, path)), packedSize());
    expect(bytes / 1e6).to.be.closeTo(Number(megabytes), 10);
  });
});

/** Counts words as `wc -w` does. */
function wordsOf(file: string): number {
  return read(file).split(/\s+/).filter(Boolean).length;
}

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Lists the folders of the packages that come with this one, on this platform, from the lock file. */
function installedPackages(): string[] {
  const lock: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
  );
  const found = new Set<string>();
  const pending = [''];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    for (const name of namesIn(lock.packages[path] ?? {})) {
      const folder = resolve(path, name, lock.packages);
      if (folder === undefined || found.has(folder) || !existsSync(join(ROOT, folder))) continue;
      found.add(folder);
      pending.push(folder);
    }
  }
  return [...found];
}

function namesIn(locked: LockedPackage): string[] {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = locked;
  const peers = Object.keys(peerDependencies).filter(
    (name) => locked.peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers];
}

/** Finds the folder of a package as Node.js does: beside the one that asks, or in a folder above. */
function resolve(
  from: string,
  name: string,
  packages: Readonly<Record<string, unknown>>,
): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const folder = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (Object.hasOwn(packages, folder)) return folder;
    if (at === '') return undefined;
  }
}

/** Adds up the files of a package, in bytes, without the packages inside it. */
function sizeOf(path: string): number {
  if (statSync(path).isFile()) return statSync(path).size;
  return readdirSync(path)
    .filter((name) => name !== 'node_modules')
    .reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

/** Asks npm how large the published package is, in bytes; nothing is written and nothing is sent. */
function packedSize(): number {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'];
  const printed = execFileSync('npm', args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ unpackedSize } = { unpackedSize: 0 }] = JSON.parse(printed) as { unpackedSize: number }[];
  return unpackedSize;
}
