import { expect } from 'chai';
import { ToolError } from '../../../lib/common/errors.js';
import { parseJsonWithPauses, readContent } from '../../../lib/tools/fetching/content.js';
import { catchRejection } from '../../support/rejection.js';
import { SlowTurns } from '../../support/measuring/cpu-time.js';
import { countTurns, shortenSlices } from '../../support/slices.js';
import { toolContext } from '../../support/tool-context.js';

describe('parseJsonWithPauses of an answer (D62)', () => {
  it('gives what JSON.parse gives, also of a long text, and lets the event loop turn meanwhile', async () => {
    const value = Array.from({ length: 20_000 }, (_, n) => ({ n, text: `"${n}"`, none: null }));
    shortenSlices();
    const turns = countTurns();
    const parsed = await parseJsonWithPauses(JSON.stringify(value), toolContext());
    turns.stop();
    expect(parsed).to.deep.equal(value);
    expect(turns.count).to.be.above(1);
    expect(await parseJsonWithPauses('[1]', toolContext())).to.deep.equal([1]);
  });

  for (const [title, text, reason] of [
    ['nested very deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, /nested deeper than 1000 levels/],
    ['made of empty lists', `[${'[],'.repeat(1_000_000)}[]]`, /lists and objects, too many/],
    [
      'one object with very many keys',
      `{${Array.from({ length: 100_001 }, (_, i) => `"key ${i}":1`).join()}}`,
      /more than 100000 keys/,
    ],
    ['cut off', `[${'"some text", '.repeat(10_000)}`, /JSON|position|Unexpected/],
  ] as const) {
    it(`refuses a long text that is ${title}, before it takes much time or memory`, async () => {
      const error = await catchRejection(parseJsonWithPauses(text, toolContext()));
      expect(error).to.be.instanceOf(SyntaxError).with.property('message').that.matches(reason);
    });
  }

  it('holds memory of the run for what it makes, and stops when there is none', async () => {
    const text = JSON.stringify(Array.from({ length: 20_000 }, (_, n) => ({ n })));
    const held: number[] = [];
    await parseJsonWithPauses(text, toolContext({ holdMemory: (bytes) => void held.push(bytes) }));
    expect(held).to.have.length(1);
    expect(held[0]).to.be.above(20_000 * 100);
    const refusing = toolContext({
      holdMemory: () => {
        throw ToolError.nonRetryable('no memory left');
      },
    });
    const error = await catchRejection(parseJsonWithPauses(text, refusing));
    expect(error).to.be.instanceOf(ToolError).with.property('message', 'no memory left');
  });

  it('parses the texts of many attempts of a tenant one after another', async () => {
    // Longer than a slice of the event loop.
    const text = JSON.stringify(Array.from({ length: 200_000 }, (_, n) => ({ n })));
    let atWork = 0;
    let most = 0;
    const parse = async (tenantId: string): Promise<void> => {
      const context = toolContext({
        tenant_id: tenantId,
        holdMemory: () => void (most = Math.max(most, ++atWork)),
      });
      await parseJsonWithPauses(text, context);
      atWork--;
    };
    await Promise.all(Array.from({ length: 10 }, () => parse('a')));
    expect(most).to.equal(1);
    await Promise.all(['a', 'a', 'a', 'b', 'b', 'c', 'd'].map(parse));
    expect(most).to.equal(2);
  });
});

describe('readContent', () => {
  it('decodes the long answers of many attempts in turns of the event loop, one after another', async () => {
    const slow = new SlowTurns();
    const response = {
      url: 'http://example.com/',
      status: 200,
      bytes: Buffer.alloc(100_000, 'x'),
      get headers() {
        slow.work();
        return { 'content-type': 'text/plain' };
      },
    };
    const contents = Array.from({ length: 10 }, () => readContent(response, toolContext()));
    expect(await Promise.all(contents)).to.deep.equal(Array(10).fill('x'.repeat(100_000)));
    expect(slow.turns).to.equal(10);
  });
});
