import { expect } from 'chai';
import type { Problem } from '../../../lib/definition/problems/problem.js';
import { checkPipeline } from '../../../lib/pipelines/check.js';
import { checkPlan } from '../../../lib/plans/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';

const catalog = builtinCatalog();

const checkWith = (fields: string): readonly Problem[] =>
  checkPipeline(
    `pipeline: {id: p, goal: g, params: {branch: {type: string, default: x}}, ${fields}, tasks: [{id: a, tool: mock}]}`,
    {
      catalog,
    },
  ).problems;

describe('The fields that start a definition (D70, D71)', () => {
  const valid = [
    'schedule: "0 6 * * 1-5"',
    'schedule: ["@daily", "0 12 * * *"], timezone: Europe/Berlin, overlap: queue, catch_up: true',
    'schedule: "@daily", paused: true',
    'webhook: {secret: HOOK}',
    'webhook: {secret: HOOK, params: {branch: /ref}, inputs: {event: ""}}',
    'webhook: {secret: HOOK, replay: refuse}',
    'webhook: {secret: HOOK, replay: null}',
    'schedule: null, timezone: null, overlap: null, catch_up: null, paused: null, webhook: null',
  ];
  for (const fields of valid) {
    it(`may be ${fields}`, () => {
      expect(checkWith(fields)).to.deep.equal([]);
    });
  }

  const invalid: [fields: string, code: string, path: string, hint: RegExp][] = [
    ['schedule: "0 25 * * *"', 'invalid_schedule', '/pipeline/schedule', /^write minute/],
    ['schedule: ["@daily", "x"]', 'invalid_schedule', '/pipeline/schedule/1', /^write minute/],
    ['schedule: 5', 'wrong_type', '/pipeline/schedule', /./],
    ['schedule: []', 'invalid_value', '/pipeline/schedule', /./],
    [
      'schedule: "@daily", timezone: Europe/Berln',
      'invalid_schedule',
      '/pipeline/timezone',
      /Europe\/Berlin/,
    ],
    ['schedule: "@daily", timezone: new york', 'invalid_schedule', '/pipeline/timezone', /America\/New_York/],
    ['schedule: "@daily", timezone: "+02:00"', 'invalid_schedule', '/pipeline/timezone', /IANA/],
    ['schedule: "@daily", overlap: stop', 'invalid_value', '/pipeline/overlap', /./],
    ['schedule: "@daily", paused: until June', 'wrong_type', '/pipeline/paused', /./],
    ['paused: true', 'no_effect', '/pipeline/paused', /./],
    ['overlap: skip', 'no_effect', '/pipeline/overlap', /./],
    ['webhook: {}', 'missing_field', '/pipeline/webhook', /./],
    ['webhook: {secret: HOOK, replay: never}', 'invalid_value', '/pipeline/webhook/replay', /refuse/],
    ['webhook: {secret: HOOK, method: GET}', 'unknown_field', '/pipeline/webhook/method', /./],
    [
      'webhook: {secret: "{{secrets.HOOK}}"}',
      'invalid_webhook',
      '/pipeline/webhook/secret',
      /capital letters/,
    ],
    [
      'webhook: {secret: HOOK, params: {branc: /ref}}',
      'invalid_webhook',
      '/pipeline/webhook/params/branc',
      /branch/,
    ],
    [
      'webhook: {secret: HOOK, params: {branch: ref}}',
      'invalid_webhook',
      '/pipeline/webhook/params/branch',
      /in the body/,
    ],
  ];
  for (const [fields, code, path, hint] of invalid) {
    it(`says what is wrong with ${fields}`, () => {
      const [problem, ...others] = checkWith(fields);
      expect(others).to.deep.equal([]);
      expect(problem).to.include({ code, path });
      if (problem?.hint !== undefined) expect(problem.hint).to.match(hint);
    });
  }

  it('are fields of plans too, whose webhooks set no params', () => {
    const check = (webhook: string): readonly Problem[] =>
      checkPlan(
        `plan: {id: p, schedule: "@daily", webhook: ${webhook}, inputs: {event: 1}, sub_pipelines: [{id: a, inputs: [event], pipeline: {id: a, goal: g, tasks: [{id: a, tool: mock, inputs: {x: "{{pipeline.inputs.event}}"}}]}}]}`,
        { catalog },
      ).problems;
    expect(check('{secret: HOOK, inputs: {event: ""}}')).to.deep.equal([]);
    expect(check('{secret: HOOK, params: {x: ""}}')[0]).to.include({
      code: 'invalid_webhook',
      path: '/plan/webhook/params',
    });
  });
});
