import { expect } from 'chai';
import { type Invocation, invoke } from '../invoke.js';
import { HELLO, useRunsServer } from './runs-server.js';

describe('inspect RUN_ID (D42)', () => {
  const server = useRunsServer();
  let runId: string;
  before(async () => {
    runId = await server.settled(HELLO);
  });

  const opened: string[] = [];
  beforeEach(() => void (opened.length = 0));

  const inspect = (...argv: string[]): Promise<Invocation> =>
    invoke(['inspect', ...argv], {
      env: { WAVETRAIN_SERVER: `${server.url}/` },
      openUrl: (url) => void opened.push(url),
    });

  it('prints the address of the page on the server, for a whole id or the end of one', async () => {
    const page = { status: 0, stdout: `${server.url}/inspect/${runId}\n`, stderr: '' };
    expect(await inspect(runId)).to.deep.equal(page);
    expect(await inspect(runId.slice(-8))).to.deep.equal(page);
    expect(await fetch(`${server.url}/inspect/${runId}`)).to.include({ status: 200 });
    expect(opened).to.deep.equal([]);
  });

  it('opens the page in the browser of this machine with --open', async () => {
    expect(await inspect(runId, '--open')).to.include({ status: 0 });
    expect(opened).to.deep.equal([`${server.url}/inspect/${runId}`]);
  });

  it('asks the server that --server names', async () => {
    const found = await invoke(['inspect', runId, '--server', server.url]);
    expect(found).to.include({ status: 0, stdout: `${server.url}/inspect/${runId}\n` });
  });

  it('says that there is no such run, and opens nothing', async () => {
    const { status, stdout, stderr } = await inspect('00000000', '--open');
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr).to.include('00000000');
    expect(opened).to.deep.equal([]);
  });
});
