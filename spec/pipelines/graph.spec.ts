import { expect } from 'chai';
import { parsePipeline } from '../../lib/pipelines/load.js';
import { defineTool } from '../../lib/tools/tool.js';
import {
  createGraph,
  createGraphInSteps,
  type Graph,
  renderDot,
  renderMermaid,
  renderText,
} from '../../lib/pipelines/drawing/graph.js';

const PIPELINE = `id: demo
goal: draw
tasks:
  - {id: list, tool: mock}
  - {id: other, tool: mock}
  - {id: each, tool: mock, parallel_over: "{{list.output.inputs}}", inputs: {x: "{{item}}"}, await: [other]}
  - {id: end, tool: store, await: [each], inputs: {key: k, value: "{{each.output}}"}}
`;

describe('The graph of a pipeline', () => {
  const graph = createGraph(parsePipeline(PIPELINE));

  it('contains the waves and marks fan-outs (rules 1 and 7)', () => {
    expect(graph.waves).to.deep.equal([
      [
        { id: 'list', tool: 'mock', fan_out: false },
        { id: 'other', tool: 'mock', fan_out: false },
      ],
      [{ id: 'each', tool: 'mock', fan_out: true }],
      [{ id: 'end', tool: 'store', fan_out: false }],
    ]);
  });

  it('distinguishes edges of await from edges of templates (rules 5 and 6)', () => {
    expect(graph.edges).to.have.deep.members([
      { from: 'list', to: 'each', kind: 'template' },
      { from: 'other', to: 'each', kind: 'await' },
      { from: 'each', to: 'end', kind: 'template' },
    ]);
  });

  it('is made in steps of some 200 tasks or edges, because a definition may have thousands', () => {
    const tasks = Array.from({ length: 2000 }, (_, index) => `{id: t${index}, tool: mock}`);
    const steps = createGraphInSteps(parsePipeline(`{id: many, goal: g, tasks: [${tasks.join()}]}`));
    let count = 0;
    while (steps.next().done !== true) count++;
    expect(count).to.equal(20);
    const reads = Array.from({ length: 50 }, (_, index) => `{{t${index}.x}}`).join(' ');
    const readers = Array.from(
      { length: 50 },
      (_, index) => `{id: r${index}, tool: mock, inputs: {text: "${reads}"}}`,
    );
    const parts = [...tasks.slice(0, 50), ...readers];
    const dense = createGraphInSteps(parsePipeline(`{id: dense, goal: g, tasks: [${parts.join()}]}`));
    count = 0;
    while (dense.next().done !== true) count++;
    // 2,500 edges, those of 4 tasks in each step.
    expect(count).to.be.within(12, 13);
  });

  it('is plain JSON', () => expect(JSON.parse(JSON.stringify(graph))).to.deep.equal(graph));

  it('renders as Mermaid with a subgraph for each wave and dashed await edges', () => {
    const lines = renderMermaid(graph).split('\n');
    expect(lines.slice(0, 4)).to.deep.equal(['---', 'title: "demo"', '---', 'flowchart LR']);
    expect(lines.filter((line) => line.startsWith('  subgraph'))).to.have.length(3);
    expect(lines).to.include('    t0["list<br/>mock"]');
    expect(lines).to.include('    t2[["each<br/>mock for each item"]]');
    expect(lines).to.include('  t0 --> t2');
    expect(lines).to.include('  t1 -.-> t2');
  });

  it('renders as Graphviz with a rank for each wave and dashed await edges', () => {
    const drawn = renderDot(graph);
    expect(drawn)
      .to.match(/^digraph "demo" \{\n/)
      .and.to.match(/\}\n$/);
    expect(drawn.match(/rank=same/g)).to.have.length(3);
    expect(drawn).to.contain('"wave 1" -> "wave 2" -> "wave 3" [style=invis];');
    expect(drawn).to.contain('    "each" [label="each\\nmock for each item", peripheries=2];');
    expect(drawn).to.contain('  "list" -> "each";\n');
    expect(drawn).to.contain('  "other" -> "each" [style=dashed];\n');
  });

  it('renders as text with a column for each wave', () => {
    expect(renderText(graph, 80).split('\n')).to.deep.equal([
      'wave 1   wave 2                 wave 3',
      '',
      'list     each                   end',
      '  mock     mock for each item     store',
      '           <- list                <- each',
      'other      <- other (await)',
      '  mock',
      '',
    ]);
  });

  it('has the fields of what a tool returns, and as text as many as have room', () => {
    const get = '{id: get, tool: http_request, inputs: {url: "https://example.com"}}';
    const drawn = createGraph(parsePipeline(`{id: p, goal: g, tasks: [${get}]}`));
    expect(drawn.waves[0]?.[0]?.fields).to.deep.equal(['status', 'url', 'headers', 'body']);
    expect(renderText(drawn, 80).split('\n').slice(2, 5)).to.deep.equal([
      'get',
      '  http_request',
      '  -> status, url, header…',
    ]);
  });

  it('wraps the columns of text when the terminal is narrow', () => {
    const lines = renderText(graph, 35).split('\n');
    expect(lines[0]).to.equal('wave 1   wave 2');
    expect(lines).to.include('wave 3');
    for (const line of lines) expect(line.length).to.be.at.most(35);
  });

  it('names the first upstream tasks and counts the others', () => {
    const many = Array.from({ length: 50 }, (_, i) => ({ id: `t${i}`, tool: 'mock', fan_out: false }));
    const edges = many.map(({ id }) => ({ from: id, to: 'end', kind: 'template' as const }));
    const wide: Graph = {
      id: 'w',
      goal: '',
      waves: [many, [{ id: 'end', tool: 'mock', fan_out: false }]],
      edges,
    };
    expect(renderText(wide, 80)).to.contain('<- t3\n').and.to.contain('<- 46 more');
  });

  it('escapes labels, whatever the name of a tool', () => {
    const odd: Graph = {
      id: 'end',
      goal: '',
      waves: [[{ id: 'end', tool: 'a"]; <b>\\#', fan_out: false }]],
      edges: [],
    };
    expect(renderMermaid(odd)).to.contain('    t0["end<br/>a#34;#93;#59; #60;b#62;#92;#35;"]\n');
    expect(renderDot(odd)).to.contain('    "end" [label="end\\na\\"]; <b>\\\\#"];\n');
  });

  it('renders in linear time', () => {
    const tool = defineTool({ name: 'x', description: '', inputs: {}, openInputs: true, run: () => 1 });
    const tasks = Array.from(
      { length: 3000 },
      (_, i) => `{id: t${i}, tool: x${i > 0 ? `, await: [t${i - 1}]` : ''}}`,
    );
    const long = createGraph(
      parsePipeline(`{id: l, goal: g, tasks: [${tasks.join(', ')}]}`, { tools: [tool] }),
    );
    const started = process.cpuUsage();
    for (const draw of [renderMermaid, renderDot]) draw(long);
    renderText(long, 80);
    expect(process.cpuUsage(started).user / 1000).to.be.below(1000);
  });
});
