import { Ajv } from 'ajv';
import { expect } from 'chai';
import { invoke } from '../invoke.js';

describe('schema plan', () => {
  it('prints one JSON Schema that accepts a plan under plan and a bare one (D43, D44), and nothing else', async () => {
    const { status, stdout, stderr } = await invoke(['schema', 'plan']);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    const schema: Record<string, unknown> = JSON.parse(stdout);
    expect(schema).to.include.keys('$schema', '$id', 'title');
    const accepts = new Ajv({ strict: false }).compile(schema);
    const bare = { id: 'a', sub_pipelines: [{ id: 's', stores: ['k'] }] };
    expect(accepts(bare)).to.equal(true);
    expect(accepts({ plan: bare })).to.equal(true);
    for (const wrong of [{}, { plan: {} }, { ...bare, sub: [] }, { pipeline: bare }]) {
      expect(accepts(wrong)).to.equal(false);
    }
  });
});
