import { expect } from 'chai';
import type { InspectionList } from '../../../lib/runs/inspection/entry.js';
import { ControlledServer } from '../support/controlled-server.js';

const AT_ONCE = 50;

describe('Recordings and lists of a run with many entries', () => {
  const fixture = new ControlledServer();
  let runId: string;
  let lastSeq: number;

  before(async () => {
    await fixture.open({ env: { SERVICE_MEMORY: '16' } });
    const items = Array.from({ length: 250 }, (_, index) => index);
    const fans = Array.from({ length: 12 }, (_, index) => ({
      id: `e${index}`,
      tool: 'mock',
      parallel_over: '{{pipeline.inputs.items}}',
      inputs: { output: '{{item}} ж' },
      await: ['first'],
    }));
    runId = await fixture.submit({
      id: 'p',
      goal: 'g',
      inputs: { items },
      tasks: [{ id: 'first', tool: 'controlled' }, ...fans],
    });
    const { registry } = fixture.server;
    const { log, close } = await registry.queries.inspection(runId);
    const settled = registry.settled(runId);
    fixture.findCall(runId).resolve(1);
    await settled;
    close();
    lastSeq = log.lastSeq;
    expect(lastSeq).to.be.above(6000);
  });
  after(() => fixture.close());

  const ask = (what: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${fixture.server.url}/pipelines/runs/${runId}/${what}`, init);

  it('are sent in chunks: fifty recordings at once fit into the memory of a small server, each of them whole', async () => {
    const texts = await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const response = await ask('recording');
        expect(response.status).to.equal(200);
        return response.text();
      }),
    );
    const lines = texts.map((text) => text.split('\n'));
    for (const [head, ...rest] of lines) {
      expect(JSON.parse(head ?? '')).to.have.nested.property('run.run_id', runId);
      expect(rest).to.have.length(lastSeq + 2);
      expect(JSON.parse(rest[lastSeq] ?? '')).to.deep.equal({ end: true, entries: lastSeq, dropped: 0 });
    }
  });

  it('let other requests have their turn', async () => {
    let isRead = false;
    const reading = Promise.all(Array.from({ length: 5 }, async () => (await ask('recording')).text())).then(
      () => (isRead = true),
    );
    let answered = 0;
    while (!isRead) {
      expect((await fixture.request('GET', '/pipelines/tools')).status).to.equal(200);
      answered++;
    }
    await reading;
    expect(answered).to.be.above(5);
  });

  it('keep the run while they are read, however many there are at once: none gets run_not_found', async () => {
    const lists = await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const response = await ask('inspection?limit=10000', { headers: { accept: 'application/json' } });
        return { status: response.status, text: await response.text() };
      }),
    );
    const statuses = new Set(lists.map(({ status }) => status));
    statuses.delete(503);
    expect([...statuses]).to.deep.equal([200]);
    expect((await ask('inspection?limit=1', { headers: { accept: 'application/json' } })).status).to.equal(
      200,
    );
  });

  it('have pages of a mebibyte, which follow each other', async () => {
    const seqs: number[] = [];
    let pages = 0;
    while (seqs.length < lastSeq) {
      const after = seqs.at(-1) ?? 0;
      const response = await ask(`inspection?limit=10000&after=${after}`, {
        headers: { accept: 'application/json' },
      });
      const text = await response.text();
      expect(text.length).to.be.below(2 ** 20 + 500);
      const { entries, last_seq } = JSON.parse(text) as InspectionList;
      expect(last_seq).to.equal(lastSeq);
      seqs.push(...entries.map(({ seq }) => seq));
      pages++;
    }
    expect(pages).to.be.above(1);
    expect(seqs).to.deep.equal(Array.from({ length: lastSeq }, (_, index) => index + 1));
  });

  it('need no look at the run to answer HEAD', async () => {
    const other = await fixture.submit({ id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] });
    const response = await fetch(`${fixture.server.url}/pipelines/runs/${other}/recording`, {
      method: 'HEAD',
    });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-disposition')).to.include(`${other}.wtrec`);
    await fixture.complete(other);
  });
});
