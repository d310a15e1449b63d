import { expect } from 'chai';
import { mkdirSync } from 'node:fs';
import { type KeptSchedule, ScheduleFile } from '../../../lib/library/schedules/schedule-file.js';
import { useTemporaryFolder } from '../../support/temporary-folder.js';

describe('The file that says how far schedules have come (D70)', () => {
  const folder = useTemporaryFolder();

  it('has what was saved in the moment in which it was last written', async () => {
    let kept: KeptSchedule[] = [];
    const path = folder.at('missing/schedules.json');
    const nothing = { last: null, run_id: null, waiting: null };
    const last: KeptSchedule = { tenant_id: 'default', id: 'a', schedule: '', handled_at: 1, ...nothing };
    const warn = (): void => {
      mkdirSync(folder.at('missing'));
      // The writing has ended by then, and nobody knows of that yet.
      queueMicrotask(() => {
        kept = [last];
        file.save();
      });
    };
    const file = new ScheduleFile(path, { info: () => {}, warn }, () => kept);
    file.save();
    await file.idle();
    expect(await ScheduleFile.read(path)).to.deep.equal([last]);
  });
});
