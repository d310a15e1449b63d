import { expect } from 'chai';
import { systemClock } from '../../../lib/common/clock.js';
import { MODEL_LIMITS } from '../../../lib/common/limits.js';
import { systemContext } from '../../../lib/cli/context.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { type Reply, replyInParts, useModelServer } from '../../models/model-server.js';
import { WIRES } from '../../models/wires.js';
import { deferred, settle } from '../../support/deferred.js';

describe('The runs of one MCP host (D59)', () => {
  const server = useModelServer();

  it('have no more requests to a model in flight together than one run', async () => {
    const [wire] = WIRES;
    if (wire === undefined) throw new Error('no wires');
    const answered = deferred<undefined>();
    const good = replyInParts(wire.type, wire.parts({ texts: ['hi'] }), 'end');
    const held: Reply = (response) => void answered.promise.then(() => good(response));
    server.reply(held);
    const tasks = Array.from({ length: MODEL_LIMITS.inFlight }, (_, i) => ({
      id: `t${i}`,
      tool: 'llm_job',
      inputs: { prompt: 'Say hi', model: wire.model },
    }));
    const pipeline = parsePipeline(JSON.stringify({ id: 'p', goal: 'g', tasks }));
    const { openRegistry } = systemContext();
    const runs = [1, 2].map(async () => {
      const registry = await openRegistry([], systemClock, wire.variables(server.url, 'key'));
      return await registry.queries.settled(await registry.submit({ pipeline }));
    });
    while (server.requests.length < MODEL_LIMITS.inFlight) await settle();
    await settle(50);
    expect(server.requests).to.have.length(MODEL_LIMITS.inFlight);
    answered.resolve(undefined);
    for (const { status } of await Promise.all(runs)) expect(status).to.equal('succeeded');
    expect(server.requests).to.have.length(2 * MODEL_LIMITS.inFlight);
  });
});
