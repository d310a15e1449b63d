import { expect } from 'chai';
import { cpSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { errorMessage } from '../../../../lib/common/errors.js';
import { checkStore } from '../../../../lib/runs/store/maintenance/check-store.js';
import { TABLES_VERSION } from '../../../../lib/runs/store/sqlite/thread/schema.js';
import { requireBuild } from '../../../project/files.js';
import { catchRejection } from '../../../support/rejection.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { execute, OLD_FILE, openStore, writeStore } from './kept-store.js';

describe('The check of a store (D74)', () => {
  const folder = useTemporaryFolder();
  let file: string;

  before(() => requireBuild());

  beforeEach(async () => {
    file = folder.at('runs.db');
    await writeStore(file, 60, 2000);
  });

  const problems = async (isQuick = false): Promise<readonly string[]> =>
    (await checkStore(file, isQuick)).problems;

  it('finds nothing in a sound store, also while a server has it open, and changes nothing', async () => {
    const sound = {
      ok: true,
      problems: [],
      runs: 61,
      version: TABLES_VERSION,
      known_version: TABLES_VERSION,
    };
    const before = readFileSync(file);
    expect(await checkStore(file, false)).to.deep.equal(sound);
    expect(await checkStore(file, true)).to.deep.equal(sound);
    expect(readFileSync(file).equals(before)).to.equal(true);
    const store = await openStore(file);
    expect(await checkStore(file, false)).to.deep.equal(sound);
    await store.close();
  });

  it('finds a file that was cut, at whatever length', async () => {
    const { length } = readFileSync(file);
    for (const part of [0.9, 0.5, 0.1]) {
      truncateSync(file, Math.floor((length * part) / 4096) * 4096);
      expect(await problems(), String(part)).to.not.deep.equal([]);
      expect(await problems(true), String(part)).to.not.deep.equal([]);
    }
    truncateSync(file, 0);
    expect(await problems()).to.include('the file is empty');
  });

  it('finds bytes that have changed, wherever the file has a structure', async () => {
    // The content of free pages does not matter.
    execute(file, 'VACUUM');
    const bytes = readFileSync(file);
    for (let page = 0; page < bytes.length / 4096; page += 3) {
      const damaged = Buffer.from(bytes);
      // The head of a page: its kind, the number of its cells, where they begin.
      damaged.fill(0xff, page * 4096, page * 4096 + 12);
      writeFileSync(file, damaged);
      const found = await checkStore(file, false);
      expect(found.ok, `page ${page}`).to.equal(false);
    }
  });

  const OTHER_BYTES = '1 tenant whose number of bytes is not that of its runs';
  const BROKEN: readonly (readonly [what: string, sql: string, ...problems: string[]])[] = [
    [
      'facts of a settled run are gone',
      'DELETE FROM packed WHERE n / 1048576 IN (2, 4)',
      '2 settled runs without the facts that it was kept with',
    ],
    [
      'a settled run that is not searched',
      'DELETE FROM run_text WHERE number = 2',
      '1 settled run that no search finds',
    ],
    [
      'facts without a run',
      'DELETE FROM run WHERE state = 0',
      '1 piece of runs that are not there',
      OTHER_BYTES,
    ],
    ['a definition that is gone', 'DELETE FROM definition', '60 runs without a definition'],
    [
      'packed facts without a run',
      "INSERT INTO packed (n, data) VALUES (1048576 * 100, x'01')",
      '1 part of runs that are not there',
    ],
    [
      'a number of runs that is wrong',
      "UPDATE usage SET failed = failed + 1 WHERE tenant = 'acme'",
      '1 tenant whose number of runs is not that of its rows',
    ],
    [
      'a tenant that is not counted',
      "DELETE FROM usage WHERE tenant = 'default'",
      '1 tenant whose number of runs is not that of its rows',
      OTHER_BYTES,
    ],
  ];
  for (const [what, sql, ...found] of BROKEN) {
    it(`finds ${what}`, async () => {
      execute(file, sql);
      expect(await problems()).to.deep.equal(found);
    });
  }

  it('checks a file of an earlier version as far as it goes, and does not bring it to another one', async () => {
    cpSync(OLD_FILE, file);
    expect(await checkStore(file, false)).to.include({ ok: true, runs: 2, version: 1 });
    expect(await checkStore(file, false)).to.include({ version: 1 });
  });

  it('creates no file, and says that there is none, or that a newer version has written it', async () => {
    const refusal = async (path: string): Promise<string> =>
      errorMessage(await catchRejection(checkStore(path, false)));
    expect(await refusal(folder.at('none.db'))).to.contain('there is no store');
    expect(existsSync(folder.at('none.db'))).to.equal(false);
    expect(await refusal(folder.at('gone/none.db'))).to.contain('its folder must exist');
    execute(file, 'PRAGMA user_version = 99');
    expect(await refusal(file)).to.contain('a newer Wavetrain has written it');
    expect(readdirSync(folder.path).filter((name) => name.includes('none'))).to.deep.equal([]);
  });
});
