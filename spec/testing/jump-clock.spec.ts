import { expect } from 'chai';
import { delay } from '../../lib/common/clock.js';
import { defineTool } from '../../lib/tools/tool.js';
import { JumpClock } from '../../lib/testing/pipelines/jump-clock.js';
import { deferred } from '../support/deferred.js';
import { useTestFolder } from './test-folder.js';

describe('The clock of tests of pipelines (D91)', () => {
  const { failuresOf } = useTestFolder();

  it('jumps to its next timer when nothing is at work, in the order of the times', async () => {
    const clock = new JumpClock();
    const fired: string[] = [];
    const wait = async (name: string, ms: number): Promise<void> => {
      await delay(ms, { clock, signal: undefined });
      fired.push(`${name} at ${clock.monotonicNow()}`);
    };
    await Promise.all([wait('a week', 604_800_000), wait('an hour', 3_600_000), wait('cleared', 1000)]);
    expect(fired).to.deep.equal(['cleared at 1000', 'an hour at 3600000', 'a week at 604800000']);
  });

  it('begins at the same time in each file, so that what depends on it is the same', () => {
    expect(new Date(new JumpClock().now()).toISOString()).to.equal('2026-01-01T00:00:00.000Z');
  });

  it('does not jump while a tool works, and does while the tool waits on the clock itself', async () => {
    const clock = new JumpClock();
    const work = deferred<string>();
    let isOver = false;
    clock.setTimeout(() => {
      isOver = true;
    }, 3_600_000);
    const working = clock.work(() => work.promise);
    const waiting = clock.work(() => delay(1000, { clock, signal: undefined }));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(isOver).to.equal(false);
    work.resolve('done');
    expect(await working).to.equal('done');
    await waiting;
    expect(clock.monotonicNow()).to.be.at.least(1000);
  });

  it('lets delays of retries, rounds, sleeps and timeouts take no time', async () => {
    const failures = await failuresOf(
      `
pipeline:
  id: slow
  goal: Take days
  timeout: 7d
  tasks:
    - { id: nap, tool: sleep, inputs: { seconds: 86400, value: rested } }
    - { id: retried, tool: http_request, retry: 5, retry_delay: 1h, max_retry_delay: 1d, inputs: { url: "https://api.example" } }
    - id: polled
      tool: mock
      inputs: {}
      repeat: { until: { value: "{{this.output.call_count}}", minimum: 19 }, every: 1h }
    - { id: late, tool: sleep, timeout: 1h, on_error: continue, inputs: { seconds: 7200 } }
`,
      `cases:
  - name: takes no time
    answers: { retried: [{ error: a }, { error: b }, { error: c }, { output: 4 }] }
    expect: { outputs: { nap: rested, retried: 4 }, failed: [late] }
`,
    );
    expect(failures).to.deep.equal([[]]);
  });

  it('times out no tool that computes while other tasks wait', async () => {
    const computed = deferred<number>();
    const slow = defineTool({
      name: 'slow',
      description: 'computes elsewhere',
      pure: true,
      inputs: {},
      run: () => {
        setImmediate(() =>
          setImmediate(() => setImmediate(() => setImmediate(() => setImmediate(() => computed.resolve(3))))),
        );
        return computed.promise;
      },
    });
    const failures = await failuresOf(
      `
pipeline:
  id: p
  goal: g
  tasks:
    - { id: compute, tool: slow, timeout: 1h }
    - { id: nap, tool: sleep, inputs: { seconds: 0.001 } }
`,
      'cases:\n  - { name: computes, expect: { outputs: { compute: 3 } } }\n',
      [slow],
    );
    expect(failures).to.deep.equal([[]]);
  });
});
