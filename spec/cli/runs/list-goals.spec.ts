import { expect } from 'chai';
import { Recorder, Screen } from '../invoke.js';
import { FAILING, HELLO, useRunsServer } from './runs-server.js';

describe('wavetrain runs list: the last column', () => {
  const server = useRunsServer();

  before(() => server.settled(FAILING));

  it('ends each line with the goal, or the error of a run that failed, for --text and --label and on a wide terminal', async () => {
    const env = { WAVETRAIN_SERVER: server.url, NO_COLOR: '1' };
    const goal = 'Greet everybody who has asked for it,\nand say goodbye to everybody who has not';
    const runId = await server.settled({ ...HELLO, id: 'wordy', goal, labels: { team: 'ops' } });
    const list = async (args: string, columns?: number): Promise<string[]> => {
      const stdout = columns === undefined ? new Recorder() : new Screen(columns);
      await server.runs(`list ${args}`, { stdout, env });
      return stdout.text.trimEnd().split('\n');
    };
    const piped = await list('--label team=ops');
    expect(piped[0]).to.match(/^RUN ID .* PIPELINE +GOAL OR ERROR$/);
    expect(piped[1]).to.match(/^\S{36} .* wordy +Greet everybody .* goodbye to everybody who has not$/);
    expect((await list('--text no.luck'))[0]).to.equal('no runs found');
    expect((await list('--text luck'))[1]).to.match(/ failing +no luck$/);
    const [, narrow = ''] = await list('--text GOODBYE', 80);
    expect(narrow).to.match(new RegExp(`^${runId.slice(-12)} +succeeded .* 1/1 +wordy +Greet every.*…$`));
    expect(narrow).to.have.length(79);
    expect((await list('--text GOODBYE', 50))[0], 'no room').to.match(/TASKS +PIPELINE$/);
    expect((await list('--pipeline wordy', 119))[0]).to.match(/PIPELINE$/);
    const [, wide = ''] = await list('--pipeline wordy', 120);
    expect(wide).to.match(new RegExp(`^${runId} .* wordy +Greet everybody .*…$`));
    expect((await list('--pipeline failing --limit 1', 130))[1]).to.match(/ failing +no luck$/);
  });
});
