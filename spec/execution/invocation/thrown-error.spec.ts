import { expect } from 'chai';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { ToolError } from '../../../lib/common/errors.js';
import {
  DEPENDENCIES,
  describeThrown,
  messageWithCauses,
} from '../../../lib/execution/invocation/thrown-error.js';

const refused = (): Error =>
  Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });

describe('messageWithCauses', () => {
  it('adds the message of each cause', () => {
    const inner = new Error('cannot connect', { cause: refused() });
    expect(messageWithCauses(new TypeError('fetch failed', { cause: inner }))).to.equal(
      'fetch failed: cannot connect: connect ECONNREFUSED 127.0.0.1:9',
    );
  });

  it('does not repeat a cause that the message quotes', () => {
    const thrown = new ToolError('cannot read it: no such file', { cause: new Error('no such file') });
    expect(messageWithCauses(thrown)).to.equal('cannot read it: no such file');
  });

  it('lists the errors of an AggregateError without a message, as of a refused fetch', () => {
    const parts = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}:9`));
    const aggregate = Object.assign(new AggregateError(parts, ''), { code: 'ECONNREFUSED' });
    expect(messageWithCauses(new TypeError('fetch failed', { cause: aggregate }))).to.equal(
      'fetch failed: connect ECONNREFUSED ::1:9; connect ECONNREFUSED 127.0.0.1:9',
    );
  });

  it('ends for an error that is its own cause', () => {
    const thrown = new Error('round');
    thrown.cause = new Error('and round', { cause: thrown });
    expect(messageWithCauses(thrown)).to.equal('round: and round');
  });
});

describe('describeThrown', () => {
  it('keeps type, code and causes', () => {
    const thrown = new TypeError('fetch failed', { cause: refused() });
    expect(describeThrown(thrown, 'fetch failed', false)).to.deep.equal({
      type: 'TypeError',
      message: 'fetch failed',
      causes: [{ type: 'Error', message: 'connect ECONNREFUSED 127.0.0.1:9', code: 'ECONNREFUSED' }],
    });
  });

  it('keeps the stack down to the code that the package has called', () => {
    const { stack } = describeThrown(new Error('mine', { cause: refused() }), 'mine', true);
    expect(stack).to.match(/^Error: mine\n {4}at .*thrown-error\.spec\.ts/);
    expect(stack).to.match(/\ncaused by Error: connect ECONNREFUSED/);
    expect(stack).not.to.match(/node:/);
  });

  it('has no stack of an error that the package itself has thrown', () => {
    const own = new Error('timed out');
    own.stack = `Error: timed out\n    at Invocation (${new URL('../../../lib/execution/x.js', import.meta.url).href}:1:1)\n    at node:internal/timers:1:1`;
    expect(describeThrown(own, 'timed out', true)).not.to.have.property('stack');
  });

  const urlOf = (path: string): string => new URL(`../../../${path}`, import.meta.url).href;

  it('leaves out the calls in the package, above the tool of one’s own that called it', () => {
    const own = new Error('no');
    own.stack = [
      'ToolError: no',
      `    at ToolError.nonRetryable (${urlOf('lib/common/errors.ts')}:1:1)`,
      `    at Object.write (${urlOf('lib/execution/invocation/attempt.ts')}:1:1)`,
      '    at Array.map (<anonymous>)',
      '    at Object.run (file:///home/ada/tools.mjs:8:45)',
      `    at Invocation (${urlOf('lib/execution/x.ts')}:1:1)`,
    ].join('\n');
    expect(describeThrown(own, 'no', true).stack).to.equal(
      'ToolError: no\n    at Array.map (<anonymous>)\n    at Object.run (file:///home/ada/tools.mjs:8:45)',
    );
  });

  it('has no stack of what a dependency of this package threw, which a built-in tool called', () => {
    const cause = new Error('Invalid Record Length');
    cause.stack = `Error: no\n    at Parser._flush (/app/node_modules/csv-parse/dist/cjs/index.cjs:2050:26)\n    at node:internal/x:1:1`;
    const thrown = new ToolError('it is not a table', { cause });
    thrown.stack = `ToolError: no\n    at parseCsv (${urlOf('lib/tools/documents/formats/csv.ts')}:1:1)`;
    expect(describeThrown(thrown, 'no', true)).not.to.have.property('stack');
    cause.stack += '\n    at Object.run (file:///home/ada/tools.mjs:8:45)';
    expect(describeThrown(thrown, 'no', true).stack).to.match(/csv-parse.*\n.*node:.*\n.*tools\.mjs:8:45\)$/);
    const packageJson = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
    const { dependencies } = JSON.parse(packageJson) as { dependencies: object };
    expect([...DEPENDENCIES].sort()).to.deep.equal(Object.keys(dependencies).sort());
  });

  it('describes anything that can be thrown, and never throws', () => {
    const trap = new Proxy(new Error('x'), {
      get: () => {
        throw new Error('no');
      },
    });
    expect(describeThrown(trap, 'kept', true)).to.include({ message: 'kept' });
    expect(describeThrown(undefined, 'kept', true)).to.deep.equal({
      type: 'Error',
      message: 'kept',
      causes: [],
    });
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (thrown, cause) => {
        const raised = Object.assign(new Error('e'), { cause });
        for (const any of [thrown, raised, { cause, stack: thrown, errors: [cause], message: '' }]) {
          const record = describeThrown(any, 'kept', true);
          expect(record.type).to.be.a('string').with.length.below(101);
          expect(() => JSON.stringify(record)).not.to.throw();
          expect(messageWithCauses(any)).to.be.a('string').with.length.below(4100);
        }
      }),
    );
  });
});
