import { expect } from 'chai';
import { textOfHint } from '../../../lib/definition/problems/hint.js';
import { type Reference, resolveReference } from '../../../lib/definition/template/reference.js';
import { parseExpression } from './expressions.js';

describe('resolveReference (rules 5 and 8)', () => {
  const taskIds = new Set(['a', 'load', 'summarize']);

  function resolveSource(source: string): Reference {
    return resolveReference(parseExpression(source), taskIds);
  }

  const known: [string, Reference][] = [
    ['a.output', { kind: 'task', taskId: 'a', omitted: false }],
    ['load.output.rows[0].name', { kind: 'task', taskId: 'load', omitted: false }],
    ['load["output"]', { kind: 'task', taskId: 'load', omitted: false }],
    ['load', { kind: 'task', taskId: 'load', omitted: true }],
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
    ['secrets.TOKEN_2', { kind: 'secret', name: 'TOKEN_2' }],
    ['secrets["TOKEN"]', { kind: 'secret', name: 'TOKEN' }],
    ['item', { kind: 'item' }],
    ['item.name', { kind: 'item' }],
  ];
  for (const [source, reference] of known) {
    it(`resolves {{${source}}}`, () => {
      expect(resolveSource(source)).to.deep.equal(reference);
    });
  }

  const unknown: [string, RegExp, string | undefined][] = [
    ['params', /name is missing after "params"/, 'write {{params.<name>}}'],
    ['session', /name is missing after "session"/, 'write {{session.<name>}}'],
    ['session[-1]', /name is missing after "session"/, 'write {{session.<name>}}'],
    ['pipeline', /only inputs and goal/, 'write {{pipeline.inputs.<name>}} or {{pipeline.goal}}'],
    ['pipeline.id', /only inputs and goal/, 'write {{pipeline.inputs.<name>}} or {{pipeline.goal}}'],
    ['pipeline.input.x', /only inputs and goal/, 'did you mean "pipeline.inputs"?'],
    ['pipeline.inputs', /name is missing after "pipeline.inputs"/, 'write {{pipeline.inputs.<name>}}'],
    ['summarise.output', /there is no task "summarise"/, 'did you mean "summarize"?'],
    ['sesion.x', /there is no task "sesion"/, 'did you mean "session"?'],
    ['parms.x', /there is no task "parms"/, 'did you mean "params"?'],
    ['pipelines.goal', /there is no task "pipelines"/, 'did you mean "pipeline"?'],
    ['items.x', /there is no task "items"/, 'did you mean "item"?'],
    ['inputs.x', /there is no task "inputs"/, 'did you mean "pipeline.inputs.x"?'],
    ['goal', /there is no task "goal"/, 'did you mean "pipeline.goal"?'],
    ['tasks.load.output', /there is no task "tasks"/, 'did you mean "load.output"?'],
    ['tasks.load.rows', /there is no task "tasks"/, 'did you mean "load.output"?'],
    ['workflow.parameters.x', /there is no task "workflow"/, 'did you mean "params.x"?'],
    ['workflow.parameters', /there is no task "workflow"/, undefined],
    ['inputs.parameters.x[0]', /there is no task "inputs"/, 'did you mean "params.x[0]"?'],
    ['inputs.parameters', /there is no task "inputs"/, 'did you mean "pipeline.inputs.parameters"?'],
    ['steps.a.outputs.parameters.x', /there is no task "steps"/, 'did you mean "a.output.x"?'],
    ['needs.a.outputs.x', /there is no task "needs"/, 'did you mean "a.output.x"?'],
    ['jobs.load.output', /there is no task "jobs"/, 'did you mean "load.output"?'],
    ['steps.gone.outputs.x', /there is no task "steps"/, 'an output is read as {{TASK.output.x}}'],
    ['steps.x', /there is no task "steps"/, undefined],
    ['env.CITY', /there is no task "env"/, 'templates read no environment: declare a param and pass it'],
    ['secret.X', /there is no task "secret"/, 'did you mean "secrets.X"?'],
    ['secrets', /the name of a secret has capital letters/, 'write {{secrets.<NAME>}}'],
    ['secrets.api-key', /the name of a secret has capital letters/, 'did you mean "secrets.API_KEY"?'],
    ['secrets[0]', /the name of a secret has capital letters/, 'write {{secrets.<NAME>}}'],
    ['secrets.TOKEN.user', /a secret is a text, which has no fields/, 'write {{secrets.TOKEN}}'],
    ['elsewhere.x', /there is no task "elsewhere"/, undefined],
    ['toString.x', /there is no task "toString"/, undefined],
  ];
  for (const [source, message, hint] of unknown) {
    it(`does not resolve {{${source}}}${hint === undefined ? '' : `: ${hint}`}`, () => {
      const reference = resolveSource(source);
      if (reference.kind !== 'unknown') throw new Error(`it is known as ${reference.kind}`);
      expect(reference.message).to.match(message);
      expect(reference.hint && textOfHint(reference.hint)).to.equal(hint);
    });
  }

  const misspelt: [string, string][] = [
    ['load.outptu', 'load.output'],
    ['load.outputs.rows[0]', 'load.output.rows[0]'],
    ['load["Output"].x', 'load.output.x'],
  ];
  for (const [source, meant] of misspelt) {
    it(`suggests {{${meant}}} for {{${source}}}, which reads a field of that name (D11)`, () => {
      const reference = { kind: 'task', taskId: 'load', omitted: true, meant };
      expect(resolveSource(source)).to.deep.equal(reference);
    });
  }

  const bare: [string, string | undefined][] = [
    ['city', 'did you mean "params.city"?'],
    ['city.name[0]', 'did you mean "params.city.name[0]"?'],
    ['ticker', 'did you mean "pipeline.inputs.ticker"?'],
    ['both', 'did you mean "params.both"?'],
    ['citi', undefined],
  ];
  for (const [source, hint] of bare) {
    it(`finds ${hint ?? 'no suggestion'} for {{${source}}} among the params and inputs`, () => {
      const reference = resolveReference(parseExpression(source), taskIds, {
        params: new Set(['city', 'both']),
        inputs: new Set(['ticker', 'both']),
        suggestions: { nearest: () => undefined },
      });
      expect(readHint(reference)).to.equal(hint);
    });
  }

  it('resolves words of other products as task ids where tasks have these ids, and finds params of that name', () => {
    const ids = new Set(['inputs', 'goal', 'tasks', 'workflow', 'steps', 'needs', 'env', 'secrets']);
    const kinds = [...ids].map((id) => resolveReference(parseExpression(`${id}.a.outputs`), ids).kind);
    expect(new Set(kinds)).to.deep.equal(new Set(['task']));
    const reference = resolveReference(parseExpression('env.city'), taskIds, {
      params: new Set(['env']),
      inputs: new Set(),
      suggestions: { nearest: () => undefined },
    });
    expect(readHint(reference)).to.equal('did you mean "params.env.city"?');
  });

  it('takes {{inputs.parameters.x}} for an input where the pipeline has an input "parameters"', () => {
    const reference = resolveReference(parseExpression('inputs.parameters.x'), taskIds, {
      params: new Set(),
      inputs: new Set(['parameters']),
      suggestions: { nearest: () => undefined },
    });
    expect(readHint(reference)).to.equal('did you mean "pipeline.inputs.parameters.x"?');
  });
});

function readHint(reference: Reference): string | undefined {
  return reference.kind === 'unknown' && reference.hint ? textOfHint(reference.hint) : undefined;
}
