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

  it('has the inputs and the errors of the first 20 tasks and items that failed in its head, cut to 4,000 characters', async () => {
    const items = Array.from({ length: 30 }, (_, index) => `${index} ${'x'.repeat(6000)}`);
    const each = {
      id: 'each',
      tool: 'fail',
      parallel_over: '{{pipeline.inputs.items}}',
      inputs: { message: 'no {{item}}' },
      on_item_error: 'collect',
    };
    const { run_id: runId } = await client.submit({
      pipeline: { id: 'p', goal: 'g', inputs: { items }, tasks: [each] },
    });
    await client.settled(runId);
    folder.write('failed.wtrec', await (await client.recording(runId)).text());
    const { head } = await readRecording('failed.wtrec', folder.path);
    expect(head.failed_calls.map((call) => ('item' in call ? call.item : null))).to.deep.equal([
      null,
      ...Array.from({ length: 19 }, (_, index) => index),
    ]);
    for (const { inputs, error, cut } of head.failed_calls.slice(1)) {
      expect(JSON.stringify(inputs).length).to.be.within(1900, 4200);
      expect(error?.message.length).to.be.within(1, 4200);
      expect(cut).to.include('/inputs/message');
    }
  });

  it('of an unknown run rejects with run_not_found', async () => {
    const unknown = '019b7600-0000-7000-8000-000000000000';
    expect(await catchRejection(client.recording(unknown))).to.include({ code: 'run_not_found' });
  });
});
