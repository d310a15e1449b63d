import { expect } from 'chai';
import { ToolError } from '../../../../lib/common/errors.js';
import type { Json, JsonObject } from '../../../../lib/common/json/json.js';
import { checkPipeline } from '../../../../lib/pipelines/check.js';
import { assert, createAssert } from '../../../../lib/tools/builtin/values/assert.js';
import { builtinCatalog } from '../../../../lib/tools/catalog.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import { catchRejection } from '../../../support/rejection.js';
import { toolContext } from '../../../support/tool-context.js';

async function run(inputs: JsonObject): Promise<unknown> {
  const checked = validateInputs(assert, inputs);
  return checked.ok ? await assert.run(checked.inputs, toolContext()) : checked.errors;
}

async function catchFailure(inputs: JsonObject): Promise<ToolError> {
  const error = await catchRejection(run(inputs));
  expect(error).to.be.instanceOf(ToolError);
  return error as ToolError;
}

describe('assert', () => {
  it('returns its input when the expression is true', async () => {
    const input = { lines: [1, 2] };
    expect(await run({ input, that: '$count(lines) > $least', bindings: { least: 1 } })).to.equal(input);
  });

  it('fails with the message and the values when it is not, not to be retried', async () => {
    const error = await catchFailure({
      input: { total: 3 },
      that: 'total = $wanted',
      bindings: { wanted: 4 },
      message: 'the totals differ',
    });
    expect(error.message).to.equal(
      'the totals differ (the expression gives false, not true; input {"total":3}, $wanted 4)',
    );
    expect(error.retryable).to.equal(false);
  });

  it('takes nothing but true for true, and shows the expression without a message', async () => {
    expect((await catchFailure({ input: 1, that: '1' })).message).to.equal(
      '"1" does not hold (the expression gives 1, not true; input 1)',
    );
    expect((await catchFailure({ input: { a: 1 }, that: 'b' })).message).to.contain('matches nothing');
  });

  it('cuts long values, also those that contain a list very often', async () => {
    let list: Json = ['x'.repeat(20)];
    for (let depth = 0; depth < 40; depth++) list = [list, list];
    const tool = createAssert(() => false);
    const error = await catchRejection(
      Promise.resolve(tool.run({ input: list, that: 'x', bindings: {}, message: null }, toolContext())),
    );
    expect((error as Error).message.length).to.be.below(2000);
  });

  it('is evaluated where the host says, with the context of its attempt (D19)', async () => {
    const context = toolContext();
    const tool = createAssert((...request) => {
      expect(request).to.deep.equal(['$ > 1', 2, {}, context]);
      return true;
    });
    expect(await tool.run({ input: 2, that: '$ > 1', bindings: {}, message: null }, context)).to.equal(2);
  });

  it('has its expression parsed when the pipeline is validated', () => {
    const text = 'id: p\ngoal: g\ntasks:\n  - {id: a, tool: assert, inputs: {input: 1, that: "$ >"}}';
    const [problem] = checkPipeline(text, { catalog: builtinCatalog() }).problems;
    expect(problem).to.include({ path: '/tasks/0/inputs/that', code: 'invalid_input' });
  });
});
