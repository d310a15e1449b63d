import { expect } from 'chai';
import { readKeep } from '../../../lib/definition/run-fields/keep.js';
import { checkPlan } from '../../../lib/plans/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { checkPipelineText } from '../../support/definitions/check-pipeline.js';

const DAY_MS = 86_400_000;

function problemsOfPipeline(keep: string): readonly string[] {
  const { problems } = checkPipelineText(
    `{id: p, goal: g, keep: ${keep}, tasks: [{id: a, tool: mock, inputs: {value: 1}}]}`,
  );
  return problems.map(({ code, path, message }) => `${code} ${path}: ${message}`);
}

function problemsOfPlan(keep: string): readonly string[] {
  const task = '{id: a, tool: mock, inputs: {value: 1}}';
  const { problems } = checkPlan(
    `{id: p, keep: ${keep}, sub_pipelines: [{id: s, pipeline: {id: s, goal: g, tasks: [${task}]}}]}`,
    { catalog: builtinCatalog() },
  );
  return problems.map(({ code, path, message }) => `${code} ${path}: ${message}`);
}

describe('keep of a definition (D74)', () => {
  for (const keep of [
    '7d',
    '3650d',
    '86400',
    '0.5',
    '1h30m',
    '{days: 7}',
    '{runs: 0}',
    '{days: 0.5, runs: 100}',
    'null',
  ]) {
    it(`may be ${keep}`, () => {
      expect(problemsOfPipeline(keep)).to.deep.equal([]);
      expect(problemsOfPlan(keep)).to.deep.equal([]);
    });
  }

  const wrong: readonly [keep: string, problem: string][] = [
    ['0', 'invalid_value /keep: "keep" must be > 0'],
    ['0d', 'invalid_value /keep: "keep" must be > 0'],
    ['3651d', 'invalid_value /keep: "keep" must be <= 3650d'],
    ['315360001', 'invalid_value /keep: "keep" must be <= 315360000'],
    ['7 days', 'invalid_value /keep: "7 days" is no duration: write seconds, or 30s, 5m, 1h30m, 2d'],
    ['true', 'wrong_type /keep: "keep" must be a duration or a map, not true'],
    ['[7d]', 'wrong_type /keep: "keep" must be a duration or a map, not a list'],
    ['{}', 'invalid_value /keep: "keep" must not be empty'],
    ['{days: 0}', 'invalid_value /keep/days: "days" must be > 0'],
    ['{days: 3651}', 'invalid_value /keep/days: "days" must be <= 3650'],
    ['{days: 7d}', 'wrong_type /keep/days: "days" must be a number, not text'],
    ['{runs: -1}', 'invalid_value /keep/runs: "runs" must be >= 0'],
    ['{runs: 1.5}', 'wrong_type /keep/runs: "runs" must be a whole number, not 1.5'],
    ['{runs: 1000001}', 'invalid_value /keep/runs: "runs" must be <= 1000000'],
    ['{hours: 3}', 'unknown_field /keep/hours: there is no field "hours" here'],
  ];
  for (const [keep, problem] of wrong) {
    it(`may not be ${keep}`, () => {
      expect(problemsOfPipeline(keep)).to.deep.equal([problem]);
      expect(problemsOfPlan(keep)).to.deep.equal([problem]);
    });
  }

  it('is read as milliseconds and a number of runs', () => {
    expect(readKeep(undefined)).to.equal(undefined);
    expect(readKeep('7d')).to.deep.equal({ ageMs: 7 * DAY_MS, runs: undefined });
    expect(readKeep(60)).to.deep.equal({ ageMs: 60_000, runs: undefined });
    expect(readKeep('1.5ms')).to.deep.equal({ ageMs: 2, runs: undefined });
    expect(readKeep({ days: 7, runs: 100 })).to.deep.equal({ ageMs: 7 * DAY_MS, runs: 100 });
    expect(readKeep({ runs: 0 })).to.deep.equal({ ageMs: undefined, runs: 0 });
  });
});
