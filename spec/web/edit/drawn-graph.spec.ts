import { expect } from 'chai';
import { type DrawnGraph, drawPlan, isTextOf } from '../../../web/console/edit/model/drawn-graph.js';

const TASK = { tool: 'mock', fan_out: false };
const GRAPH: DrawnGraph = {
  id: 'daily',
  waves: [
    [
      { ...TASK, id: 'fetch' },
      { ...TASK, id: 'read' },
    ],
    [{ ...TASK, id: 'send' }],
  ],
  edges: [],
};

describe('The graph beside a text that cannot be read', () => {
  for (const [name, text, isOf] of [
    ['while the definition has its id', 'pipeline:\n  id: daily\n  tasks: [', true],
    ['while it has its id in JSON', '{"id": "daily", "tasks": [', true],
    ['while at least half of its tasks are there', 'id: new\ntasks:\n - id: "fetch"\n - {id: send', true],
    ['no longer when most tasks are others', 'id: new\ntasks:\n - id: fetch\n - id: other\n\t', false],
    ['no longer when another definition is there', 'id: weekly\ntasks:\n  - id: report\n\t', false],
    ['no longer when only words of it are there', 'fetch the daily news, read them and send them', false],
    ['no longer when another field ends in "id"', 'run_id: daily\npart-id: fetch', false],
  ] as const) {
    it(`belongs to it ${name}`, () => {
      expect(isTextOf(GRAPH, text)).to.equal(isOf);
    });
  }

  it('has the sub-pipelines of a plan, an edge from the one that stores to each that reads, and the handlers', () => {
    const drawn = drawPlan({
      id: 'p',
      goal: '',
      sub_pipelines: 2,
      inputs_count: 0,
      order: ['a', 'b'],
      waves: 2,
      wave_ids: [['a'], ['b']],
      plan_concurrency: 1,
      tasks: 2,
      handlers: 2,
      handler_waves: [{ list: 'on_failure', ids: ['alert', 'log'] }],
      keys: [
        { key: 'k', stored_by: 'a', read_by: ['a', 'b'] },
        { key: 'l', stored_by: 'a', read_by: ['b'] },
        { key: 'm', stored_by: null, read_by: ['b'] },
      ],
    });
    expect(drawn.waves.map((wave) => wave.map(({ id }) => id))).to.deep.equal([
      ['a'],
      ['b'],
      ['alert', 'log'],
    ]);
    expect(drawn.wave_lists).to.deep.equal([null, null, 'on_failure']);
    expect(drawn.edges).to.deep.equal([{ from: 'a', to: 'b', kind: 'template' }]);
  });
});
