import { expect } from 'chai';
import type { Json, JsonObject } from '../../lib/common/json/json.js';
import { parsePipeline } from '../../lib/pipelines/load.js';
import { loadPlan } from '../../lib/plans/load.js';
import { RunRegistry } from '../../lib/runs/registry.js';
import { startTestServer } from '../support/http/test-server.js';
import { TemporaryFolder } from '../support/temporary-folder.js';

/** A pipeline as files written for Trellis have it, in its smallest form. */
interface Case {
  readonly title: string;
  readonly yaml: string;
  readonly params?: JsonObject;
  readonly session?: JsonObject;
  readonly goal?: string;
  /** The `inputs` of the last task, or for a fan-out those of its items. */
  readonly expected: Json;
  readonly warns?: readonly string[];
}

const CASES: readonly Case[] = [
  {
    title: 'a recorded workflow, named after its file, whose tasks only wait for each other',
    yaml: `
      pipeline:
        id: 1000genome-chameleon-2ch.100k-001
        goal: "1000genome: a recorded workflow"
        tasks:
          - {id: t_individuals_1, tool: mock, inputs: {program: individuals, runtime: 25.5}}
          - {id: t_individuals_2, tool: mock, inputs: {program: individuals, runtime: 0}}
          - {id: t_merge, tool: mock, inputs: {of: "{{t_individuals_1.output.status}}"}, await: [t_individuals_2]}`,
    expected: { of: 'success' },
  },
  {
    title: 'typed params, also in a goal that has other templates as text',
    yaml: `
      pipeline:
        id: 2024_report
        goal: "Report on {{params.ticker}} since {{params.year}}, in {{pipeline.inputs.currency}}"
        params:
          ticker: {type: string, description: the company}
          year: {type: integer, default: 2020}
          quarters: {type: list, default: [1, 2]}
          strict: {type: boolean, default: "no"}
          note: {type: string, default: null}
        inputs: {currency: USD}
        tasks:
          - id: all
            tool: mock
            inputs: {t: "{{params.ticker}}", y: "{{params.year}}", q: "{{params.quarters}}", s: "{{params.strict}}", n: "{{params.note}}", g: "{{pipeline.goal}}"}`,
    params: { ticker: 'ACME', year: '2023' },
    goal: 'Report on ACME since 2023, in {{pipeline.inputs.currency}}',
    expected: {
      t: 'ACME',
      y: 2023,
      q: [1, 2],
      s: false,
      n: null,
      g: 'Report on ACME since 2023, in {{pipeline.inputs.currency}}',
    },
    warns: ['unknown_reference'],
  },
  {
    title: 'keys with nothing behind them, because what was there is commented out',
    yaml: `
      pipeline:
        id: commented
        goal: try
        params:
          # city: {type: string}
        inputs:
        tasks:
          - id: first
            tool: mock
            inputs:
              # x: 1
            await:
            parallel_over:
          - {id: second, tool: mock, inputs: {of: "{{first.output.inputs}}"}}`,
    expected: { of: {} },
  },
  {
    title: 'templates alone in blocks, which keep their type, also in parallel_over',
    yaml: `
      pipeline:
        id: blocks
        goal: try
        inputs: {all: [{n: 1}, {n: 2}]}
        tasks:
          - id: each
            tool: mock
            parallel_over: >
              {{pipeline.inputs.all}}
            inputs:
              n: |
                {{item.n}}
              text: >
                number {{item.n}}`,
    expected: [
      { n: 1, text: 'number 1\n' },
      { n: 2, text: 'number 2\n' },
    ],
  },
  {
    title: 'whole outputs, fields without "output", first and last, and years as keys',
    yaml: `
      pipeline:
        id: paths
        goal: try
        tasks:
          - {id: figures, tool: store, inputs: {key: f, value: {"2023": {sum: 1}, "2024": {sum: 2}, rows: [a, b]}}}
          - {id: read, tool: mock, inputs: {whole: "{{figures}}", rows: "{{figures.rows.last}}", first: "{{figures.output.rows.first}}", year: "{{figures.output.2024.sum}}"}}`,
    expected: {
      whole: { '2023': { sum: 1 }, '2024': { sum: 2 }, rows: ['a', 'b'] },
      rows: 'b',
      first: 'a',
      year: 2,
    },
    warns: ['output_omitted', 'output_omitted'],
  },
  {
    title: 'an answer in text whose JSON has prose or a fence around it',
    yaml: `
      pipeline:
        id: answers
        goal: try
        inputs:
          prose: 'Here you are: {"companies": [{"name": "Acme"}]}. Anything else?'
          fenced: "\`\`\`json\\n[1, 2]\\n\`\`\`"
        tasks:
          - {id: a, tool: store, inputs: {key: a, value: "{{pipeline.inputs.prose}}"}}
          - {id: b, tool: store, inputs: {key: b, value: "{{pipeline.inputs.fenced}}"}}
          - {id: read, tool: mock, inputs: {name: "{{a.output.companies.0.name}}", last: "{{b.output.last}}"}}`,
    expected: { name: 'Acme', last: 2 },
  },
  {
    title: 'a fan-out that appends to a key, which a task behind a barrier reads',
    yaml: `
      pipeline:
        id: appending
        goal: try
        inputs: {all: [3, 1, 2]}
        tasks:
          - {id: keep, tool: store, parallel_over: "{{pipeline.inputs.all}}", inputs: {key: seen, value: "{{item}}", append: true}}
          - {id: read, tool: mock, await: [keep], inputs: {seen: "{{session.seen}}", given: "{{session.given}}"}}`,
    session: { given: true },
    expected: { seen: [3, 1, 2], given: true },
  },
  {
    title: 'retries, and inputs that mock does not declare',
    yaml: `
      pipeline:
        id: retried
        goal: try
        tasks:
          - {id: a, tool: mock, retry: 2, inputs: {input_data: {x: [1, {y: null}]}, anything: "a {{pipeline.goal}}"}}`,
    expected: { input_data: { x: [1, { y: null }] }, anything: 'a try' },
  },
];

