import { expect } from 'chai';
import { WavetrainClient } from '../../lib/client/index.js';
import { readRecording } from '../../lib/cli/runs/inspection/read-recording.js';
import { catchRejection } from '../support/rejection.js';
import { TemporaryFolder } from '../support/temporary-folder.js';
import { type TestServer, startTestServer } from '../support/http/test-server.js';

describe('The recording that the client downloads', () => {
  let server: TestServer;
  let client: WavetrainClient;
  const folder = new TemporaryFolder();

  before(async () => {
    server = await startTestServer();
    client = new WavetrainClient({ url: server.url });
  });
  after(async () => {
    folder.remove();
    await server.close(0);
  });

  it('is one that `wavetrain inspect` opens, with the entries that the inspection lists', async () => {
    const pipeline = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };
    const { run_id: runId } = await client.submit({ pipeline });
    await client.settled(runId);
    const response = await client.recording(runId);
    expect(response.headers.get('content-type')).to.equal('application/x-ndjson');
    folder.write('out.wtrec', await response.text());
    const { head, entries, dropped } = await readRecording('out.wtrec', folder.path);
    expect(head.run).to.include({ run_id: runId, status: 'succeeded' });
    expect(dropped).to.equal(0);
    const list = await client.inspection(runId);
    expect(entries.map(({ json }) => JSON.parse(json))).to.deep.equal(list.entries);
  });

  it('of an unknown run rejects with run_not_found', async () => {
    const unknown = '019b7600-0000-7000-8000-000000000000';
    expect(await catchRejection(client.recording(unknown))).to.include({ code: 'run_not_found' });
  });
});
