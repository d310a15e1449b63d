import { expect } from 'chai';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSources } from '../../../../lib/runs/store/shell/kept-rows.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { ShellFiles } from './shell-files.js';

const BYTES = 2 ** 20;

describe('the limits of the history of the shell (D68)', () => {
  const temporary = useTemporaryFolder();
  let files: ShellFiles;

  beforeEach(() => {
    files = new ShellFiles(temporary.at('.wavetrain'));
  });

  function addFile(id: string, bytes = 5): void {
    const folder = join(files.folder.runs, id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'task-1.bin'), Buffer.alloc(bytes));
  }

  it('remove the oldest runs, also those that were interrupted', async () => {
    await files.run('1');
    const crashed = files.open();
    await files.begin(crashed, '2');
    await crashed.close();
    for (const id of ['3', '4']) await files.run(id);
    await files.run('5', undefined, { limits: { runs: 3, bytes: BYTES } });
    expect(files.ids).to.deep.equal(['5', '4', '3']);
    await files.run('6', undefined, { limits: { runs: 1, bytes: BYTES } });
    expect(files.ids).to.deep.equal(['6']);
  });

  it('keep the newest run in any case, and those at work', async () => {
    const store = files.open({ limits: { runs: 1, bytes: 0 } });
    for (const id of ['1', '2', '3']) await files.begin(store, id);
    await files.settle(store, '2');
    await files.settle(store, '3');
    await store.close();
    expect(files.ids).to.deep.equal(['3', '1']);
  });

  it('keep the runs whose files a run that stays may use, and remove files with their run', async () => {
    await files.run('1');
    addFile('1');
    await files.run('2', '1');
    await files.run('3');
    addFile('3');
    await files.run('4', '2');
    await files.run('5', undefined, { limits: { runs: 2, bytes: BYTES } });
    expect(files.ids).to.deep.equal(['5', '4', '2', '1']);
    expect(existsSync(join(files.folder.runs, '3'))).to.equal(false);
    expect(existsSync(join(files.folder.runs, '1'))).to.equal(true);
  });

  it('keep the runs whose files a run of another shell may use', async () => {
    await files.run('1');
    addFile('1');
    const [first, second] = [files.open({ limits: { runs: 1, bytes: BYTES } }), files.open()];
    await files.begin(first, '2');
    await files.begin(second, '3', '1');
    await files.settle(first, '2');
    await first.close();
    expect(files.ids).to.deep.equal(['3', '2', '1']);
    await second.close();
  });

  it('count the bytes that tools have returned', async () => {
    for (const id of ['1', '2', '3']) {
      await files.run(id);
      addFile(id, 200_000);
    }
    await files.run('4', undefined, { limits: { runs: 9, bytes: 500_000 } });
    expect(files.ids).to.deep.equal(['4', '3', '2']);
  });

  it('find the runs whose files others may use, from the first that has any', () => {
    const rows = ['1', '2', '3', '4'].map((id) => ({ id, rerunOf: id === '1' ? null : `${Number(id) - 1}` }));
    expect(findSources(['4', '1'], rows, new Set(['2']))).to.deep.equal(
      new Map([
        ['4', ['2', '3']],
        ['1', []],
      ]),
    );
    expect(findSources(['4'], rows, new Set()).get('4')).to.deep.equal([]);
    expect(findSources(['1'], [{ id: '1', rerunOf: '1' }], new Set(['1'])).get('1')).to.deep.equal(['1']);
  });
});
