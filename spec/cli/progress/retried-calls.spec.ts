import { expect } from 'chai';
import { RetriedCalls } from '../../../lib/cli/progress/retried-calls.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';
import { stamp } from './stamped-event.js';

describe('the calls of a run that needed another attempt', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  const retry = (name: { task_id: string; item?: number; sub_pipeline?: string }, attempt: number) =>
    stamp({ kind: 'retry', ...name, attempt, delay_ms: 0, error: 'no' });

  it('are counted and named, each with its attempts, in the order of the first retries', () => {
    const calls = new RetriedCalls();
    expect(calls.describe()).to.equal(undefined);
    calls.onEvent(retry({ task_id: 'fetch', item: 2 }, 1));
    calls.onEvent(retry({ task_id: 'fetch', item: 7, sub_pipeline: 'load' }, 1));
    calls.onEvent(retry({ task_id: 'rows' }, 1));
    calls.onEvent(retry({ task_id: 'fetch', item: 7, sub_pipeline: 'load' }, 2));
    expect(calls.describe()).to.equal(
      '3 calls needed another attempt: fetch[2] (2 attempts), load/fetch[7] (3), rows (2)',
    );
  });

  it('are named as far as a reader wants to know', () => {
    const calls = new RetriedCalls();
    for (let item = 0; item < 1500; item++) calls.onEvent(retry({ task_id: 'f', item }, 1));
    expect(calls.describe()).to.match(/^1,500 calls .*f\[11\] \(2\) and 1,488 more$/);
  });

  const FLAKY = `id: f
goal: g
inputs: {list: [1, 2, 3]}
tasks: [{id: each, tool: flaky, retry: 1, parallel_over: "{{pipeline.inputs.list}}", inputs: {n: "{{item}}"}}]
`;
  const OWN = `const tried = new Set();
export const flaky = {
  name: 'flaky', description: 'Fails once for 2.', inputs: { n: { type: 'integer' } },
  async run({ n }) {
    if (n === 2 && !tried.delete(n)) { tried.add(n); throw new Error('not yet'); }
    return n;
  },
};
`;

  it('are named on standard error after a run that succeeded, but not with --json and --quiet', async () => {
    folder.write('flaky.yaml', FLAKY);
    folder.write('own.mjs', OWN);
    const run = (...flags: string[]) =>
      invoke(['run', 'flaky.yaml', '--tools', './own.mjs', '--retry-base-delay', '0', ...flags], {
        cwd: folder.path,
      });
    expect((await run()).stderr).to.equal('  1 call needed another attempt: each[1] (2 attempts)\n');
    for (const flag of ['--json', '--quiet']) expect((await run(flag)).stderr).to.equal('');
  });
});
