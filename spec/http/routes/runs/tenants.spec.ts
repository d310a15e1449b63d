import { expect } from 'chai';
import type { RunPage } from '../../../../lib/runs/views/run-listing.js';
import { ControlledServer } from '../../support/controlled-server.js';
import { createApiKey } from '../../../support/http/api-key.js';

const KEYS = [
  createApiKey('alice', ['alice']),
  createApiKey('bob', ['bob']),
  createApiKey('reader', ['alice'], ['read']),
];

const as = (key: string) => ({ 'x-api-key': key });

describe('The runs of other tenants (D35, D37)', () => {
  const fixture = new ControlledServer();
  let alices = '';
  before(async () => {
    await fixture.open({ keys: KEYS, env: { SERVICE_MAX_RUNNING: '1', SERVICE_TENANT_SHARE: '0' } });
    const pipeline = { id: 'p', goal: 'secret plans', tasks: [{ id: 'a', tool: 'controlled' }] };
    for (let run = 0; run < 2; run++) {
      const { body } = await fixture.server.request<{ run_id: string }>(
        'POST',
        '/pipelines/run_async',
        { pipeline },
        as('alice'),
      );
      alices ||= body.run_id;
    }
    await fixture.waitUntilIdle();
  });
  after(() => fixture.close());

  const list = (key: string, query: string) =>
    fixture.server.request<RunPage>('GET', `/pipelines/runs${query}`, undefined, as(key));

  it('are not in the list, the counts and the queue of a key, whatever it asks for', async () => {
    const nothing = {
      runs: [],
      next_cursor: null,
      counts: { queued: 0, running: 0, paused: 0, succeeded: 0, failed: 0, cancelled: 0 },
      queue: { queued: 0, waits_for: null },
      retention: { oldest: null, max_age_seconds: 86400, max_runs: 1000, max_bytes: null },
    };
    for (const query of ['', '&text=secret', `&text=${alices}`, '&tenant_id=alice', '&pipeline_id=p']) {
      expect((await list('bob', `?counts=true${query}`)).body, query).to.deep.equal(nothing);
    }
    const own = (await list('alice', '?counts=true')).body;
    expect(own.counts).to.include({ queued: 1, running: 1 });
    expect(own.queue).to.deep.equal({ queued: 1, waits_for: 'server' });
  });

  it('do not change the version of the list of a key', async () => {
    const etag = async (key: string) => (await list(key, '?counts=true')).headers.get('etag');
    const before = { alice: await etag('alice'), bob: await etag('bob') };
    await fixture.complete(alices);
    expect(await etag('bob')).to.equal(before.bob);
    expect(await etag('alice')).to.not.equal(before.alice);
  });
});
