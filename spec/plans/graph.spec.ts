import { expect } from 'chai';
import { parse } from 'yaml';
import { checkPlanDefinition } from '../../lib/plans/check.js';
import {
  renderPlanDot,
  type PlanGraph,
  createPlanGraph,
  createPlanGraphInSteps,
  renderPlanMermaid,
  renderPlanSvg,
  renderPlanText,
} from '../../lib/plans/graph.js';
import type { Plan } from '../../lib/plans/plan.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';

const PLAN = `
id: quarterly
goal: report
sub_pipelines:
  - {id: report, reads: [figures, texts, words], pipeline: {id: r, goal: g, tasks: [
      {id: t, tool: mock, inputs: {a: "{{session.figures}}{{session.words}}{{session.texts}}"}}]}}
  - {id: ingest, reads: [since], stores: [texts, words], pipeline: {id: i, goal: g, tasks: [
      {id: t, tool: store, inputs: {key: texts, value: "{{session.since}}"}},
      {id: w, tool: store, inputs: {key: words, value: 1}}]}}
  - {id: figures, reads: [texts], stores: [figures], pipeline: {id: f, goal: g, tasks: [
      {id: t, tool: store, inputs: {key: figures, value: "{{session.texts}}"}}]}}
`;

describe('The graph of a plan', () => {
  let graph: PlanGraph;
  let plan: Plan;
  before(() => {
    const check = checkPlanDefinition(parse(PLAN), { catalog: builtinCatalog(), session: { since: 1 } });
    if (!check.ok || check.plan === undefined) throw new Error(JSON.stringify(check.problems));
    plan = check.plan;
    graph = createPlanGraph(plan);
  });

  it('is made in steps of one sub-pipeline each, because a plan may have thousands of keys', () => {
    const steps = createPlanGraphInSteps(plan);
    let count = 0;
    while (steps.next().done !== true) count++;
    expect(count).to.be.at.least(plan.definition.sub_pipelines.length);
  });

  it('contains the waves of sub-pipelines with their task counts', () => {
    expect(graph.waves).to.deep.equal([
      [{ id: 'ingest', tasks: 2 }],
      [{ id: 'figures', tasks: 1 }],
      [{ id: 'report', tasks: 1 }],
    ]);
  });

  it('has edges from writers to readers with their keys, and none for keys of the session (Plan, rule 1)', () => {
    expect(graph.edges).to.have.deep.members([
      { from: 'ingest', to: 'report', keys: ['texts', 'words'] },
      { from: 'figures', to: 'report', keys: ['figures'] },
      { from: 'ingest', to: 'figures', keys: ['texts'] },
    ]);
  });

  it('renders as Mermaid with the keys on the edges', () => {
    const lines = renderPlanMermaid(graph).split('\n');
    expect(lines.slice(0, 4)).to.deep.equal(['---', 'title: "quarterly"', '---', 'flowchart LR']);
    expect(lines).to.include('  p0["ingest<br/>2 tasks"]').and.to.include('  p0 -->|"texts"| p1');
  });

  it('renders as Graphviz with the keys on the edges', () => {
    expect(renderPlanDot(graph))
      .to.match(/^digraph "quarterly" \{\n[^]*\}\n$/)
      .and.to.contain('  "ingest" -> "report" [label="texts\\nwords"];\n');
  });

  it('renders as text in columns that fit', () => {
    expect(renderPlanText(graph, 80).split('\n').slice(0, 4)).to.deep.equal([
      'wave 1      wave 2               wave 3',
      '',
      'ingest      figures              report',
      '  2 tasks     1 task               1 task',
    ]);
    expect(renderPlanText(graph, 80)).to.contain('  <- ingest: texts, words\n');
    for (const line of renderPlanText(graph, 30).split('\n')) expect(line.length).to.be.at.most(30);
  });

  describe('with handlers (D80)', () => {
    const handlers =
      'on_failure: [{id: alert, tool: mock}]\nfinally: [{id: log, tool: mock, inputs: {a: "{{alert.output ?? 0}}"}}]\n';
    let drawn: PlanGraph;
    before(() => {
      const options = { catalog: builtinCatalog(), session: { since: 1 } };
      const check = checkPlanDefinition(parse(`${handlers}${PLAN}`), options);
      if (!check.ok || check.plan === undefined) throw new Error(JSON.stringify(check.problems));
      drawn = createPlanGraph(check.plan);
    });

    it('contains their graph by list, apart from the sub-pipelines', () => {
      expect({ ...drawn, handlers: undefined }).to.deep.equal({ ...graph, handlers: undefined });
      expect(drawn.handlers?.wave_lists).to.deep.equal(['on_failure', 'finally']);
      expect(drawn.handlers?.edges).to.deep.equal([{ from: 'alert', to: 'log', kind: 'template' }]);
      expect(graph).to.not.have.property('handlers');
    });

    it('renders them behind the sub-pipelines in each format', () => {
      const text = renderPlanText(drawn, 80);
      expect(text.slice(renderPlanText(graph, 80).length)).to.match(/^\non_failure +finally\n\nalert +log\n/);
      expect(renderPlanMermaid(drawn))
        .to.contain('  subgraph w1 ["on_failure"]\n')
        .and.to.contain('  t0 --> t1');
      expect(renderPlanDot(drawn)).to.contain('  "alert" -> "log";\n');
      expect(renderPlanSvg(drawn)).to.match(/>wave 3<[^]*>on_failure<[^]*>finally</);
    });
  });

  it('escapes special characters in keys', () => {
    const strange = { ...graph, edges: [{ from: 'ingest', to: 'report', keys: ['a"|b\n'] }] };
    expect(renderPlanMermaid(strange)).to.contain('-->|"a#34;#124;b#10;"|');
    expect(renderPlanDot(strange)).to.contain('[label="a\\"|b\\n"]');
  });
});
