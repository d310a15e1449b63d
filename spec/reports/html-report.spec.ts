import { expect } from 'chai';
import { Parser } from 'htmlparser2';
import { REPORT_LIMITS } from '../../lib/reports/report-limits.js';
import { runToEnd } from '../../lib/common/scheduling/steps.js';
import { writeHtmlReport } from '../../lib/reports/html-report.js';
import { readReportData, type ReportData, type ReportSource } from '../../lib/reports/report-data.js';
import { at, attempt, itemRecord, runRecord, taskRecord } from './run-records.js';

const NOW = Date.parse(at(3000));

const write = (data: Partial<ReportData>): string =>
  runToEnd(
    writeHtmlReport(
      {
        run: runRecord(),
        tasks: [],
        failures: [],
        moreFailures: 0,
        items: [],
        events: [],
        earlierEvents: 0,
        graph: undefined,
        blackboard: undefined,
        ...data,
      },
      { version: '1.2.3', now: NOW },
    ),
  ).join('\n');

const EVIL = '</script></style><img src=x onerror=alert(1)><!-- "\' & \u0000\u202e\u2066\ud800';

describe('The HTML report of a run', () => {
  it('shows first why the run failed: task, message, causes, stack, inputs and attempts', () => {
    const task = taskRecord('write', {
      status: 'failed',
      inputs: { path: 'out.md' },
      error: {
        type: 'ToolError',
        message: 'cannot write',
        causes: [{ type: 'Error', message: 'disk is full', code: 'ENOSPC' }],
        stack: 'Error: cannot write\n    at write (/tools.ts:1:2)',
      },
      attempts: [attempt(1, 0, 10, 'busy'), attempt(2, 20, 30, 'cannot write')],
    });
    const failure = { task_id: 'write', error: 'cannot write', attempts: 2 };
    const html = write({
      run: runRecord({
        status: 'failed',
        error: 'cannot write',
        failed_task: { task_id: 'write' },
        failures: [failure],
      }),
      tasks: [task],
      failures: [{ failure, call: task, count: 1 }],
    });
    const { text } = parse(html);
    const first = text.slice(text.indexOf('Why it failed'), text.indexOf('Graph'));
    for (const part of [
      'write',
      'after 2 attempts',
      'ToolError',
      'cannot write',
      'Error ENOSPC',
      'disk is full',
    ]) {
      expect(first).to.contain(part);
    }
    for (const part of ['at write (/tools.ts:1:2)', '"path": "out.md"', 'busy'])
      expect(first).to.contain(part);
  });

  it('shows whatever tenants, tools and models have written as text', () => {
    const task = taskRecord(EVIL, {
      tool: EVIL,
      inputs: { [EVIL]: EVIL },
      output: EVIL,
      inputs_error: EVIL,
      error: { type: EVIL, message: EVIL, code: EVIL, causes: [{ type: EVIL, message: EVIL }], stack: EVIL },
      status: 'failed',
      attempts: [attempt(1, 0, 1, EVIL), attempt(2, 2, 3, EVIL)],
      items: { total: 1, pending: 0, running: 0, succeeded: 0, failed: 1, skipped: 0 },
    });
    const failure = { task_id: EVIL, item: 0, error: EVIL, attempts: 2 };
    const item = itemRecord(EVIL, 0, { value: EVIL, status: 'failed', output: { [EVIL]: [EVIL] } });
    const stamp = { seq: 1, time: EVIL, run_id: EVIL };
    const html = write({
      run: runRecord({
        run_id: EVIL,
        pipeline_id: EVIL,
        goal: EVIL,
        tenant_id: EVIL,
        created_at: EVIL,
        error: EVIL,
        rerun_of: EVIL,
        usage: [{ model: EVIL, requests: 1, input_tokens: 2, output_tokens: 3, cost: 4 }],
        artifacts: [{ name: EVIL, task_id: EVIL, media_type: EVIL, size: 1 }],
        artifact_count: 1,
        result: {
          plan_id: EVIL,
          sub_results: {},
          blackboard: { [EVIL]: EVIL },
          total_tasks_executed: 1,
          total_waves: 1,
        },
      }),
      tasks: [task],
      failures: [
        { failure, call: item, count: 1 },
        { failure, call: task, count: 1 },
      ],
      items: [item],
      events: [
        { ...stamp, kind: 'log', task_id: EVIL, message: EVIL },
        { ...stamp, kind: 'run', status: 'failed', error: EVIL },
        { ...stamp, kind: 'text', task_id: EVIL, within: [EVIL], sub_pipeline: EVIL, request: 1, text: EVIL },
      ],
      graph: {
        kind: 'pipeline',
        graph: {
          id: EVIL,
          goal: EVIL,
          waves: [
            [
              { id: EVIL, tool: EVIL, fan_out: true },
              { id: 'b', tool: EVIL, fan_out: false },
            ],
          ],
          edges: [{ from: EVIL, to: 'b', kind: 'await' }],
        },
      },
    });
    const { names, attributes, text } = parse(html);
    for (const name of ['script', 'img', 'iframe', 'link', 'object', 'a']) expect(names).not.to.include(name);
    for (const name of attributes) expect(name).not.to.match(/^on|^href|^src|^style$/);
    expect(text).to.contain(
      '</script></style><img src=x onerror=alert(1)><!-- "\' & \\u0000\\u202e\\u2066\\ud800',
    );
    // oxlint-disable-next-line no-control-regex -- looks for control characters on purpose
    expect(html).not.to.match(/[\u0000-\u0008\u202a-\u202e\u2066-\u2069]/);
    expect(Buffer.from(html).toString()).to.equal(html, 'halves of characters');
  });

  it('says who has started the run (D75), and escapes the name', () => {
    const run = runRecord({ started_by: { kind: 'key', name: 'a<b' } });
    expect(write({ run })).to.contain('<dt>Started by</dt><dd>key a&lt;b</dd>');
  });

  it('shows the labels of the run (D76), escaped, if it has any', () => {
    const run = runRecord({ labels: { team: 'a<b', stage: 'test' } });
    expect(write({ run })).to.contain('<dt>Labels</dt><dd>team:a&lt;b, stage:test</dd>');
    expect(write({ run: runRecord({}) })).to.not.contain('Labels');
  });

  it('draws tasks with their states, by waves, and edges where the graph of the run is known', () => {
    const tasks = [
      taskRecord('a', { wave: 0 }),
      taskRecord('b', { wave: 1, status: 'running', finished_at: null, attempts: [attempt(1, 200, null)] }),
    ];
    const without = write({ tasks });
    expect(without)
      .to.match(/<g class="box done">.*succeeded in 0.1 s/)
      .and.to.match(/<g class="box active">/);
    expect(without).not.to.contain('class="edge"');
    const graph = {
      id: 'demo',
      goal: '',
      waves: [[{ id: 'a', tool: 'mock', fan_out: false }], [{ id: 'b', tool: 'mock', fan_out: false }]],
      edges: [{ from: 'a', to: 'b', kind: 'template' as const }],
    };
    expect(write({ tasks, graph: { kind: 'pipeline', graph } })).to.contain('<title>b reads a</title>');
  });

  it('draws the sub-pipelines of a plan, and the tasks of each', () => {
    const html = write({
      run: runRecord({ kind: 'plan', sub_pipelines: { one: 'succeeded', two: null } }),
      tasks: [
        taskRecord('a', { sub_pipeline: 'one' }),
        taskRecord('a', { sub_pipeline: 'two', status: 'pending' }),
      ],
      graph: {
        kind: 'plan',
        plan: {
          id: 'demo',
          goal: '',
          waves: [[{ id: 'one', tasks: 1 }], [{ id: 'two', tasks: 1 }]],
          edges: [{ from: 'one', to: 'two', keys: ['k'] }],
        },
        pipelines: {},
      },
    });
    expect(html.split('class="graph"')).to.have.length(4);
    expect(html).to.contain('two reads from one: k').and.to.contain('not started, 1 task');
  });

  it('shows the blackboard at the end, and what had another value before', () => {
    const { text } = parse(
      write({
        blackboard: { before: { a: 1, b: 'same' }, after: { a: 2, b: 'same', c: [3] }, cut: ['/after/c'] },
      }),
    );
    expect(text).to.match(
      /Blackboard\s*a 2[^]*a, before 1[^]*b text, 4 characters[^]*c list of 1, shortened/,
    );
    expect(text).not.to.contain('b, before');
    const odd = { 'a/b': [1], 'c~d': [2] };
    const cut = ['/before/a~1b', '/after/a~1b/0', '/after/c~0d'];
    const { text: oddText } = parse(write({ blackboard: { before: { 'a/b': [0] }, after: odd, cut } }));
    expect(oddText).to.match(/a\/b list of 1, shortened[^]*a\/b, before list of 1, shortened/);
    expect(oddText).to.match(/c~d list of 1, shortened/);
    const result = {
      plan_id: 'p',
      sub_results: {},
      blackboard: { k: 'v' },
      total_tasks_executed: 1,
      total_waves: 1,
    };
    expect(parse(write({ run: runRecord({ result }) })).text).to.contain('k text, 1 character');
  });

  it('has some 10 MiB at most, and says which values did not fit', () => {
    const value = { text: '<'.repeat(60_000) };
    const tasks = Array.from({ length: REPORT_LIMITS.tasks }, (_, index) =>
      taskRecord(`t${index}`, { inputs: value, output: value }),
    );
    const html = write({ tasks, run: runRecord({ progress: { ...runRecord().progress, tasks: 700 } }) });
    expect(html.length).to.be.below(10 * 2 ** 20);
    const { text } = parse(html);
    expect(text)
      .to.contain('Left out: this report has')
      .and.to.contain('and 200 tasks more, not in this report');
    expect(text).to.match(/\d+ values did not fit and were left out/);
  });

  it('stays small for values that indentation would blow up', () => {
    let deep: unknown[] = [];
    for (let depth = 0; depth < 900; depth++) deep = [deep, depth];
    const html = write({ tasks: [taskRecord('t', { output: deep as never })] });
    expect(html.length).to.be.below(200_000);
  });

  it('reads 500 tasks, 100 items with the failed ones first, 20 kinds of failures and the last 2,000 events', async () => {
    const asked: string[] = [];
    const failures = Array.from({ length: 3000 }, (_, item) => ({
      task_id: `fan${item % 30}`,
      item,
      error: `bad ${item % 30}`,
      attempts: 1,
      ...(item < 10 && { collected: true as const }),
    }));
    const source: ReportSource = {
      record: async () =>
        runRecord({ failures, failed_task: { task_id: 'fan7', item: 37 }, status: 'failed', error: 'bad 7' }),
      tasks: async ({ cursor, limit = 0 }) => {
        asked.push(`tasks ${cursor ?? ''} ${limit}`);
        const items = { total: 80, pending: 0, running: 0, succeeded: 20, failed: 60, skipped: 0 };
        return {
          tasks: Array.from({ length: Math.min(300, limit) }, (_, index) =>
            taskRecord(`fan${index}`, { items: index < 2 ? items : null }),
          ),
          next_cursor: 'next',
        };
      },
      items: async (taskId, { status, limit = 0 }) => {
        asked.push(`${taskId} ${status} ${limit}`);
        const length = Math.min(limit, 60);
        return {
          items: Array.from({ length }, (_, item) =>
            itemRecord(taskId, item, { status: status ?? 'succeeded' }),
          ),
          next_cursor: null,
        };
      },
      task: async (taskId) => taskRecord(taskId),
      item: async (taskId, item) => itemRecord(taskId, item),
      events: async (after, limit) => {
        asked.push(`events ${after} ${limit}`);
        return { events: [], last_seq: 9000 };
      },
    };
    const data = await readReportData(source);
    expect(data.tasks).to.have.length(500);
    expect(data.items).to.have.length(100);
    expect(data.items.every(({ status }) => status === 'failed')).to.equal(true);
    expect(data.failures).to.have.length(20);
    expect(data.failures[0]?.failure).to.deep.include({ task_id: 'fan7', item: 37 });
    const shown = data.failures.reduce((sum, { count }) => sum + count, 0);
    expect(data.moreFailures).to.equal(3000 - shown);
    expect(asked).to.include.members(['tasks  500', 'tasks next 200', 'fan0 failed 100', 'fan1 failed 40']);
    expect(asked.at(-1)).to.equal('events 7000 2000');
    expect(data.earlierEvents).to.equal(9000);
  });
});

function parse(html: string): {
  readonly names: string[];
  readonly attributes: string[];
  readonly text: string;
} {
  const names: string[] = [];
  const attributes: string[] = [];
  let text = '';
  const parser = new Parser({
    onopentag: (name, found) => {
      names.push(name);
      attributes.push(...Object.keys(found));
    },
    ontext: (part) => void (text += part),
  });
  parser.end(html);
  return { names, attributes, text };
}
