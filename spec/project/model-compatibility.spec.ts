import { expect } from 'chai';
import { modelAccess } from '../../lib/models/create-models.js';
import { loadPlan } from '../../lib/plans/load.js';
import { RunRegistry } from '../../lib/runs/registry.js';
import { fileAccess } from '../../lib/tools/files/file-access.js';
import { replyInParts, type Reply, useModelServer } from '../models/model-server.js';
import { WIRES, type Wire } from '../models/wires.js';
import { TemporaryFolder } from '../support/temporary-folder.js';

const PLAN = `
plan:
  id: credit_review
  goal: A credit review
  inputs: {company: ACME}
  sub_pipelines:
    - {id: extract, goal: Read the filing, inputs: [company], stores: [figures, risks]}
    - {id: memo, goal: Write the memo, inputs: [company], reads: [figures, risks], stores: [memo]}
`;

const EXTRACT = `
pipeline:
  id: extract
  goal: Read the filing
  inputs: {company: ""}
  tasks:
    - {id: filing, tool: ingest_document, inputs: {path: filing.txt}}
    - {id: rules, tool: ingest_document, inputs: {path: rules.txt}}
    - id: income_schema
      tool: load_schema
      inputs:
        source:
          - {name: revenue, type_hint: number, section: income_statement}
          - {name: net_income, type_hint: number, section: income_statement}
          - {name: auditor, type_hint: text, section: notes}
    - id: pages
      tool: select
      inputs:
        document: "{{filing.output}}"
        prompt: "the income statement"
        model: openai/gpt-4o
    - id: fields
      tool: extract_fields
      retry: 1
      inputs:
        document: "{{pages.output}}"
        schema: "{{income_schema.output}}"
        rules: "{{rules.output}}"
        period_end: "2024-12-31"
        section_filter: income_statement
        model: openai/gpt-4o
    - id: risks
      tool: extract_from_texts
      await: [fields]
      inputs:
        document: "{{filing.output}}"
        prompt: "The risks that the filing names, as a JSON list"
        model: anthropic/claude-haiku-4-5
    - {id: keep_figures, tool: store, inputs: {key: figures, value: "{{fields.output}}"}}
    - {id: keep_risks, tool: store, inputs: {key: risks, value: "{{risks.output.extracted}}"}}
`;

const MEMO = `
pipeline:
  id: memo
  goal: Write the memo
  reads: [figures, risks]
  inputs: {company: ""}
  tasks:
    - id: assess
      tool: llm_job
      parallel_over: "{{session.risks}}"
      inputs:
        prompt: "How grave is this for {{pipeline.inputs.company}}?"
        risk: "{{item}}"
        temperature: 0
        max_tokens: 100
    - id: label
      tool: compute
      inputs: {function: period_label, date: "2024-12-31", period_type: annual}
    - id: file
      tool: export
      inputs:
        format: markdown
        filename: memo
        data: {label: "{{label.output}}", figures: "{{session.figures}}", assessments: "{{assess.output}}"}
    - {id: keep, tool: store, await: [file], inputs: {key: memo, value: "{{assess.output}}"}}
`;

describe('A plan with language models written for Trellis', () => {
  const server = useModelServer();
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  const wireOf = (provider: string): Wire => {
    const wire = WIRES.find(({ model }) => model.startsWith(`${provider}/`));
    if (wire === undefined) throw new Error(`no wire of ${provider}`);
    return wire;
  };

  const say = (provider: string, text: string): Reply => {
    const wire = wireOf(provider);
    return replyInParts(wire.type, wire.parts({ texts: [text] }), 'end');
  };

  const variables = (): Record<string, string> => ({
    ...wireOf('openai').variables(server.url, 'k'),
    ...wireOf('anthropic').variables(server.url, 'k'),
    TRELLIS_LLM_MODEL: 'openai/gpt-4o-mini',
  });

  it('runs unchanged with recorded answers, through the wire formats of both of its providers', async () => {
    folder.write('filing.txt', 'Net income 2024: 12\fRevenue 2024: 345');
    folder.write('rules.txt', 'Amounts are in millions.');
    folder.write('extract.yaml', EXTRACT);
    folder.write('memo.yaml', MEMO);
    const plan = await loadPlan(folder.write('plan.yaml', PLAN));
    expect(plan.statistics.order).to.deep.equal(['extract', 'memo']);
    server.reply(
      say('openai', '[1]'),
      say('openai', '{"revenue": 345, "net_income": null}'),
      say('anthropic', '["inflation", "lawsuits"]'),
      say('openai', 'moderate'),
    );
    const registry = new RunRegistry({ models: modelAccess(variables()), files: fileAccess([folder.path]) });
    const id = await registry.submitPlan({ plan });
    const { error, result } = await registry.settled(id);
    await registry.close(0);
    expect(error, String(error)).to.equal(null);
    expect({ ...result?.blackboard }).to.deep.equal({
      figures: { revenue: 345, net_income: '__not_found__' },
      risks: ['inflation', 'lawsuits'],
      memo: ['moderate', 'moderate'],
    });
    const asked = server.requests.map(({ path, body }) => `${path} ${body['model'] as string}`);
    expect(asked).to.deep.equal([
      '/v1/chat/completions gpt-4o',
      '/v1/chat/completions gpt-4o',
      '/v1/messages claude-haiku-4-5',
      '/v1/chat/completions gpt-4o-mini',
      '/v1/chat/completions gpt-4o-mini',
    ]);
  });
});
