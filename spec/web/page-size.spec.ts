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
