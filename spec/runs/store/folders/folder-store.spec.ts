import { expect } from 'chai';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../../../lib/common/json/json.js';
import type { Fact } from '../../../../lib/execution/history/fact.js';
import type { RunSummary } from '../../../../lib/runs/record.js';
import { FolderStore } from '../../../../lib/runs/store/folders/folder-store.js';
import { type ProcessTable, RunFolders } from '../../../../lib/runs/store/folders/run-folders.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { cancelFact, listRuns, storedRun } from '../suites/store-suite.js';

const HERE = 100;

/** Notes of which runs `run.json` is read: it may be large. */
class NotedFolders extends RunFolders {
  readonly wereRead: string[] = [];

  override read(id: string): ReturnType<RunFolders['read']> {
    this.wereRead.push(id);
    return super.read(id);
  }
}

const COMMAND = { cwd: '/work', output_folder: '/work/outputs' };

describe('FolderStore (D68)', () => {
  const folder = useTemporaryFolder();
  let path: string;
  /** Processes besides that of the spec. */
  let alive: Set<number>;

  beforeEach(() => {
    path = folder.at('.wavetrain');
    alive = new Set();
  });

  function foldersOf(pid = HERE, bootedAt = 0): NotedFolders {
    const processes: ProcessTable = { pid, bootedAt, isAlive: (other) => alive.has(other) };
    return new NotedFolders(path, processes);
  }

  async function open(folders = foldersOf()): Promise<FolderStore> {
    const earlier = folders.ids().flatMap((id) => folders.read(id) ?? []);
    return new FolderStore(folders, { command: COMMAND, earlier: earlier.toReversed() });
  }

  it('gives back runs and facts in their order, any text and large values', async () => {
    const store = await open();
    const value = {
      text: '\u0000\ud800 \u{1f600} " \\ \n',
      long: '\u{1f600}x'.repeat(2 ** 19),
      ['__proto__']: null,
    };
    const outcome = succeeded('__proto__', value);
    const submission = { ...storedRun(1).submission, inputs: value };
    store.add({ ...storedRun(1, 'a'), submission });
    store.add(storedRun(2, 'b'));
    for (const fact of [cancelFact(0), outcome, cancelFact(2)]) store.log('a', 'default').append(fact);
    store.log('b', 'default').append(cancelFact(3));
    await store.close();
    const again = await open();
    expect(again.lastNumber).to.equal(2);
    expect(await listRuns(again)).to.deep.equal([{ ...storedRun(1, 'a'), submission }, storedRun(2, 'b')]);
    expect(await again.facts('a')).to.deep.equal([cancelFact(0), outcome, cancelFact(2)]);
    expect(await again.facts('b')).to.deep.equal([cancelFact(3)]);
  });

  async function keep(id: string, { pid = HERE, number = 1, rerunOf = '' } = {}): Promise<FolderStore> {
    const store = new FolderStore(foldersOf(pid), { command: COMMAND });
    const run = storedRun(number, id);
    const rerun = { isChanged: false, run_id: rerunOf };
    store.add(rerunOf === '' ? run : { ...run, submission: { ...run.submission, rerun } });
    store.log(id, 'default').append(cancelFact(1));
    await store.idle();
    return store;
  }

  function settle(store: FolderStore, id: string, summary: Partial<RunSummary> = {}): void {
    store.settled({ run_id: id, status: 'succeeded', ...summary } as RunSummary);
  }

  it('keeps its files for their user alone, and out of the version control of the project', async () => {
    await keep('1');
    const run = join(path, 'runs', '1');
    expect(statSync(run).mode & 0o777).to.equal(0o700);
    for (const name of readdirSync(run)) expect(statSync(join(run, name)).mode & 0o777).to.equal(0o600);
    expect(readFileSync(join(path, '.gitignore'), 'utf8')).to.equal('*\n');
  });

  it('reads the facts up to a line that a crash has torn', async () => {
    await keep('1');
    const facts = join(path, 'runs', '1', 'facts.jsonl');
    appendFileSync(facts, '[{"kind":"cancel","at":2,"fo');
    expect(await foldersOf().facts('1')).to.deep.equal([cancelFact(1)]);
    writeFileSync(join(path, 'runs', '1', 'run.json'), '{"id":"1","num');
    expect(foldersOf().read('1')).to.equal(undefined);
  });

  it('lets runs go on when it cannot write, and reports that once', async () => {
    writeFileSync(path, 'a file is in the place of the folder');
    const store = new FolderStore(foldersOf(), { command: COMMAND });
    const failures: string[] = [];
    store.onFailure(({ message }) => void failures.push(message));
    store.add(storedRun(1));
    await store.idle();
    store.log('run 1', 'default').append(cancelFact(1));
    await store.idle();
    await store.close();
    expect(failures).to.have.length(1);
    expect(failures[0]).to.contain(`cannot write to ${path}: `);
  });

  it('is written by two shells at once, and neither removes a run of the other', async () => {
    const first = await keep('1', { pid: 1 });
    const second = await keep('2', { pid: 2 });
    first.remove('2');
    second.log('1', 'default').append(cancelFact(7));
    second.log('2', 'default').append(cancelFact(2));
    first.log('1', 'default').append(cancelFact(3));
    await Promise.all([first.close(), second.close()]);
    expect(foldersOf().ids()).to.deep.equal(['2', '1']);
    expect(await foldersOf().facts('1')).to.deep.equal([cancelFact(1), cancelFact(3)]);
    expect(await foldersOf().facts('2')).to.deep.equal([cancelFact(1), cancelFact(2)]);
  });

  it('says that a run is at work only while its process is there, of this start of the machine', async () => {
    await keep('1', { pid: 7, number: 50_000 });
    const isAtWork = (folders: RunFolders): boolean => {
      const run = folders.read('1');
      return run !== undefined && folders.isAtWork(run);
    };
    expect(isAtWork(foldersOf())).to.equal(false);
    alive.add(7);
    expect(isAtWork(foldersOf())).to.equal(true);
    expect(isAtWork(foldersOf(7)), 'the id is that of the process which asks').to.equal(false);
    expect(isAtWork(foldersOf(HERE, 90_000)), 'the machine was started since').to.equal(false);
  });

  it('removes the oldest runs beyond its limits, but none that is at work: a rerun needs no other run', async () => {
    settle(await keep('1'), '1');
    settle(await keep('2'), '2');
    await keep('3', { pid: 7 });
    settle(await keep('4', { pid: 7 }), '4');
    settle(await keep('5', { rerunOf: '2' }), '5');
    settle(await keep('6'), '6');
    alive.add(7);
    foldersOf().prune({ runs: 2, bytes: 2 ** 20 });
    expect(foldersOf().ids()).to.deep.equal(['6', '5', '3']);
    foldersOf().prune({ runs: 2, bytes: 0 });
    expect(foldersOf().ids()).to.deep.equal(['6', '3']);
  });

  it('keeps the runs whose files a run may use that is at work', async () => {
    settle(await keep('1'), '1');
    writeFileSync(join(path, 'runs', '1', 'task-1.bin'), 'bytes');
    await keep('2', { pid: 7, rerunOf: '1' });
    settle(await keep('3'), '3');
    settle(await keep('4'), '4');
    alive.add(7);
    foldersOf().prune({ runs: 1, bytes: 2 ** 20 });
    expect(foldersOf().ids()).to.deep.equal(['4', '2', '1']);
  });

  describe('to find the runs whose files others may use', () => {
    /** A chain of reruns, of which each repeats the one before. */
    async function keepChain({ saysSource }: { readonly saysSource: boolean }): Promise<void> {
      for (const number of [1, 2, 3, 4, 5, 6]) {
        const rerunOf = number === 1 ? '' : `${number - 1}`;
        const store = await keep(`${number}`, { rerunOf });
        settle(store, `${number}`, saysSource ? { rerun_of: rerunOf || null } : {});
      }
    }

    it('reads no run when none has files', async () => {
      await keepChain({ saysSource: false });
      const folders = foldersOf();
      folders.prune({ runs: 4, bytes: 2 ** 20 });
      expect(folders.ids()).to.have.length(4);
      expect(folders.sourcesOf(folders.ids()).size).to.equal(0);
      expect(folders.wereRead).to.deep.equal([]);
    });

    it('has a null trigger in a summary that an earlier version has written (D28)', async () => {
      settle(await keep('1'), '1');
      expect(foldersOf().summary('1')).to.deep.equal({
        run_id: '1',
        status: 'succeeded',
        trigger: null,
        started_by: { kind: 'cli', name: null },
        labels: {},
      });
    });

    it('reads none of the runs whose summary says which run they repeat', async () => {
      await keepChain({ saysSource: true });
      writeFileSync(join(path, 'runs', '2', 'task-1.bin'), 'bytes');
      const folders = foldersOf();
      folders.prune({ runs: 4, bytes: 2 ** 20 });
      expect(folders.ids()).to.deep.equal(['6', '5', '4', '3', '2']);
      expect(folders.sourcesOf(['4']).get('4')).to.deep.equal(['2', '3']);
      expect(folders.wereRead).to.deep.equal([]);
    });

    it('reads each run at most once where no summary says it', async () => {
      await keepChain({ saysSource: false });
      writeFileSync(join(path, 'runs', '2', 'task-1.bin'), 'bytes');
      for (const find of [
        (folders: RunFolders) => folders.sourcesOf(folders.ids()),
        (folders: RunFolders) => folders.prune({ runs: 4, bytes: 2 ** 20 }),
      ]) {
        const folders = foldersOf();
        find(folders);
        expect(folders.wereRead.toSorted()).to.deep.equal(['1', '2', '3', '4', '5', '6']);
      }
      expect(foldersOf().ids()).to.deep.equal(['6', '5', '4', '3', '2']);
    });
  });

  it('counts the bytes of each run by itself, and those of its text in UTF-8', async () => {
    const store = new FolderStore(foldersOf(), { command: COMMAND, runBytes: 3000 });
    const failures: string[] = [];
    store.onFailure(({ message }) => void failures.push(message));
    const append = async (id: string, value: string): Promise<void> => {
      store.log(id, 'default').append({ ...succeeded('t', value), bytes: 1 });
      await store.idle();
    };
    for (const [index, id] of ['a', 'b'].entries()) {
      store.add(storedRun(index + 1, id));
      await append(id, 'x'.repeat(2000));
    }
    expect(failures, 'two runs of 2,000 bytes').to.deep.equal([]);
    store.add(storedRun(3, 'c'));
    await append('c', '\u20ac'.repeat(1000));
    expect(failures, 'a run of 1,000 characters with 3 bytes each').to.have.length(1);
    expect(await foldersOf().facts('a')).to.have.length(1);
    expect(await foldersOf().facts('c')).to.deep.equal([]);
  });

  it('counts the bytes that tools have returned', async () => {
    for (const id of ['1', '2', '3']) {
      settle(await keep(id), id);
      writeFileSync(join(path, 'runs', id, 'task-1.bin'), Buffer.alloc(10_000));
    }
    foldersOf().prune({ runs: 3, bytes: 25_000 });
    expect(foldersOf().ids()).to.deep.equal(['3', '2']);
  });

  it('has the folder of a run before its tools begin, for the bytes that they return', () => {
    const folders = foldersOf();
    new FolderStore(folders, { command: COMMAND }).add(storedRun(1, 'a'));
    expect(statSync(folders.folder('a')).mode & 0o777).to.equal(0o700);
  });

  it('keeps bytes only where nobody else can read them', async () => {
    expect(await foldersOf().isPrivate(), 'a folder that is not there yet').to.equal(true);
    await keep('1');
    expect(await foldersOf().isPrivate()).to.equal(true);
    chmodSync(join(path, 'runs'), 0o755);
    expect(await foldersOf().isPrivate(), 'a folder that others can read').to.equal(false);
    rmSync(path, { recursive: true });
    writeFileSync(path, 'a file is in its place');
    expect(await foldersOf().isPrivate()).to.equal(false);
  });

  it('adds nothing without the command of its runs', async () => {
    const store = new FolderStore(foldersOf());
    store.add(storedRun(1, 'a'));
    store.log('a', 'default').append(cancelFact(1));
    await store.close();
    expect(existsSync(path)).to.equal(false);
  });

  it('ends the facts of a run that was at work for whoever reads them, and writes nothing', async () => {
    await keep('1');
    const folders = foldersOf();
    const run = folders.read('1');
    const earlier = run === undefined ? [] : [run];
    const store = new FolderStore(folders, { earlier, endsEarlier: true });
    expect(await store.facts('1')).to.deep.equal([
      cancelFact(1),
      { kind: 'cancel', at: 1, force: true },
      { kind: 'settled', at: 1 },
    ]);
    store.log('1', 'default').append(cancelFact(9));
    await store.close();
    expect(await folders.facts('1')).to.deep.equal([cancelFact(1)]);
    expect(existsSync(join(path, 'runs', '1', 'record.json'))).to.equal(false);
  });
});

function succeeded(task: string, value: Json): Extract<Fact, { kind: 'succeeded' }> {
  const bytes = JSON.stringify(value).length;
  return { kind: 'succeeded', at: 1, place: '', task, item: -1, value, writes: [], attempts: 1, bytes };
}
