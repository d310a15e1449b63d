import { expect } from 'chai';
import { rmSync, symlinkSync } from 'node:fs';
import { LIBRARY_LIMITS } from '../../../lib/library/limits.js';
import type { PauseRequest, SavedFile } from '../../../lib/library/save-file.js';
import type { FileChangedError } from '../../../lib/library/write-file.js';
import { settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { clockAt, pipelineText, type TestLibrary, useLibraries } from '../test-library.js';

const MINUTE = 60_000;

describe('Pausing and resuming a schedule of the folder (D72)', () => {
  const { folder, start, close, write: writeFile, read: readFile } = useLibraries();
  let opened: TestLibrary;
  const write = (fields: string, file = 'p.yaml'): string => writeFile(file, pipelineText('p', fields));
  const read = (): string => readFile('p.yaml');
  const open = async (isWritable = true): Promise<TestLibrary> =>
    (opened = await start({ isWritable, clock: clockAt('2026-01-01T05:59:30Z') }));
  const pause = (isPaused: boolean, more: Partial<PauseRequest> = {}): Promise<SavedFile | undefined> =>
    opened.library.saving.pause({
      tenantId: 'default',
      id: 'p',
      isPaused,
      mayRun: true,
      hold: () => {},
      ...more,
    });
  const refuse = async (pausing: Promise<unknown>): Promise<FileChangedError> =>
    (await catchRejection(pausing)) as FileChangedError;
  const EACH = 'schedule: "* * * * *", overlap: allow';

  it('writes it into the file, and it counts at once, as does resuming it', async () => {
    write(EACH);
    await open();
    const saved = await pause(true);
    expect(saved).to.include({ file: 'p.yaml', ok: true });
    expect(read()).to.equal(pipelineText('p', `paused: true, ${EACH}`));
    expect((await opened.show('p')).schedule).to.deep.include({ paused: true, next_runs: [] });
    await opened.pass(5 * MINUTE);
    expect(opened.runs).to.have.length(0);
    await pause(false);
    expect(read()).to.equal(pipelineText('p', `paused: false, ${EACH}`));
    await settle(5);
    expect((await opened.show('p')).schedule?.next_runs[0]).to.equal('2026-01-01T06:05:00.000Z');
    await opened.pass(MINUTE);
    expect(opened.creationTimes).to.deep.equal(['06:05']);
  });

  it('writes nothing when the file says so already', async () => {
    write(`${EACH}, paused: true`);
    await open();
    const first = await pause(true);
    expect(await pause(true)).to.deep.equal(first);
    expect(opened.log).to.not.include('a file of SERVICE_PIPELINES was saved');
  });

  it('is refused when the file changes meanwhile, so that no change of others is lost', async () => {
    write(EACH);
    await open();
    const release = opened.parser.hold('paused: true');
    const pausing = refuse(pause(true));
    while (opened.parser.count('paused: true') === 0) await settle();
    write('schedule: "@daily"');
    release();
    expect(await pausing).to.include({ code: 'file_changed' });
    expect(read()).to.equal(pipelineText('p', 'schedule: "@daily"'));
  });

  it('lets one of two succeed who save the same version at once', async () => {
    write(EACH);
    await open();
    const { version } = (await pause(false)) as SavedFile;
    const text = pipelineText('p', EACH, 'another goal');
    const save = { tenantId: 'default', id: 'p', text, expected: version, mayRun: true };
    const results = await Promise.allSettled([opened.library.saving.save(save), pause(true)]);
    expect(results.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
  });

  it('counts as one of the saves that a tenant has at once (D25)', async () => {
    write(EACH);
    await open();
    const release = opened.parser.hold('schedule');
    const first = Array.from({ length: LIBRARY_LIMITS.tenantSaves }, () =>
      pause(true).catch(() => undefined),
    );
    expect(await refuse(pause(true))).to.include({ code: 'queue_full' });
    release();
    await Promise.all(first);
    expect(await pause(false)).to.include({ ok: true });
  });

  it('takes the memory for the file before it is read, and is refused without', async () => {
    const text = pipelineText('p', EACH);
    write(EACH);
    await open();
    const held: number[] = [];
    await pause(true, { hold: (bytes) => void held.push(bytes) });
    expect(held).to.deep.equal([3 * text.length]);
    const hold = (): never => {
      throw new Error('no memory');
    };
    expect(await refuse(pause(false, { hold }))).to.include({ message: 'no memory' });
    expect(read()).to.contain('paused: true');
  });

  it('is dropped when the caller has left before it was written', async () => {
    write(EACH);
    await open();
    expect(await pause(true, { signal: AbortSignal.abort() })).to.equal(undefined);
    expect(read()).to.equal(pipelineText('p', EACH));
  });

  it('is refused in a folder that is only read, and through a link', async () => {
    write(EACH);
    await open(false);
    expect(await refuse(pause(true))).to.include({ code: 'forbidden' });
    expect(read()).to.equal(pipelineText('p', EACH));
    await close(opened);
    rmSync(folder.at('pipelines/p.yaml'));
    write(EACH, 'deep/p.txt');
    symlinkSync(folder.at('pipelines/deep/p.txt'), folder.at('pipelines/p.yaml'));
    await open();
    expect(await refuse(pause(true))).to.include({ code: 'forbidden' });
    expect(read()).to.equal(pipelineText('p', EACH));
  });

  it('is refused without the scope run, and for ids of other tenants', async () => {
    write(EACH, 'tenants/acme/p.yaml');
    await open();
    expect(await refuse(pause(true))).to.include({ code: 'pipeline_not_found' });
    expect(await refuse(pause(true, { tenantId: 'acme', mayRun: false }))).to.include({ code: 'forbidden' });
    expect(await pause(true, { tenantId: 'acme' })).to.include({ file: 'tenants/acme/p.yaml', ok: true });
  });

  it('is refused for a file with errors, whose earlier version would go on', async () => {
    for (const broken of ['pipeline: {id: p', pipelineText('p', `${EACH}, overlop: skip`)]) {
      write(EACH);
      await open();
      folder.write('pipelines/p.yaml', broken);
      await opened.look();
      const error = await refuse(pause(true));
      expect(error).to.include({ code: 'invalid_request' });
      expect(error.message).to.contain('the file has errors');
      expect(read()).to.equal(broken);
      await opened.close();
    }
  });

  it('is refused for a definition without a schedule', async () => {
    write('');
    await open();
    expect(await refuse(pause(true))).to.include({ code: 'invalid_request' });
  });
});
