import { expect } from 'chai';
import { Ajv } from 'ajv';
import { HANDLER_LISTS } from '../../../lib/definition/schema/fields.js';
import { pipelineJsonSchema, planJsonSchema } from '../../../lib/definition/schema/json-schema.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';

const PIPELINE = { id: 'p', goal: 'g', tasks: [{ id: 't', tool: 'mock' }] };

function accepts(schema: Record<string, unknown>): (value: unknown) => boolean {
  const validate = new Ajv({ allowUnionTypes: true, strict: false }).compile(
    JSON.parse(JSON.stringify(schema)) as object,
  );
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

  it('have the schema of tasks with their tools once, for tasks and handlers (D80)', () => {
    const names = { tools: builtinCatalog().toolSchemas() };
    for (const schema of [pipelineJsonSchema(names), planJsonSchema(names)]) {
      expect(JSON.stringify(schema).split('"enumDescriptions"')).to.have.length(2);
    }
    const plan = { id: 'p', sub_pipelines: [{ id: 'a' }] };
    for (const [definition, schemaOf] of [
      [PIPELINE, pipelineJsonSchema],
      [plan, planJsonSchema],
    ] as const) {
      const isAccepted = accepts(schemaOf(names));
      const withHandler = (list: string, handler: unknown) => ({ ...definition, [list]: [handler] });
      for (const list of HANDLER_LISTS) {
        const store = { id: 'h', tool: 'store', inputs: { key: 'k', value: 1 } };
        expect(isAccepted(withHandler(list, store)), list).to.be.true;
        expect(isAccepted(withHandler(list, { id: 'h', tool: 'stroe' })), list).to.be.false;
        expect(isAccepted(withHandler(list, { ...store, inputs: { kye: 'k', value: 1 } })), list).to.be.false;
      }
      expect(accepts(schemaOf())(withHandler('finally', { tool: 'own' }))).to.be.false;
    }
  });

  it('have the names of the pools of a server, and any name where nobody knows them (D81)', () => {
    const inPool = (pool: unknown) => ({ ...PIPELINE, tasks: [{ id: 't', tool: 'mock', pool }] });
    const known = accepts(pipelineJsonSchema(builtinCatalog().withPools(['erp', 'gpu']).taskNames()));
    expect(['erp', null, 'epr'].map((pool) => known(inPool(pool)))).to.deep.equal([true, true, false]);
    for (const names of [{}, builtinCatalog().withPools([]).taskNames()]) {
      expect(accepts(pipelineJsonSchema(names))(inPool('erp'))).to.be.true;
    }
  });
});
