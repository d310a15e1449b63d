import { expect } from 'chai';
import { LocalExecutor } from '../../lib/execution/local-executor.js';
import { checkToEnd, type CheckSteps } from '../../lib/definition/check-steps.js';
import type { CheckResult } from '../../lib/pipelines/pipeline.js';
import { ValidationCache } from '../../lib/pipelines/validation-cache.js';
import type { Pipeline } from '../../lib/pipelines/pipeline.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';

const DEFINITION = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock', inputs: { x: [1] } }] };
const READER = {
  id: 'p',
  goal: 'g',
  tasks: [{ id: 'a', tool: 'mock', inputs: { x: '{{pipeline.inputs.k}}' } }],
};

function pipelineOf(steps: CheckSteps<CheckResult>): Pipeline {
  const check = checkToEnd(steps);
  if (!check.ok) throw new Error(JSON.stringify(check.problems));
  return check.pipeline;
}

describe('ValidationCache', () => {
  it('checks a definition once for all callers that send it (D8)', () => {
    const cache = new ValidationCache(builtinCatalog());
    const first = pipelineOf(cache.check({ value: DEFINITION }, {}));

    expect(pipelineOf(cache.check({ value: structuredClone(DEFINITION) }, {}))).to.equal(first);
    expect(pipelineOf(cache.check({ value: { ...DEFINITION, goal: 'h' } }, {})).definition.goal).to.equal(
      'h',
    );
  });

  it('caches texts and objects separately, because only texts have lines', () => {
    const cache = new ValidationCache(builtinCatalog());
    const text = JSON.stringify(DEFINITION);
    const first = pipelineOf(cache.check({ text }, {}));

    expect(pipelineOf(cache.check({ text }, {}))).to.equal(first);
    expect(pipelineOf(cache.check({ value: DEFINITION }, {}))).not.to.equal(first);
  });

  it('reuses a result only for the same keys of inputs and session (D5, D9)', () => {
    const cache = new ValidationCache(builtinCatalog());
    const withInputs = pipelineOf(cache.check({ value: READER }, { inputs: { k: 1 } }));

    expect(checkToEnd(cache.check({ value: READER }, {})).ok).to.equal(false);
    expect(checkToEnd(cache.check({ value: READER }, { inputs: { j: 1 } })).ok).to.equal(false);
    expect(checkToEnd(cache.check({ value: READER }, { session: { k: 1 } })).ok).to.equal(false);
    expect(pipelineOf(cache.check({ value: READER }, { inputs: { k: 2 } }))).to.equal(withInputs);
  });

  it('keeps long definitions by their hash, once each, however many callers check them at once', () => {
    const named = (id: string) => ({ ...DEFINITION, id, description: 'd'.repeat(100_000) });
    const none = new ValidationCache(builtinCatalog(), 0);
    const { sizeBytes } = pipelineOf(none.check({ value: named('p0') }, {}));
    const cache = new ValidationCache(builtinCatalog(), 2 * (sizeBytes + 200));
    const together = Array.from({ length: 5 }, () => cache.check({ value: named('p0') }, {}));
    for (const steps of together) expect(steps.next().done).to.equal(false);
    const [first] = together.map(pipelineOf);
    const other = pipelineOf(cache.check({ value: named('p1') }, {}));

    expect(pipelineOf(cache.check({ value: named('p0') }, {}))).to.equal(first);
    expect(pipelineOf(cache.check({ value: named('p1') }, {}))).to.equal(other);
  });

  it('writes a long definition in steps to find whether it was checked before', () => {
    const list = Array.from({ length: 100_000 }, (_, index) => index);
    const value = { ...DEFINITION, inputs: { list } };
    const cache = new ValidationCache(builtinCatalog(), Number.POSITIVE_INFINITY);
    const first = pipelineOf(cache.check({ value }, {}));
    const steps = cache.check({ value: structuredClone(value) }, {});
    let [step, count] = [steps.next(), 0];
    for (; step.done !== true; count++) step = steps.next();
    expect(count).to.be.within(8, 10);
    expect(step.value).to.have.property('pipeline', first);
  });

  it('evicts the oldest entries when later ones need the memory', () => {
    const named = (id: string) => ({ ...DEFINITION, id });
    const none = new ValidationCache(builtinCatalog(), 0);
    const { sizeBytes } = pipelineOf(none.check({ value: DEFINITION }, {}));
    const cache = new ValidationCache(builtinCatalog(), 2 * (sizeBytes + 2 * 200));
    const first = pipelineOf(cache.check({ value: named('p0') }, {}));
    expect(pipelineOf(cache.check({ value: named('p0') }, {}))).to.equal(first);
    for (const id of ['p1', 'p2', 'p3']) pipelineOf(cache.check({ value: named(id) }, {}));
    const last = pipelineOf(cache.check({ value: named('p3') }, {}));

    expect(pipelineOf(cache.check({ value: named('p3') }, {}))).to.equal(last);
    expect(pipelineOf(cache.check({ value: named('p0') }, {}))).not.to.equal(first);
    expect(pipelineOf(none.check({ value: DEFINITION }, {}))).not.to.equal(
      pipelineOf(none.check({ value: DEFINITION }, {})),
    );
  });

  it('returns pipelines that runs can share: each has its own outputs, and none changes the definition', async () => {
    const cache = new ValidationCache(builtinCatalog());
    const pipeline = pipelineOf(cache.check({ value: READER }, { inputs: { k: 1 } }));
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
