import { expect } from 'chai';
import { countFaults, Trial } from '../../../scripts/kill/trial.js';
import { requireBuild } from '../../project/files.js';
import { cases } from '../../support/measuring/cases.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

describe('A server that is killed again and again by SIGKILL (D68)', () => {
  const folder = new TemporaryFolder();

  before(() => requireBuild());

  after(() => folder.remove());

  it('loses no run, repeats no outcome, and ends every run as one that nobody disturbed', async () => {
    const found: string[] = [];
    // The server's own tools kill it, when so many calls have begun or returned: however busy the machine is.
    const moments = [0.06, 0.31, 0.5, 0.7];
    let starts = 0;
    const random = (): number => moments[starts++ % moments.length] as number;
    const trial = new Trial({
      folder: folder.path,
      random,
      isTimed: false,
      print: (line) => found.push(line),
    });
    // Four, and in `npm run spec:long` more.
    const kills = Math.min(16, cases(8).numRuns);
    const figures = await trial.run(kills);
    expect(countFaults(figures), found.join('\n')).to.equal(0);
    expect(figures.kills).to.be.at.least(kills);
    expect(figures.runs).to.be.at.least(10);
  });
});
