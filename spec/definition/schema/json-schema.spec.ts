import { expect } from 'chai';
import { Ajv } from 'ajv';
import { pipelineJsonSchema, planJsonSchema } from '../../../lib/definition/schema/json-schema.js';

const PIPELINE = { id: 'p', goal: 'g', tasks: [{ id: 't', tool: 'mock' }] };

function accepts(schema: Record<string, unknown>): (value: unknown) => boolean {
  const validate = new Ajv({ allowUnionTypes: true }).compile(JSON.parse(JSON.stringify(schema)) as object);
  return (value) => validate(value);
}

describe('The JSON Schemas for editors (D3, D44)', () => {
  it('accept a pipeline under its key and bare', () => {
    const pipeline = accepts(pipelineJsonSchema());
    expect([PIPELINE, { pipeline: PIPELINE }].map(pipeline)).to.deep.equal([true, true]);
    expect([{}, { plan: PIPELINE }, { pipeline: {} }].map(pipeline)).to.deep.equal([false, false, false]);
  });

  it('accept a plan under its key and bare, and validate its inline pipelines', () => {
    const plan = accepts(planJsonSchema());
    const around = (pipeline: unknown) => ({
      id: 'p',
      sub_pipelines: [{ id: 'a', stores: ['x'], pipeline }],
    });
    expect([around(PIPELINE), { plan: around(PIPELINE) }].map(plan)).to.deep.equal([true, true]);
    expect([around({ id: 'p' }), { plan: around({}) }, { pipeline: PIPELINE }].map(plan)).to.deep.equal([
      false,
      false,
      false,
    ]);
    expect(plan({ id: 'p', sub_pipelines: [{ id: 'a', file: 'a.yaml' }, { id: 'b' }] })).to.be.true;
  });
});
