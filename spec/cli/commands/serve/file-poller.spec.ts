import { expect } from 'chai';
import { renameSync, symlinkSync } from 'node:fs';
import { FilePoller, inspectFiles, WATCH_MS } from '../../../../lib/cli/commands/serve/file-poller.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

describe('FilePoller', () => {
  const files = new Map<string, string>();
  let clock: ManualClock;
  let changes: string[][];
  let watch: FilePoller;

  beforeEach(async () => {
    files.clear();
    files.set('/a', 'a1').set('/b', 'b1');
    clock = new ManualClock();
    changes = [];
    watch = new FilePoller(
      () => ['/a', '/b', '/a'],
      async (changed) => void changes.push([...changed]),
      clock,
      async (path) => files.get(path) ?? 'none',
    );
    await watch.start(new Map());
  });

  it('reports a file that is the same at two looks, and not while it is still written', async () => {
    files.set('/a', 'a2');
    await watch.check();
    files.set('/a', 'a3');
    await watch.check();
    expect(changes).to.deep.equal([]);
    await watch.check();
    await watch.check();
    expect(changes).to.deep.equal([['/a']]);
  });

  it('does not wait for another file that goes on changing', async () => {
    files.set('/a', 'a2').set('/b', 'b2');
    await watch.check();
    files.set('/b', 'b3');
    await watch.check();
    expect(changes).to.deep.equal([['/a']]);
  });

  it('reports a file that is gone, and not one that an editor replaces between two looks', async () => {
    files.delete('/b');
    await watch.check();
    files.set('/b', 'b1');
    await watch.check();
    expect(changes).to.deep.equal([]);
    files.delete('/b');
    await watch.check();
    await watch.check();
    expect(changes).to.deep.equal([['/b']]);
  });

  it('looks every two seconds, sooner after a change, and never again once it is closed', async () => {
    expect(clock.pending).to.equal(1);
    files.set('/a', 'a2');
    await watch.check();
    expect(clock.pending).to.equal(1);
    clock.advance(WATCH_MS.settle);
    expect(clock.pending).to.equal(0);
    watch.close();
    await watch.check();
    expect(clock.pending).to.equal(0);
  });

  it('reports what has changed since the files were seen, before it has started', async () => {
    const other = new FilePoller(
      () => ['/a'],
      async (changed) => void changes.push([...changed]),
      clock,
      async (path) => files.get(path) ?? 'none',
    );
    const seen = await inspectFiles(['/a'], async () => 'a0');
    await other.start(seen);
    await other.check();
    await other.check();
    expect(changes).to.deep.equal([['/a']]);
    other.close();
  });

  it('does not report what a reload has read meanwhile', async () => {
    files.set('/a', 'a2');
    await watch.check();
    await watch.accept();
    await watch.check();
    await watch.check();
    expect(changes).to.deep.equal([]);
  });

  describe('on a disk', () => {
    const folder = new TemporaryFolder();
    after(() => folder.remove());

    const signature = async (name: string): Promise<string | undefined> =>
      (await inspectFiles([folder.at(name)])).get(folder.at(name));

    it('notices a file that was replaced by one of the same length, and a link that leads elsewhere', async () => {
      folder.write('keys.yaml', 'one');
      const first = await signature('keys.yaml');
      expect(await signature('keys.yaml')).to.equal(first);
      folder.write('new', 'two');
      renameSync(folder.at('new'), folder.at('keys.yaml'));
      expect(await signature('keys.yaml')).to.not.equal(first);
      folder.write('v1/keys.yaml', 'one');
      folder.write('v2/keys.yaml', 'two');
      symlinkSync('v1', folder.at('data'));
      const linked = await signature('data/keys.yaml');
      symlinkSync('v2', folder.at('next'));
      renameSync(folder.at('next'), folder.at('data'));
      expect(await signature('data/keys.yaml')).to.not.equal(linked);
      expect(await signature('gone')).to.equal('none');
    });
  });
});
