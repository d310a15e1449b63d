import { expect } from 'chai';
import { type Reference, referenceOf } from '../../../lib/definition/template/reference.js';
import { expressionOf } from './expression-of.js';

describe('referenceOf (rules 5 and 8)', () => {
  const taskIds = new Set(['a', 'load', 'summarize']);

  function meaningOf(source: string): Reference {
    return referenceOf(expressionOf(source), taskIds);
  }

  const known: [string, Reference][] = [
    ['a.output', { kind: 'task', taskId: 'a', omitted: false }],
    ['load.output.rows[0].name', { kind: 'task', taskId: 'load', omitted: false }],
    ['load["output"]', { kind: 'task', taskId: 'load', omitted: false }],
    ['load.rows', { kind: 'task', taskId: 'load', omitted: true }],
    ['load[0]', { kind: 'task', taskId: 'load', omitted: true }],
    ['pipeline.inputs.ticker', { kind: 'input', key: 'ticker' }],
    ['pipeline.inputs["any key"].x', { kind: 'input', key: 'any key' }],
    ['pipeline.inputs.2024', { kind: 'input', key: '2024' }],
    ['pipeline.goal', { kind: 'goal' }],
    ['pipeline.goal.length', { kind: 'goal' }],
    ['params.lang', { kind: 'param', name: 'lang' }],
    ['params.0', { kind: 'param', name: '0' }],
    ['session.notes.first', { kind: 'session', key: 'notes' }],
    ['item', { kind: 'item' }],
    ['item.name', { kind: 'item' }],
  ];
  for (const [source, reference] of known) {
    it(`finds what {{${source}}} reads`, () => {
      expect(meaningOf(source)).to.deep.equal(reference);
    });
  }

  const unknown: [string, RegExp, string | undefined][] = [
    ['a', /"a" is a task, not a value/, 'write {{a.output}}'],
    ['params', /name is missing after "params"/, 'write {{params.<name>}}'],
    ['session', /name is missing after "session"/, 'write {{session.<name>}}'],
    ['session[-1]', /name is missing after "session"/, 'write {{session.<name>}}'],
    ['pipeline', /inputs and goal only/, 'write {{pipeline.inputs.<name>}} or {{pipeline.goal}}'],
    ['pipeline.id', /inputs and goal only/, 'write {{pipeline.inputs.<name>}} or {{pipeline.goal}}'],
    ['pipeline.input.x', /inputs and goal only/, 'did you mean "pipeline.inputs"?'],
    ['pipeline.inputs', /name is missing after "pipeline.inputs"/, 'write {{pipeline.inputs.<name>}}'],
    ['summarise.output', /nothing is called "summarise"/, 'did you mean "summarize"?'],
    ['sesion.x', /nothing is called "sesion"/, 'did you mean "session"?'],
    ['parms.x', /nothing is called "parms"/, 'did you mean "params"?'],
    ['pipelines.goal', /nothing is called "pipelines"/, 'did you mean "pipeline"?'],
    ['items.x', /nothing is called "items"/, 'did you mean "item"?'],
    ['inputs.x', /nothing is called "inputs"/, 'did you mean "pipeline.inputs.x"?'],
    ['goal', /nothing is called "goal"/, 'did you mean "pipeline.goal"?'],
    ['tasks.load.output', /nothing is called "tasks"/, 'did you mean "load.output"?'],
    ['elsewhere.x', /nothing is called "elsewhere"/, undefined],
    ['toString.x', /nothing is called "toString"/, undefined],
  ];
  for (const [source, message, hint] of unknown) {
    it(`does not know {{${source}}}${hint === undefined ? '' : `: ${hint}`}`, () => {
      const reference = meaningOf(source);
      if (reference.kind !== 'unknown') throw new Error(`it is known as ${reference.kind}`);
      expect(reference.message).to.match(message);
      expect(reference.hint).to.equal(hint);
    });
  }

  it('takes inputs, goal and tasks for tasks where tasks are called so', () => {
    const ids = new Set(['inputs', 'goal', 'tasks']);
    expect([...ids].map((id) => referenceOf(expressionOf(`${id}.output`), ids).kind)).to.deep.equal([
      'task',
      'task',
      'task',
    ]);
  });
});
