import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import { defineTool, type Tool } from '../../../lib/tools/tool.js';
import { ControlledServer } from '../support/controlled-server.js';

describe('Tools that throw unusual values', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open({ tools: odd() }));
  after(() => fixture.close());

  const run = (tool: string) =>
    fixture.request<ErrorBody>('POST', '/pipelines/run', {
      pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool }] },
    });

  for (const [name, error] of Object.entries(ODD_ERRORS())) {
    it(`fail the run with a message in the response: ${name}`, async () => {
      const { status, body } = await run(name);
      expect(`${status} ${body.detail.code}`).to.equal('500 task_failed');
      expect(body.detail.error).to.match(error);
      expect(fixture.server.log.filter(({ level }) => level === 'error')).to.deep.equal([]);
    });
  }
});

function ODD_ERRORS(): Record<string, RegExp> {
  return {
    nothing: /^failed without a message$/,
    symbol: /^failed with a symbol$/,
    cycle: /^failed with a value that cannot be read$/,
    trap: /^failed with a value that cannot be read$/,
    surrogate: /^\ud800$/,
    long: /^x{2000} … \(1000000 characters\) … x{2000}$/,
    large: /^the output is larger than the limit of 10 MiB: return less, or a file$/,
    function: /^the output holds a function, which JSON cannot hold$/,
    bigint: /^the output holds a bigint, which JSON cannot hold$/,
  };
}

function odd(): Tool[] {
  const throwing = (name: string, make: () => unknown): Tool =>
    tool(name, () => {
      throw make();
    });
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  return [
    throwing('nothing', () => undefined),
    throwing('symbol', () => Symbol('odd')),
    throwing('cycle', () => cycle),
    throwing(
      'trap',
      () =>
        new Proxy(
          {},
          {
            get: () => {
              throw new Error('trap');
            },
            getPrototypeOf: () => {
              throw new Error('trap');
            },
          },
        ),
    ),
    throwing('surrogate', () => new Error('\ud800')),
    throwing('long', () => new Error('x'.repeat(1_000_000))),
    tool('large', () => 'x'.repeat(11 * 2 ** 20)),
    tool('function', () => () => 1),
    tool('bigint', () => 1n),
  ];
}

function tool(name: string, run: () => unknown): Tool {
  return defineTool({ name, description: 'does odd things', inputs: {}, run: async () => run() });
}
