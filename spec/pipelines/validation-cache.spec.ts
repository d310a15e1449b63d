import { expect } from 'chai';
import { LocalExecutor } from '../../lib/execution/local-executor.js';
import type { Check } from '../../lib/pipelines/check.js';
import { KnownPipelines } from '../../lib/pipelines/validation-cache.js';
import type { Pipeline } from '../../lib/pipelines/pipeline.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';

const DEFINITION = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock', inputs: { x: [1] } }] };
const READER = {
  id: 'p',
  goal: 'g',
  tasks: [{ id: 'a', tool: 'mock', inputs: { x: '{{pipeline.inputs.k}}' } }],
};

function pipelineOf(check: Check): Pipeline {
  if (!check.ok) throw new Error(JSON.stringify(check.problems));
  return check.pipeline;
}

describe('the pipelines that are known', () => {
  it('are checked once for all who send the same (D8)', () => {
    const known = new KnownPipelines(builtinCatalog());
    const first = pipelineOf(known.ofValue(DEFINITION, {}));

    expect(pipelineOf(known.ofValue(structuredClone(DEFINITION), {}))).to.equal(first);
    expect(pipelineOf(known.ofValue({ ...DEFINITION, goal: 'h' }, {})).definition.goal).to.equal('h');
  });

  it('are known as text and as objects apart: only text has lines', () => {
    const known = new KnownPipelines(builtinCatalog());
    const text = JSON.stringify(DEFINITION);
    const first = pipelineOf(known.ofText(text, {}));

    expect(pipelineOf(known.ofText(text, {}))).to.equal(first);
    expect(pipelineOf(known.ofValue(DEFINITION, {}))).not.to.equal(first);
  });

  it('are good only with the same keys of inputs and session (D5, D9)', () => {
    const known = new KnownPipelines(builtinCatalog());
    const withInputs = pipelineOf(known.ofValue(READER, { inputs: { k: 1 } }));

    expect(known.ofValue(READER, {}).ok).to.equal(false);
    expect(known.ofValue(READER, { inputs: { j: 1 } }).ok).to.equal(false);
    expect(known.ofValue(READER, { session: { k: 1 } }).ok).to.equal(false);
    expect(pipelineOf(known.ofValue(READER, { inputs: { k: 2 } }))).to.equal(withInputs);
  });

  it('are forgotten when later ones need the room, the first first', () => {
    const named = (id: string) => ({ ...DEFINITION, id });
    const none = new KnownPipelines(builtinCatalog(), 0);
    const { weight } = pipelineOf(none.ofValue(DEFINITION, {}));
    const known = new KnownPipelines(builtinCatalog(), 2 * (weight + 2 * 200));
    const first = pipelineOf(known.ofValue(named('p0'), {}));
    expect(pipelineOf(known.ofValue(named('p0'), {}))).to.equal(first);
    for (const id of ['p1', 'p2', 'p3']) known.ofValue(named(id), {});
    const last = pipelineOf(known.ofValue(named('p3'), {}));

    expect(pipelineOf(known.ofValue(named('p3'), {}))).to.equal(last);
    expect(pipelineOf(known.ofValue(named('p0'), {}))).not.to.equal(first);
    expect(pipelineOf(none.ofValue(DEFINITION, {}))).not.to.equal(pipelineOf(none.ofValue(DEFINITION, {})));
  });

  it('may be shared by runs: each has its own outputs, and none changes the definition', async () => {
    const known = new KnownPipelines(builtinCatalog());
    const pipeline = pipelineOf(known.ofValue(READER, { inputs: { k: 1 } }));
    const before = JSON.stringify(pipeline.definition);
    const executor = new LocalExecutor();
    const ids = await Promise.all([1, 2].map((k) => executor.submit({ pipeline, inputs: { k } })));
    const results = await Promise.all(ids.map((id) => executor.getResult(id)));

    for (const [i, { outputs }] of results.entries()) {
      expect(outputs['a']).to.deep.include({ inputs: { x: i + 1 }, call_count: 1 });
    }
    expect(results).to.have.length(2);
    expect(JSON.stringify(pipeline.definition)).to.equal(before);
  });
});
