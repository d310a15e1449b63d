import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadHistoryDriver } from '../../../../lib/runs/store/shell/shell-file.js';
import { openReadOnly } from '../../../../lib/runs/store/sqlite/thread/connection.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { cancelFact } from '../suites/store-suite.js';
import { ShellFiles, STOPPED } from './shell-files.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** As the end of its process does: the driver closes a file when nothing refers to its statements any more. */
async function endProcess(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
}

describe('several shells in one folder (D68)', () => {
  const temporary = useTemporaryFolder();
  let files: ShellFiles;

  beforeEach(() => {
    files = new ShellFiles(temporary.at('.wavetrain'));
  });

  /** The files with runs. */
  function databases(): string[] {
    return readdirSync(files.folder.path).filter((name) => name.endsWith('.db'));
  }

  it('each write a file, and whoever reads sees the runs of all in the order of their beginnings', async () => {
    const [first, second, third] = [files.open(), files.open(), files.open()];
    for (const [store, id] of [
      [first, 'a'],
      [second, 'b'],
      [third, 'c'],
      [first, 'd'],
    ] as const) {
      await files.begin(store, id);
    }
    expect(databases()).to.deep.equal(['runs-2.db', 'runs-3.db', 'runs.db']);
    expect(files.ids).to.deep.equal(['d', 'c', 'b', 'a']);
    await Promise.all([first, second, third].map((store) => store.close()));
  });

  it('keep their runs when another process deletes only what is in files that nobody has', async () => {
    await files.run('a');
    await files.run('b');
    const first = files.open();
    await files.begin(first, 'c');
    const second = files.open();
    await files.begin(second, 'd');
    await files.settle(second, 'd');
    expect(await files.read().removeUnused(['a', 'd'])).to.equal(0);
    expect(files.ids).to.deep.equal(['d', 'c', 'b', 'a']);
    const history = files.read();
    expect(['a', 'd'].map((id) => history.isInUse(id))).to.deep.equal([true, true]);
    await first.close();
    expect(await files.read().removeUnused(['a', 'd'])).to.equal(1);
    expect(files.ids).to.deep.equal(['d', 'c', 'b']);
    expect([...files.folder.removals()]).to.deep.equal([]);
    await second.close();
  });

  it('do not remove or change the runs of each other', async () => {
    const [first, second] = [files.open(), files.open()];
    await files.begin(first, 'a');
    await files.begin(second, 'b');
    first.remove('b');
    second.log('a', 'default').append(cancelFact(7));
    await Promise.all([first.close(), second.close()]);
    expect(files.ids).to.deep.equal(['b', 'a']);
    expect(files.facts('a')).to.deep.equal([cancelFact(1), ...STOPPED]);
  });

  it('leave their files to the next owner of the first one, which numbers all runs by their times', async () => {
    const [first, second] = [files.open(), files.open()];
    await files.begin(first, 'a');
    await files.begin(second, 'b');
    await files.begin(first, 'c');
    for (const [store, id] of [
      [first, 'a'],
      [second, 'b'],
      [first, 'c'],
    ] as const) {
      await files.settle(store, id);
    }
    await second.close();
    await endProcess();
    await first.close();
    expect(databases()).to.deep.equal(['runs.db']);
    const kept = files.read();
    expect(kept.ids().map((id) => [id, kept.read(id)?.number, kept.summary(id)?.status])).to.deep.equal([
      ['c', 3, 'succeeded'],
      ['b', 2, 'succeeded'],
      ['a', 1, 'succeeded'],
    ]);
    for (const id of kept.ids())
      expect(files.facts(id)).to.deep.equal([cancelFact(1), { kind: 'settled', at: 9 }]);
  });

  it('take over what was packed, with its definition and its labels', async () => {
    await files.run('a');
    files.pack(1);
    const [first, second] = [files.open(), files.open()];
    await files.begin(first, 'b');
    await files.begin(second, 'c');
    await files.begin(first, 'd');
    await files.settle(first, 'b');
    await files.settle(second, 'c', undefined, { team: 'billing' });
    await files.settle(first, 'd', undefined, { team: 'ops' });
    await second.close();
    await endProcess();
    files.pack(2);
    const submission = files.read().read('c')?.submission;
    expect(files.facts('c'), 'packed in its file').to.deep.equal([cancelFact(1), { kind: 'settled', at: 9 }]);
    await endProcess();
    await first.close();
    await endProcess();
    files.pack(1);
    expect(databases()).to.deep.equal(['runs.db']);
    expect(files.ids).to.deep.equal(['d', 'c', 'b', 'a']);
    expect(files.read().read('c')?.submission).to.deep.equal(submission);
    for (const id of files.ids) {
      expect(files.facts(id), id).to.deep.equal([cancelFact(1), { kind: 'settled', at: 9 }]);
    }
    expect(files.rows('SELECT count(*) AS n FROM definition')).to.deep.equal([{ n: 1 }]);
    expect(files.rows('SELECT label, number FROM label ORDER BY number')).to.deep.equal([
      { label: 'team:billing', number: 3 },
      { label: 'team:ops', number: 4 },
    ]);
    expect(files.rows('SELECT n / 1048576 AS run FROM packed ORDER BY n')).to.deep.equal([
      { run: 1 },
      { run: 2 },
      { run: 3 },
      { run: 4 },
    ]);
    const packed = '(SELECT sum(length(data)) FROM packed) + 4 * (SELECT length(data) FROM definition)';
    const texts =
      '5 * length(tenant) + 2 * length(pipeline) + length(goal) + 3 * coalesce(length(labels), 0)';
    const searched = '(SELECT sum(octet_length(text)) FROM run_text)';
    expect(
      files.rows(
        `SELECT succeeded, bytes - (${packed}) - ${searched} - (SELECT sum(600 + ${texts}) FROM run) AS others,
         bytes = (SELECT sum(bytes) FROM run) AS fits FROM usage`,
      ),
    ).to.deep.equal([{ succeeded: 4, others: 0, fits: 1 }]);
  });

  it('leave a file that somebody reads, and no run is there twice', async () => {
    const [first, second] = [files.open(), files.open()];
    await files.begin(first, 'a');
    await files.begin(second, 'b');
    await second.close();
    const reader = openReadOnly(files.folder.file(2), loadHistoryDriver());
    await first.close();
    expect(databases()).to.deep.equal(['runs-2.db', 'runs.db']);
    expect(files.ids).to.deep.equal(['b', 'a']);
    await files.read().remove(['b']);
    expect(files.ids, 'it has left its file').to.deep.equal(['a']);
    reader?.close();
    await endProcess();
    await files.run('c');
    expect(databases()).to.deep.equal(['runs.db']);
    expect(files.ids).to.deep.equal(['c', 'a']);
    const next = files.open();
    await files.begin(next, 'd');
    expect(files.read().isAtWork('a'), 'its shell is gone').to.equal(false);
    await next.close();
  });

  it('are at work while they have their file, and a run whose shell is gone stays interrupted', async () => {
    const crashed = files.open();
    await files.begin(crashed, 'a');
    expect(files.read().isAtWork('a')).to.equal(true);
    await crashed.close();
    expect(files.read().isAtWork('a')).to.equal(false);
    const next = files.open();
    await files.begin(next, 'b');
    expect(files.read().isAtWork('a'), 'another shell has the file').to.equal(false);
    expect(files.read().isAtWork('b')).to.equal(true);
    expect(files.read().summary('a')).to.equal(undefined);
    await next.close();
  });

  it('delete what somebody has removed from the history meanwhile, but not what is at work', async () => {
    await files.run('a');
    const store = files.open();
    await files.begin(store, 'b');
    await files.read().remove(['a']);
    expect(files.ids).to.deep.equal(['b']);
    await store.close();
    expect(files.folder.removals().size).to.equal(0);
    expect(files.ids).to.deep.equal(['b']);
    await files.read().remove(['b']);
    expect(files.ids).to.deep.equal([]);
    expect(files.folder.removals().size).to.equal(0);
  });
});
