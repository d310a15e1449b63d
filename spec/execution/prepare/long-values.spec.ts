import { expect } from 'chai';
import type { JsonObject } from '../../../lib/common/json/json.js';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import { preparePlan } from '../../../lib/execution/prepare/prepare-plan.js';
import {
  freezeInSteps,
  hasLongValues,
  prepareRun,
  prepareRunInSteps,
  type WithSubmittedKeys,
} from '../../../lib/execution/prepare/prepare-run.js';
import type { PlanInputs } from '../../../lib/execution/prepare/run-inputs.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { checkPlanDefinition } from '../../../lib/plans/check.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';

const tasks = [{ id: 'a', tool: 'mock' }];
const pipeline = parsePipeline('pipeline: {id: long, goal: g, tasks: [{id: a, tool: mock}]}');

function manyKeys(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, index]));
}

function freeze<R extends Parameters<typeof freezeInSteps>[0]>(
  run: R,
): { readonly frozen: R & WithSubmittedKeys; readonly count: number } {
  const steps = freezeInSteps(run);
  let [step, count] = [steps.next(), 0];
  for (; step.done !== true; count++) step = steps.next();
  return { frozen: step.value, count };
}

describe('The values of a run with more than 5000 parts', () => {
  it('are recognised wherever they are', () => {
    expect(hasLongValues({ inputs: manyKeys(4000), session: { text: 'x'.repeat(1_000_000) } })).to.equal(
      false,
    );
    expect(hasLongValues({ inputs: manyKeys(6000) })).to.equal(true);
    expect(hasLongValues({ session: { list: Array.from({ length: 6000 }, () => 1) } })).to.equal(true);
  });

  it('are frozen in steps, of 1000 after the first 5000, and copied no more when the run is prepared', () => {
    const run = { pipeline, inputs: manyKeys(50_000) };
    const { frozen, count } = freeze(run);
    // The inputs are merged with the defaults in steps of 500 before.
    expect(count).to.be.within(144, 146);
    const { inputs } = frozen;
    expect(inputs).to.deep.equal(run.inputs);
    const prepared = prepareRun(frozen, undefined, undefined, 'run');
    expect(prepared.inputs).to.equal(inputs);
  });

  it('are frozen in steps as well when they are the defaults of the inputs (D5)', () => {
    const defaults = parsePipeline(
      JSON.stringify({ id: 'long', goal: 'g', inputs: manyKeys(6000), tasks: [{ id: 'a', tool: 'mock' }] }),
    );
    const run = { pipeline: defaults, inputs: { 'key 1': 'given' } };
    expect(hasLongValues(run)).to.equal(true);
    const { inputs } = runToEnd(freezeInSteps(run));
    expect(inputs).to.deep.equal({ ...manyKeys(6000), 'key 1': 'given' });
    const prepared = prepareRun({ ...run, inputs: inputs ?? {} }, undefined, undefined, 'run');
    expect(prepared.inputs).to.equal(inputs);
  });

  it('are frozen in steps as well when they are the defaults of params, and checked once', () => {
    const list = Array.from({ length: 50_000 }, () => 1);
    const defaults = parsePipeline(
      JSON.stringify({ id: 'long', goal: 'g', params: { p: { type: 'list', default: list } }, tasks }),
    );
    expect(hasLongValues({ pipeline: defaults })).to.equal(true);
    const { frozen, count } = freeze({ pipeline: defaults });
    expect(count).to.be.within(140, 160);
    expect(frozen.submittedKeys).to.deep.equal({ params: [], inputs: [] });
    const steps = prepareRunInSteps(frozen, undefined, undefined, 'run');
    const step = steps.next();
    expect(step.done === true && step.value.params['p']).to.deep.equal(list);
  });

  it('are frozen in steps as well when they are the defaults of the pipelines of a plan', () => {
    const params = { p: { type: 'list', default: Array.from({ length: 4000 }, () => 1) } };
    const sub_pipelines = ['a', 'b'].map((id) => ({
      id,
      inputs: ['given'],
      pipeline: { id, goal: 'g', params, inputs: { ...manyKeys(100), given: null }, tasks },
    }));
    const checked = checkPlanDefinition(
      { id: 'long', goal: 'g', inputs: { given: [1] }, sub_pipelines },
      { catalog: builtinCatalog() },
    );
    if (!checked.ok || checked.plan === undefined) throw new Error(JSON.stringify(checked.problems));
    const run: PlanInputs = { plan: checked.plan };
    expect(hasLongValues(run)).to.equal(true);
    const prepared = preparePlan(run, undefined, undefined, 'run');
    const { frozen } = freeze(run);
    const preparedInSteps = preparePlan(frozen, undefined, undefined, 'run');
    expect(preparedInSteps.sizeBytes).to.equal(prepared.sizeBytes);
    for (const name of ['a', 'b']) {
      const subRun = preparedInSteps.subRuns.get(name);
      expect(subRun?.params).to.deep.equal(prepared.subRuns.get(name)?.params);
      expect(subRun?.inputs).to.deep.equal({ ...manyKeys(100), given: [1] });
      expect(frozen.frozenSubRuns?.get(name)?.params).to.have.property('json', subRun?.params);
    }
  });

  it('are refused when the run is prepared, and not before, when a param is not valid', () => {
    const params = { list: Array.from({ length: 6000 }, () => 1) };
    const { frozen } = freeze({ pipeline, params });
    expect(() => prepareRun(frozen, undefined, undefined, 'run')).to.throw('there is no param "list"');
  });

  it('are refused like others when JSON cannot hold them', () => {
    const refused = { 'a function': () => 1, bytes: new Uint8Array(1) };
    for (const [kind, value] of Object.entries(refused)) {
      const inputs = { ...manyKeys(6000), value } as unknown as JsonObject;
      const message = `inputs holds ${kind}, which JSON cannot hold`;
      expect(() => runToEnd(freezeInSteps({ inputs }))).to.throw(message);
    }
  });

  it('run like others', async () => {
    const registry = new RunRegistry();
    const runId = await registry.submit({ pipeline, inputs: manyKeys(6000) });
    expect((await registry.settled(runId)).status).to.equal('succeeded');
  });
});
