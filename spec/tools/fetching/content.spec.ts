import { expect } from 'chai';
import { parseJsonWithPauses } from '../../../lib/tools/fetching/content.js';
import { catchRejection } from '../../support/rejection.js';

describe('parseJsonWithPauses of an answer (D62)', () => {
  it('gives what JSON.parse gives, also of a long text, and lets the event loop turn meanwhile', async () => {
    const value = Array.from({ length: 20_000 }, (_, n) => ({ n, text: `"${n}"`, none: null }));
    let turns = 0;
    const counting = setInterval(() => turns++, 0);
    const parsed = await parseJsonWithPauses(JSON.stringify(value));
    clearInterval(counting);
    expect(parsed).to.deep.equal(value);
    expect(turns).to.be.above(1);
    expect(await parseJsonWithPauses('[1]')).to.deep.equal([1]);
  });

  for (const [title, text, reason] of [
    ['nested very deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, /nested deeper than 1000 levels/],
    ['made of empty lists', `[${'[],'.repeat(1_000_000)}[]]`, /lists and objects, too many/],
    ['cut off', `[${'"some text", '.repeat(10_000)}`, /JSON|position|Unexpected/],
  ] as const) {
    it(`refuses a long text that is ${title}, before it takes much time or memory`, async () => {
      const error = await catchRejection(parseJsonWithPauses(text));
      expect(error).to.be.instanceOf(SyntaxError).with.property('message').that.matches(reason);
    });
  }
});
