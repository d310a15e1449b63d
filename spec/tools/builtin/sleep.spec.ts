import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { ToolError } from '../../../lib/common/errors.js';
import { sleep } from '../../../lib/tools/builtin/testing/sleep.js';
import { validateInputs } from '../../../lib/tools/inputs/validate.js';
import { catchRejection } from '../../support/rejection.js';
import { type TestContext, toolContext } from '../../support/tool-context.js';

function countListeners({ signal }: TestContext): number {
  return getEventListeners(signal, 'abort').length;
}

function start(context: TestContext, seconds: number): Promise<unknown> {
  return Promise.resolve(sleep.run({ seconds, value: { a: 1 } }, context));
}

describe('sleep (D22)', () => {
  it('returns its value when the seconds are over, not before', async () => {
    const context = toolContext();
    let value: unknown;
    const sleeping = start(context, 1.5).then((returned) => (value = returned));
    context.clock.advance(1499);
    await Promise.resolve();
    expect([value, context.clock.pending]).to.deep.equal([undefined, 1]);
    context.clock.advance(1);
    await sleeping;
    expect(value).to.deep.equal({ a: 1 });
    expect([context.clock.pending, countListeners(context)]).to.deep.equal([0, 0]);
  });

  it('fails early when its signal aborts, and removes its timer and listener (D19)', async () => {
    const context = toolContext();
    const sleeping = start(context, 60);
    context.abort();
    const error = await catchRejection(sleeping);
    expect(error).to.be.instanceOf(ToolError).and.include({ message: 'stopped', retryable: false });
    expect([context.clock.pending, countListeners(context)]).to.deep.equal([0, 0]);
  });

  it('fails at once when its signal has already aborted', async () => {
    const context = toolContext();
    context.abort();
    expect(await catchRejection(start(context, 60))).to.be.instanceOf(ToolError);
    expect([context.clock.pending, countListeners(context)]).to.deep.equal([0, 0]);
  });

  it('accepts the longest delay of a timer, and returns null by default', () => {
    expect(validateInputs(sleep, { seconds: 0 })).to.deep.equal({
      ok: true,
      inputs: { seconds: 0, value: null },
    });
    for (const seconds of [-1, '1', null, 2_147_484])
      expect(validateInputs(sleep, { seconds })).to.have.property('ok', false);
  });
});
