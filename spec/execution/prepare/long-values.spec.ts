import { expect } from 'chai';
import type { JsonObject } from '../../../lib/common/json.js';
import { runToEnd } from '../../../lib/common/steps.js';
import { freezeInSteps, hasLongValues, prepareRun } from '../../../lib/execution/prepare/prepare-run.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { RunRegistry } from '../../../lib/runs/registry.js';

const pipeline = parsePipeline('pipeline: {id: long, goal: g, tasks: [{id: a, tool: mock}]}');

function manyKeys(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, index]));
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
    const steps = freezeInSteps(run);
    let [step, count] = [steps.next(), 0];
    for (; step.done !== true; count++) step = steps.next();
    expect(count).to.be.within(44, 46);
    const { inputs } = step.value;
    expect(inputs).to.deep.equal(run.inputs);
    const prepared = prepareRun(step.value, undefined, undefined, 'run');
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
