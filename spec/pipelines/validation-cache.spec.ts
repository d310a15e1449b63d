import { expect } from 'chai';
import { LocalExecutor } from '../../lib/execution/local-executor.js';
import { type CheckSteps, checkToEnd, type DefinitionInput } from '../../lib/definition/text/source.js';
import { createCheckContext } from '../../lib/pipelines/check-context.js';
import { checkInSteps } from '../../lib/pipelines/check.js';
import type { CheckResult, Pipeline, RunValues } from '../../lib/pipelines/pipeline.js';
import { ValidationCache } from '../../lib/pipelines/validation-cache.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';

const DEFINITION = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock', inputs: { x: [1] } }] };
const READER = {
  id: 'p',
  goal: 'g',
  tasks: [{ id: 'a', tool: 'mock', inputs: { x: '{{pipeline.inputs.k}}' } }],
};

const catalog = builtinCatalog();

function check(cache: ValidationCache, input: DefinitionInput, values: RunValues): CheckSteps<CheckResult> {
  return cache.get(input, values, () => checkInSteps(input, createCheckContext({ ...values, catalog })));
}

function pipelineOf(steps: CheckSteps<CheckResult>): Pipeline {
  const result = checkToEnd(steps);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.pipeline;
}

describe('ValidationCache', () => {
  it('checks a definition once for all callers that send it (D8)', () => {
    const cache = new ValidationCache();
    const first = pipelineOf(check(cache, { value: DEFINITION }, {}));

    expect(pipelineOf(check(cache, { value: structuredClone(DEFINITION) }, {}))).to.equal(first);
    expect(pipelineOf(check(cache, { value: { ...DEFINITION, goal: 'h' } }, {})).definition.goal).to.equal(
      'h',
    );
  });

  it('caches texts and objects separately, because only texts have lines', () => {
    const cache = new ValidationCache();
    const text = JSON.stringify(DEFINITION);
    const first = pipelineOf(check(cache, { text }, {}));

    expect(pipelineOf(check(cache, { text }, {}))).to.equal(first);
    expect(pipelineOf(check(cache, { value: DEFINITION }, {}))).not.to.equal(first);
  });

  it('reuses a result only for the same keys of inputs and session (D5, D9)', () => {
    const cache = new ValidationCache();
    const withInputs = pipelineOf(check(cache, { value: READER }, { inputs: { k: 1 } }));

    expect(checkToEnd(check(cache, { value: READER }, {})).ok).to.equal(false);
    expect(checkToEnd(check(cache, { value: READER }, { inputs: { j: 1 } })).ok).to.equal(false);
    expect(checkToEnd(check(cache, { value: READER }, { session: { k: 1 } })).ok).to.equal(false);
    expect(pipelineOf(check(cache, { value: READER }, { inputs: { k: 2 } }))).to.equal(withInputs);
  });

  it('keeps long definitions by their hash, once each, however many callers check them at once', () => {
    const named = (id: string) => ({ ...DEFINITION, id, description: 'd'.repeat(100_000) });
    const none = new ValidationCache(0);
    const { sizeBytes } = pipelineOf(check(none, { value: named('p0') }, {}));
    const cache = new ValidationCache(2 * (sizeBytes + 200));
    const together = Array.from({ length: 5 }, () => check(cache, { value: named('p0') }, {}));
    for (const steps of together) expect(steps.next().done).to.equal(false);
    const [first] = together.map(pipelineOf);
    const other = pipelineOf(check(cache, { value: named('p1') }, {}));

    expect(pipelineOf(check(cache, { value: named('p0') }, {}))).to.equal(first);
    expect(pipelineOf(check(cache, { value: named('p1') }, {}))).to.equal(other);
  });

  it('writes a long definition in steps to find whether it was checked before', () => {
    const list = Array.from({ length: 100_000 }, (_, index) => index);
    const value = { ...DEFINITION, inputs: { list } };
    const cache = new ValidationCache(Number.POSITIVE_INFINITY);
    const first = pipelineOf(check(cache, { value }, {}));
    const steps = check(cache, { value: structuredClone(value) }, {});
    let [step, count] = [steps.next(), 0];
    for (; step.done !== true; count++) step = steps.next();
    expect(count).to.be.within(8, 10);
    expect(step.value).to.have.property('pipeline', first);
  });

  it('evicts the oldest entries when later ones need the memory', () => {
    const named = (id: string) => ({ ...DEFINITION, id });
    const none = new ValidationCache(0);
    const { sizeBytes } = pipelineOf(check(none, { value: DEFINITION }, {}));
    const cache = new ValidationCache(2 * (sizeBytes + 2 * 200));
    const first = pipelineOf(check(cache, { value: named('p0') }, {}));
    expect(pipelineOf(check(cache, { value: named('p0') }, {}))).to.equal(first);
    for (const id of ['p1', 'p2', 'p3']) pipelineOf(check(cache, { value: named(id) }, {}));
    const last = pipelineOf(check(cache, { value: named('p3') }, {}));

    expect(pipelineOf(check(cache, { value: named('p3') }, {}))).to.equal(last);
    expect(pipelineOf(check(cache, { value: named('p0') }, {}))).not.to.equal(first);
    expect(pipelineOf(check(none, { value: DEFINITION }, {}))).not.to.equal(
      pipelineOf(check(none, { value: DEFINITION }, {})),
    );
  });

  it('returns pipelines that runs can share: each has its own outputs, and none changes the definition', async () => {
    const cache = new ValidationCache();
    const pipeline = pipelineOf(check(cache, { value: READER }, { inputs: { k: 1 } }));
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
