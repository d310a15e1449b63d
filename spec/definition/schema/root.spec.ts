import { expect } from 'chai';
import { kindOfDefinition, kindOfRoot, rootOf } from '../../../lib/definition/schema/root.js';

const TASKS = { id: 'p', goal: 'g', tasks: [] };
const PLAN = { id: 'p', sub_pipelines: [] };

describe('the root of a definition (D3, D44)', () => {
  it('tells the kind by its key, or by the list that the bare object has', () => {
    expect([TASKS, { pipeline: {} }, { pipeline: 1 }].map(kindOfRoot)).to.deep.equal(
      Array(3).fill('pipeline'),
    );
    expect([PLAN, { plan: {} }, { plan: null }].map(kindOfRoot)).to.deep.equal(Array(3).fill('plan'));
    const neither = [null, 1, [], {}, { id: 'p' }, { tasks: [], sub_pipelines: [] }];
    expect(neither.map(kindOfRoot)).to.deep.equal(Array(6).fill(undefined));
  });

  it('is found under the key of its kind, or bare', () => {
    for (const [kind, bare] of [
      ['pipeline', TASKS],
      ['plan', PLAN],
    ] as const) {
      expect(rootOf({ [kind]: bare }, kind)).to.deep.equal({
        ok: true,
        definition: bare,
        path: [kind],
        findings: [],
      });
      expect(rootOf(bare, kind)).to.deep.equal({ ok: true, definition: bare, path: [], findings: [] });
      expect(rootOf({ id: 'unfinished' }, kind)).to.include({ ok: true });
    }
  });

  it('reports what stands beside it', () => {
    const root = rootOf({ plan: PLAN, extra: 1 }, 'plan');
    expect(root.ok && root.findings).to.deep.equal([
      {
        code: 'unknown_field',
        message: '"extra" stands beside "plan"',
        path: ['extra'],
        hint: 'move it under "plan", or away',
        at: 'key',
      },
    ]);
  });

  it('refuses the other kind as what it is, and what is neither', () => {
    const messages = (value: unknown) =>
      (['pipeline', 'plan'] as const).map((kind) => {
        const root = rootOf(value, kind);
        return root.ok ? '' : `${root.finding.message} at ${root.finding.path.join('/')}`;
      });
    expect(messages(PLAN)).to.deep.equal(['this is a plan, not a pipeline at ', '']);
    expect(messages({ plan: PLAN })).to.deep.equal(['this is a plan, not a pipeline at ', '']);
    expect(messages(TASKS)).to.deep.equal(['', 'this is a pipeline, not a plan at ']);
    expect(messages({ pipeline: TASKS })).to.deep.equal(['', 'this is a pipeline, not a plan at ']);
    expect(messages({ other: 1 })).to.deep.equal([
      'there is no pipeline in it at ',
      'there is no plan in it at ',
    ]);
    expect(messages([])).to.deep.equal(Array(2).fill('a definition is a map, not list at '));
  });

  it('refuses the key of one kind over the list of the other, whatever was wanted, in one way', () => {
    for (const [value, path, message, hint] of [
      [{ plan: TASKS }, 'plan', 'it begins with "plan:" but holds "tasks"', 'begin with "pipeline:"'],
      [
        { pipeline: PLAN },
        'pipeline',
        'it begins with "pipeline:" but holds "sub_pipelines"',
        'begin with "plan:"',
      ],
    ] as const) {
      for (const wanted of ['pipeline', 'plan'] as const) {
        expect(rootOf(value, wanted)).to.deep.equal({
          ok: false,
          finding: { code: 'invalid_value', message, path: [path], hint },
        });
      }
    }
    expect(kindOfRoot({ plan: TASKS })).to.equal('pipeline');
    expect(kindOfRoot({ pipeline: PLAN })).to.equal('plan');
  });
});

describe('kindOfDefinition', () => {
  const kinds: Record<string, 'plan' | 'pipeline'> = {
    'plan:\n  id: a': 'plan',
    'id: a\nsub_pipelines: []': 'plan',
    '{"plan": {"id": "a"}}': 'plan',
    '{"id":"a","sub_pipelines":[]}': 'plan',
    '? plan\n: {id: a}': 'plan',
    '"plan" : {id: a}': 'plan',
    'id: a\ngoal: g\ntasks: []': 'pipeline',
    'pipeline:\n  goal: "the plan: win"': 'pipeline',
    'pipeline:\n  inputs: {plan: 1}': 'pipeline',
    'pipeline:\n  tasks: [{id: plan, tool: mock, inputs: {sub_pipelines: []}}]': 'pipeline',
    'other: {plan: 1}': 'pipeline',
    '': 'pipeline',
    'plan:\n  id: [': 'plan',
    'pipeline:\n  plan: [': 'pipeline',
  };

  for (const [text, kind] of Object.entries(kinds)) {
    it(`takes ${JSON.stringify(text)} for a ${kind}`, () => {
      expect(kindOfDefinition(text)).to.equal(kind);
    });
  }

  it('reads no text that has been read', () => {
    expect(kindOfDefinition('pipeline: {}', { value: PLAN })).to.equal('plan');
    expect(kindOfDefinition('plan: {}', { value: TASKS })).to.equal('pipeline');
  });
});
