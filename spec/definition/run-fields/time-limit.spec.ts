import { expect } from 'chai';
import { readTimeLimit } from '../../../lib/definition/run-fields/time-limit.js';
import { checkPlan } from '../../../lib/plans/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { checkPipelineText } from '../../support/definitions/check-pipeline.js';

const TASKS = 'tasks: [{id: a, tool: mock, inputs: {value: 1}}]';

function problemsOfPipeline(field: string): readonly string[] {
  const { problems } = checkPipelineText(`{id: p, goal: g, ${field}, ${TASKS}}`);
  return problems.map(({ path, message, hint }) => `${path}: ${message}${hint ? `; ${hint}` : ''}`);
}

function problemsOfPlan(field: string): readonly string[] {
  const { problems } = checkPlan(
    `{id: p, ${field}, sub_pipelines: [{id: s, pipeline: {id: s, goal: g, ${TASKS}}}]}`,
    { catalog: builtinCatalog() },
  );
  return problems.map(({ path, message, hint }) => `${path}: ${message}${hint ? `; ${hint}` : ''}`);
}

describe('timeout of a pipeline or plan (D81)', () => {
  for (const timeout of ['1h30m', '90', '0.5', '3650d', 'null']) {
    it(`may be ${timeout}`, () => {
      expect(problemsOfPipeline(`timeout: ${timeout}`)).to.deep.equal([]);
      expect(problemsOfPlan(`timeout: ${timeout}`)).to.deep.equal([]);
    });
  }

  const wrong: readonly [timeout: string, problem: string][] = [
    ['0', '/timeout: "timeout" must be > 0'],
    ['0s', '/timeout: "timeout" must be > 0'],
    ['-1', '/timeout: "timeout" must be > 0'],
    ['3651d', '/timeout: "timeout" must be <= 3650d'],
    ['315360001', '/timeout: "timeout" must be <= 315360000'],
  ];
  for (const [timeout, problem] of wrong) {
    it(`may not be ${timeout}`, () => {
      expect(problemsOfPipeline(`timeout: ${timeout}`)).to.deep.equal([problem]);
      expect(problemsOfPlan(`timeout: ${timeout}`)).to.deep.equal([problem]);
    });
  }

  for (const word of ['timeout-minutes', 'timeoutSec', 'activeDeadlineSeconds']) {
    it(`is what "${word}" of other products leads to`, () => {
      for (const problems of [problemsOfPipeline(`${word}: 30`), problemsOfPlan(`${word}: 30`)]) {
        expect(problems[0]).to.match(/; (?:write timeout: "30m"|did you mean "timeout"\?)/);
      }
    });
  }

  it('is read as milliseconds, with the text of the error of a run', () => {
    expect(readTimeLimit(undefined)).to.equal(undefined);
    expect(readTimeLimit('1h30m')).to.deep.equal({ ms: 5_400_000, text: '1h30m' });
    expect(readTimeLimit(0.5)).to.deep.equal({ ms: 500, text: '0.5 s' });
  });
});
