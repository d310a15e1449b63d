import { expect } from 'chai';
import { WavetrainError } from '../../../lib/common/errors.js';
import { type ParsingRequest, TextParser } from '../../../lib/definition/parsing/text-parser.js';
import { PARSING_LIMITS } from '../../../lib/definition/text/limits.js';
import { type ParsedText, parseText } from '../../../lib/definition/text/parse-text.js';
import { type WorkerFailure, WorkerError } from '../../../lib/common/workers/protocol.js';
import { catchRejection } from '../../support/rejection.js';

/** A pool that parses in this process, or fails. */
class FakePool {
  readonly requests: { readonly tenantId: string; readonly length: number; readonly timeoutMs: number }[] =
    [];
  readonly #failure: WorkerFailure | undefined;
  isClosed = false;

  constructor(failure?: WorkerFailure) {
    this.#failure = failure;
  }

  async run(
    tenantId: string,
    createRequest: () => ParsingRequest,
    { timeoutMs }: { readonly timeoutMs: number },
  ): Promise<ParsedText> {
    const { text } = createRequest();
    this.requests.push({ tenantId, length: text.length, timeoutMs });
    if (this.#failure !== undefined) throw new WorkerError(this.#failure, 'its process ended');
    return parseText(text);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

const LONG = `id: p\n${'#\n'.repeat(PARSING_LIMITS.inlineLength / 2)}`;

describe('TextParser', () => {
  it('parses short texts at once, and long ones in a process, for their tenant and with a time limit', async () => {
    const pool = new FakePool();
    const parser = new TextParser(pool);
    expect((await parser.parse('id: p', 'alice')).value).to.deep.equal({ id: 'p' });
    expect(pool.requests).to.deep.equal([]);

    const source = await parser.parse(LONG, 'alice');
    expect(source.value).to.deep.equal({ id: 'p' });
    expect(source.positionOf(['id'])).to.deep.equal({ line: 1, column: 5 });
    const { timeoutMs } = PARSING_LIMITS;
    expect(pool.requests).to.deep.equal([{ tenantId: 'alice', length: LONG.length, timeoutMs }]);
  });

  it('reports a text that takes too much time or memory as a problem', async () => {
    const failures: readonly (readonly [WorkerFailure, string, string])[] = [
      ['timed_out', 'too_large', 'the text takes longer than 10 s to parse'],
      ['out_of_memory', 'too_large', 'parsing the text takes more than 256 MiB of memory'],
      ['crashed', 'syntax', 'the text could not be parsed: its process ended'],
    ];
    for (const [failure, code, message] of failures) {
      const { value, problems } = await new TextParser(new FakePool(failure)).parse(LONG, 'alice');
      expect(value).to.equal(undefined);
      expect(problems.map((problem) => [problem.code, problem.message])).to.deep.equal([[code, message]]);
    }
  });

  it('rejects texts once the server shuts down, and ends its processes', async () => {
    const pool = new FakePool('closed');
    const parser = new TextParser(pool);
    const error = await catchRejection(parser.parse(LONG, 'alice'));
    expect(error).to.be.instanceOf(WavetrainError);
    expect(error).to.have.property('code', 'shutting_down');
    await parser.close();
    expect(pool.isClosed).to.equal(true);
  });
});
