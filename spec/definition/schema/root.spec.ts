import { expect } from 'chai';
import { detectKindOfText, detectKind, findRoot } from '../../../lib/definition/schema/root.js';

const TASKS = { id: 'p', goal: 'g', tasks: [] };
const PLAN = { id: 'p', sub_pipelines: [] };

describe('findRoot and detectKind (D3, D44)', () => {
  it('detect the kind by the root key, or by the list of the bare object', () => {
    expect([TASKS, { pipeline: {} }, { pipeline: 1 }].map(detectKind)).to.deep.equal(
      Array(3).fill('pipeline'),
    );
    expect([PLAN, { plan: {} }, { plan: null }].map(detectKind)).to.deep.equal(Array(3).fill('plan'));
    const neither = [null, 1, [], {}, { id: 'p' }, { tasks: [], sub_pipelines: [] }];
    expect(neither.map(detectKind)).to.deep.equal(Array(6).fill(undefined));
  });

  it('find the definition under the key of its kind, or bare', () => {
    for (const [kind, bare] of [
      ['pipeline', TASKS],
      ['plan', PLAN],
    ] as const) {
      expect(findRoot({ [kind]: bare }, kind)).to.deep.equal({
        ok: true,
        definition: bare,
        path: [kind],
        diagnostics: [],
      });
      expect(findRoot(bare, kind)).to.deep.equal({ ok: true, definition: bare, path: [], diagnostics: [] });
      expect(findRoot({ id: 'unfinished' }, kind)).to.include({ ok: true });
    }
  });

  it('leave out known fields with nothing behind them, of the definition and its parts (D53)', () => {
    const task = { id: 'a', tool: 'mock' };
    const pipeline = {
      id: 'p',
      goal: 'g',
      inputs: null,
      params: null,
      reads: null,
      description: null,
      tasks: [
        { ...task, inputs: null, await: null, parallel_over: null, retry: null, odd: null },
        task,
        null,
      ],
      odd: null,
    };
    const root = findRoot({ pipeline }, 'pipeline');
    expect(root.ok && root.definition).to.deep.equal({
      id: 'p',
      goal: 'g',
      odd: null,
      tasks: [{ ...task, odd: null }, task, null],
    });
    const plan = {
      id: 'p',
      inputs: null,
      sub_pipelines: [{ id: 's', reads: null, stores: null, inputs: null }],
      on_cancel: null,
      finally: [{ ...task, retry: null, odd: null }],
    };
    const rootOfPlan = findRoot(plan, 'plan');
    expect(rootOfPlan.ok && rootOfPlan.definition).to.deep.equal({
      id: 'p',
      sub_pipelines: [{ id: 's' }],
      finally: [{ ...task, odd: null }],
    });
  });

  it('keep a definition without such fields as it is, and nulls that are values', () => {
    const definition = { ...TASKS, inputs: { a: null }, params: { p: { default: null } } };
    const root = findRoot(definition, 'pipeline');
    expect(root.ok && root.definition).to.equal(definition);
  });

  it('report fields beside the root key', () => {
    const root = findRoot({ plan: PLAN, extra: 1 }, 'plan');
    expect(root.ok && root.diagnostics).to.deep.equal([
      {
        code: 'unknown_field',
        message: '"extra" is beside "plan"',
        path: ['extra'],
        hint: 'move it under "plan" or remove it',
        at: 'key',
      },
    ]);
  });

  it('reject the other kind by its name, and documents of neither kind', () => {
    const messages = (value: unknown) =>
      (['pipeline', 'plan'] as const).map((kind) => {
        const root = findRoot(value, kind);
        return root.ok ? '' : `${root.diagnostic.message} at ${root.diagnostic.path.join('/')}`;
      });
    expect(messages(PLAN)).to.deep.equal(['this is a plan, not a pipeline at ', '']);
    expect(messages({ plan: PLAN })).to.deep.equal(['this is a plan, not a pipeline at ', '']);
    expect(messages(TASKS)).to.deep.equal(['', 'this is a pipeline, not a plan at ']);
    expect(messages({ pipeline: TASKS })).to.deep.equal(['', 'this is a pipeline, not a plan at ']);
    expect(messages({ other: 1 })).to.deep.equal([
      'the definition contains no pipeline at ',
      'the definition contains no plan at ',
    ]);
    expect(messages([])).to.deep.equal(Array(2).fill('a definition must be a map, not a list at '));
  });

  it('reject "plan:" over tasks and "pipeline:" over sub-pipelines, whichever kind is wanted', () => {
    for (const [value, path, message, hint] of [
      [{ plan: TASKS }, 'plan', 'it starts with "plan:" but contains "tasks"', 'start with "pipeline:"'],
      [
        { pipeline: PLAN },
        'pipeline',
        'it starts with "pipeline:" but contains "sub_pipelines"',
        'start with "plan:"',
      ],
    ] as const) {
      for (const wanted of ['pipeline', 'plan'] as const) {
        expect(findRoot(value, wanted)).to.deep.equal({
          ok: false,
          diagnostic: { code: 'invalid_value', message, path: [path], hint },
        });
      }
    }
    expect(detectKind({ plan: TASKS })).to.equal('pipeline');
    expect(detectKind({ pipeline: PLAN })).to.equal('plan');
  });
});

describe('detectKindOfText', () => {
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
    it(`detects a ${kind} in ${JSON.stringify(text)}`, () => {
      expect(detectKindOfText(text)).to.equal(kind);
    });
  }

  it('takes the value that the caller has parsed, and does not parse the text again', () => {
    expect(detectKindOfText('pipeline: {}', { value: PLAN })).to.equal('plan');
    expect(detectKindOfText('plan: {}', { value: TASKS })).to.equal('pipeline');
  });
});
