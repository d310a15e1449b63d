import { expect } from 'chai';
import { type RegistryApi, systemContext } from '../../../lib/cli/context.js';
import { loadHostDefinition } from '../../../lib/cli/mcp-host/host-definition.js';
import { HostRuns } from '../../../lib/cli/mcp-host/host-runs.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { deferred } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';

describe('The runs of an MCP host', () => {
  it('are at most 8 at once, also when all calls come before the first run has begun', async () => {
    let opened = 0;
    const opening = deferred<RegistryApi>();
    const context = {
      ...systemContext(),
      env: {},
      openRegistry: () => {
        opened++;
        return opening.promise;
      },
    };
    const runs = new HostRuns(context);
    const pipeline = '{pipeline: {id: p, goal: g, tasks: [{id: a, tool: mock}]}}';
    const loaded = await loadHostDefinition({ pipeline }, builtinCatalog(), context, true);
    const values = {};
    const call = { signal: new AbortController().signal, report: undefined, host: 'desk' };
    const run = (): Promise<Error> =>
      catchRejection(runs.run(loaded, values, call)).then((error) => error as Error);
    const first = Array.from({ length: 8 }, run);
    expect((await run()).message).to.contain('8 runs are at work already');
    opening.reject(new Error('no registry'));
    for (const { message } of await Promise.all(first)) expect(message).to.equal('no registry');
    expect((await run()).message).to.equal('no registry');
    expect(opened).to.equal(9);
  });
});
