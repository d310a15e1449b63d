import { expect } from 'chai';
import { defineTool } from '../../lib/tools/tool.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { checkPipelineText, onlyProblem, wrapTasks } from '../support/definitions/check-pipeline.js';

const taking = defineTool({
  name: 'taking',
  description: 'Takes a list as written.',
  inputs: { steps: { description: 'as written', verbatim: true }, key: { description: 'any' } },
  run: () => null,
});
const catalog = builtinCatalog().with([taking]);

function check(text: string, names?: readonly string[]) {
  return checkPipelineText(text, { catalog, ...(names && { secrets: new Set(names) }) });
}

function secretsOf(text: string): Record<string, unknown> {
  const result = check(text);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  const { secrets } = result.pipeline.contract;
  return Object.fromEntries(
    Array.from(secrets, ([name, { tasks, isOptional }]) => [name, [[...tasks], isOptional]]),
  );
}

describe('Secrets in a definition (D61)', () => {
  it('may stand in the inputs of tasks, at any depth and within a text', () => {
    const tasks =
      '- {id: a, tool: mock, inputs: {x: ["Bearer {{secrets.TOKEN}}", {y: "{{secrets.KEY_2}}"}]}}';
    expect(check(wrapTasks(tasks)).problems).to.deep.equal([]);
    expect(secretsOf(wrapTasks(tasks))).to.deep.equal({ TOKEN: [['a'], false], KEY_2: [['a'], false] });
  });

  it('are optional where every template has a fallback', () => {
    const tasks =
      '- {id: a, tool: mock, inputs: {x: "{{secrets.A ?? null}}", y: "{{secrets.B ?? 1}}"}}\n- {id: b, tool: mock, inputs: {x: "{{secrets.B}}"}}';
    expect(secretsOf(wrapTasks(tasks))).to.deep.equal({ A: [['a'], true], B: [['a', 'b'], false] });
  });

  it('of a pipeline that is written in a task are needed before the run', () => {
    const tasks =
      '- {id: a, tool: run_pipeline, inputs: {pipeline: {id: n, goal: g, tasks: [{id: b, tool: mock, inputs: {x: "{{secrets.INNER}}"}}]}}}';
    expect(secretsOf(wrapTasks(tasks))).to.deep.equal({ INNER: [['a'], false] });
  });

  const task = '{id: a, tool: mock}';
  const misplaced: [place: string, text: string, path: string, message: RegExp][] = [
    ['the goal', `{id: p, goal: "with {{secrets.X}}", tasks: [${task}]}`, '/goal', /the goal cannot/],
    [
      'parallel_over',
      '{id: p, goal: g, tasks: [{id: a, tool: mock, parallel_over: "{{secrets.X}}", inputs: {x: "{{item}}"}}]}',
      '/tasks/0/parallel_over',
      /parallel_over cannot/,
    ],
    [
      'the default of a param',
      `{id: p, goal: g, params: {k: {default: "{{ secrets.X }}"}}, tasks: [${task}]}`,
      '/params/k/default',
      /a param cannot/,
    ],
    [
      'the inputs of a pipeline',
      `{id: p, goal: g, inputs: {k: ["a {{secrets.X}}"]}, tasks: [${task}]}`,
      '/inputs/k/0',
      /the inputs of a pipeline cannot/,
    ],
    [
      'an input that its tool takes as written',
      '{id: p, goal: g, tasks: [{id: a, tool: taking, inputs: {steps: [{k: "{{secrets.X}}"}]}}]}',
      '/tasks/0/inputs/steps/0/k',
      /the input "steps", which the tool takes as written, cannot/,
    ],
  ];
  for (const [place, text, path, message] of misplaced) {
    it(`are an error in ${place}`, () => {
      const { problems } = check(text);
      const problem = problems.find(({ code }) => code === 'misplaced_secret');
      expect(problem).to.include({ path, severity: 'error' });
      expect(problem?.message).to.match(message);
      expect(problem?.hint).to.match(/secrets?/);
    });
  }

  it('are an error in await, next to the task that there is not', () => {
    const { problems } = check('{id: p, goal: g, tasks: [{id: a, tool: mock, await: ["{{secrets.X}}"]}]}');
    expect(problems.map(({ code }) => code)).to.include('misplaced_secret');
  });

  it('have no fields', () => {
    const problem = onlyProblem(
      check(wrapTasks('- {id: a, tool: mock, inputs: {x: "{{secrets.KEY.user}}"}}')),
    );
    expect(problem).to.include({ code: 'unknown_reference', hint: 'write {{secrets.KEY}}' });
  });

  it('leave a task called "secrets" its name, with a warning', () => {
    const tasks =
      '- {id: secrets, tool: mock}\n- {id: b, tool: mock, inputs: {x: "{{secrets.output}}", y: "{{secrets.TOKEN}}"}}';
    const result = check(wrapTasks(tasks));
    expect(onlyProblem(result)).to.include({ code: 'reserved_id', severity: 'warning' });
    expect(result.ok && result.pipeline.waves).to.deep.equal([['secrets'], ['b']]);
    expect(secretsOf(wrapTasks(tasks))).to.deep.equal({ TOKEN: [['b'], false] });
  });

  it('that are missing are a warning, once each, where the names are known', () => {
    const tasks =
      '- {id: a, tool: mock, inputs: {x: "{{secrets.A}} {{secrets.B}} {{secrets.A}}", y: "{{secrets.C ?? 1}}"}}';
    const problem = onlyProblem(check(wrapTasks(tasks), ['B']));
    expect(problem).to.include({ code: 'missing_secret', severity: 'warning' });
    expect(problem.message).to.include('there is no secret "A"');
    expect(problem.hint).to.include('SECRET_A');
    expect(check(wrapTasks(tasks)).problems).to.deep.equal([]);
  });
});
