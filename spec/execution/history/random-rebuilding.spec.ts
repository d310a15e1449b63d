import { expect } from 'chai';
import * as fc from 'fast-check';
import { describeRun, expectNoGap, KeptTestRun } from './kept-runs.js';
import { cases } from '../../support/measuring/cases.js';

/** A task in flow style. It may read what an earlier one returned. */
const taskOf = (index: number): fc.Arbitrary<string> =>
  fc
    .record({
      reads: index === 0 ? fc.constant(undefined) : fc.option(fc.nat(index - 1), { nil: undefined }),
      ms: fc.nat(4),
      fails: fc.nat(2),
      key: fc.constantFrom(undefined, 'list', 'other'),
      items: fc.option(fc.array(fc.nat(1), { minLength: 1, maxLength: 4 }), { nil: undefined }),
      concurrency: fc.integer({ min: 1, max: 3 }),
      collects: fc.boolean(),
      retries: fc.integer({ min: 0, max: 2 }),
      nesting: fc.constantFrom('none', 'one', 'two'),
      condition: fc.constantFrom(undefined, undefined, true, false, 'item'),
      tolerates: fc.boolean(),
      hasDefault: fc.boolean(),
    })
    .map(({ reads, ms, fails, key, items, concurrency, collects, retries, nesting, ...decisions }) => {
      const { condition, tolerates, hasDefault } = decisions;
      const value = reads === undefined ? index : `"{{t${reads}.output${hasDefault ? ' ?? 1' : ''}}}"`;
      const decides = condition === 'item' ? items !== undefined && '{{item}}' : condition;
      const when =
        typeof decides === 'string'
          ? `when: "${decides}", `
          : condition === undefined || condition === 'item'
            ? ''
            : `when: {value: "{{pipeline.inputs.items1}}", minItems: ${condition ? 1 : 5}}, `;
      const onError = tolerates ? 'on_error: continue, ' : '';
      const written = key === undefined ? '' : `, key: ${key}`;
      // Time decides whether a fan-out that fails reaches its last items; one that collects reaches all of them.
      const failing = items !== undefined && !collects ? Math.min(fails, retries) : fails;
      const item = items === undefined ? '' : ', item: "{{item}}"';
      const inputs = `{ms: ${ms}, fails: ${failing}, value: ${value}${written}${item}}`;
      const pipeline = `{id: inner, goal: g, inputs: {v: 0}, tasks: [
        {id: x, tool: script, retry: ${retries}, retry_delay: 0.002, inputs: {ms: ${ms}, fails: ${Math.min(fails, retries)}, value: "{{pipeline.inputs.v}}"${written}}},
        {id: y, tool: script, inputs: {value: "{{x.output}}"}}]}`;
      const inner = `{inputs: {v: ${items === undefined ? index : '"{{item}}"'}}, pipeline: ${pipeline}}`;
      // The templates are for the pipelines, not for the task.
      const inert = pipeline.replaceAll('{{', '\\\\{{');
      const two = `{fails: ${Math.min(fails, retries)}, pipelines: [${inert}, ${inert}]${item}}`;
      const fanOut =
        items === undefined
          ? ''
          : `parallel_over: "{{pipeline.inputs.items${items.length}}}", fan_out_concurrency: ${concurrency}, ${collects ? 'on_item_error: collect, ' : ''}`;
      const after = nesting !== 'none' && reads !== undefined ? `await: [t${reads}], ` : '';
      const tool = { none: 'script', one: 'run_pipeline', two: 'in_sequence' }[nesting];
      return `{id: t${index}, tool: ${tool}, retry: ${retries}, retry_delay: 0.003, ${when}${onError}${after}${fanOut}inputs: ${{ none: inputs, one: inner, two }[nesting]}}`;
    });

const pipelines = fc
  .integer({ min: 2, max: 5 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => taskOf(index))))
  .map((tasks) => tasks.join(',\n'));

describe('A run of a random pipeline', () => {
  it('ends after crashes at any commits as it would have without', async () => {
    const crashes = fc.array(fc.nat(), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(pipelines, crashes, async (tasks, moments) => {
        const undisturbed = new KeptTestRun(tasks);
        await undisturbed.runToEnd();
        let run = undisturbed;
        let where = '';
        for (const moment of moments) {
          const { commits, facts } = run.log;
          const length = commits[moment % commits.length] ?? facts.length;
          where += `, after ${length} of ${facts.length} facts`;
          run = new KeptTestRun(tasks, facts.slice(0, length));
          await run.runToEnd();
        }
        expect(describeRun(run), where).to.deep.equal(describeRun(undisturbed));
        expectNoGap(run);
      }),
      cases(50),
    );
  });
});