describe('A pipeline file written for Trellis', () => {
  for (const { title, yaml, params = {}, session = {}, goal, expected, warns = [] } of CASES) {
    it(`runs unchanged: ${title}`, async () => {
      const pipeline = parsePipeline(yaml, { session });
      expect(pipeline.warnings.map(({ code }) => code)).to.deep.equal(warns);
      const registry = new RunRegistry();
      const record = await registry.settled(await registry.submit({ pipeline, params, session }));
      expect(record).to.include({ status: 'succeeded', error: null });
      if (goal !== undefined) expect(record.goal).to.equal(goal);
      const last = Object.values(record.result?.outputs ?? {}).at(-1) as
        | { inputs: Json }
        | { inputs: Json }[];
      expect(Array.isArray(last) ? last.map(({ inputs }) => inputs) : last.inputs).to.deep.equal(expected);
    });
  }

  it('runs over HTTP with the nulls that generated clients send (D53, D56)', async () => {
    const server = await startTestServer();
    try {
      const nothing = { inputs: null, params: null, session: null, options: null, collect_events: null };
      const tasks = [{ id: 'a', tool: 'mock', inputs: null, await: null, parallel_over: null }];
      const body = { pipeline: { id: 'p', goal: 'g', params: null, inputs: null, tasks }, ...nothing };
      for (const [path, status] of [
        ['validate', 200],
        ['run', 200],
        ['run_async', 202],
      ] as const) {
        expect((await server.request('POST', `/pipelines/${path}`, body)).status, path).to.equal(status);
      }
    } finally {
      await server.close(0);
    }
  });
});

describe('A plan file written for Trellis', () => {
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
  });
  afterEach(() => folder.remove());

  it('runs unchanged: sibling files, a key that its own writer reads, a templated key', async () => {
    const file = folder.write(
      'research.yaml',
      `
plan:
  id: research
  goal: Compare companies
  inputs: {ticker: ACME}
  sub_pipelines:
    - {id: compare, goal: Compare, reads: [figures], stores: [comparison], inputs: []}
    - {id: collect, goal: Collect, reads: [figures], stores: [figures], inputs: [ticker]}
`,
    );
    folder.write(
      'collect.yaml',
      `
pipeline:
  id: collect
  goal: Collect
  inputs: {ticker: ""}
  tasks:
    - {id: keep, tool: store, inputs: {key: figures, value: {of: "{{pipeline.inputs.ticker}}"}}}
    - {id: check, tool: mock, await: [keep], inputs: {of: "{{session.figures.of}}"}}
    - {id: extra, tool: store, inputs: {key: "raw_{{pipeline.inputs.ticker}}", value: 1}}
`,
    );
    folder.write(
      'compare.yaml',
      `
pipeline:
  id: compare
  goal: Compare
  reads: [figures]
  tasks:
    - {id: keep, tool: store, inputs: {key: comparison, value: "{{session.figures.of}} wins"}}
`,
    );
    const plan = await loadPlan(file);
    expect(plan.statistics.order).to.deep.equal(['collect', 'compare']);
    const registry = new RunRegistry();
    const { error, result } = await registry.settled(await registry.submitPlan({ plan }));
    expect(error).to.equal(null);
    expect({ ...result?.blackboard }).to.deep.equal({
      figures: { of: 'ACME' },
      raw_ACME: 1,
      comparison: 'ACME wins',
    });
  });
});
