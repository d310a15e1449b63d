import { expect } from 'chai';
import { checkPlanInSteps, type PlanCheckOptions } from '../../lib/plans/check.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { checkSubPipelines } from '../support/definitions/check-plan.js';

const SAVE = '{id: save, tool: store, inputs: {key: report, value: {total: 1, rows: [{id: 1}]}}}';

/** A sub-pipeline that stores `report`. */
function writer(tasks = SAVE): string {
  return `- {id: ingest, stores: [report], pipeline: {id: i, goal: g, tasks: [${tasks}]}}`;
}

/** A sub-pipeline that reads a template. */
function reader(template: string): string {
  const read = `{id: read, tool: transform, inputs: {input: "{{${template}}}", expression: $}}`;
  return `- {id: use, reads: [report], pipeline: {id: u, goal: g, tasks: [${read}]}}`;
}

/** Messages of wrong paths. */
function messages(list: string[], options?: Partial<PlanCheckOptions>): string[] {
  const { problems } = checkSubPipelines(list.join('\n'), options);
  return problems.filter(({ code }) => code === 'unknown_reference').map(({ message }) => message);
}

describe('The paths of templates into keys that another sub-pipeline stores (D13)', () => {
  it('warns of one that the value of the only task does not have, wherever the sub-pipelines stand', () => {
    const expected = [
      '{{session.report.totl}}: session.report has no "totl": it has total, rows, as task "save" of sub-pipeline "ingest" stores it',
    ];
    it('are found in steps, each key once, however many a sub-pipeline reads and another one stores', () => {
      const keys = Array.from({ length: 500 }, (_, at) => `k${at}`);
      const stores = keys.map((key) => `{id: ${key}, tool: store, inputs: {key: ${key}, value: {a: 1}}}`);
      const read = '{id: read, tool: mock, inputs: {x: "{{session.k7.b}}"}}';
      const plan = `plan:
  id: p
  sub_pipelines:
    - {id: w, stores: [${keys.join(', ')}], pipeline: {id: w, goal: g, tasks: [${stores.join(', ')}]}}
    - {id: r, reads: [${[...keys, ...keys].join(', ')}], pipeline: {id: r, goal: g, tasks: [${read}]}}
`;
      const steps = checkPlanInSteps({ text: plan }, { catalog: builtinCatalog() });
      let count = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) count++;
      expect(count).to.be.above(keys.length);
      const found = step.value.problems.filter(({ code }) => code === 'unknown_reference');
      expect(found.map(({ message }) => message)).to.deep.equal([
        '{{session.k7.b}}: session.k7 has no "b": it has a, as task "k7" of sub-pipeline "w" stores it',
      ]);
    });

    const wrong = reader('session.report.totl');
    expect(messages([writer(), wrong])).to.deep.equal(expected);
    expect(messages([wrong, writer()])).to.deep.equal(expected);
    const { problems } = checkSubPipelines([wrong, writer()].join('\n'));
    expect(problems.map(({ path, severity }) => `${severity} ${path}`)).to.deep.equal([
      'warning /plan/sub_pipelines/0/pipeline/tasks/0/inputs/input',
    ]);
  });

  it('follows the output that a task stores', () => {
    const get = '{id: get, tool: http_request, inputs: {url: "https://example.com"}}';
    const save = '{id: save, tool: store, inputs: {key: report, value: "{{get.output}}"}}';
    const list = [writer(`${get}, ${save}`), reader('session.report.status.code')];
    expect(messages(list)).to.have.length(1);
    expect(messages(list)[0]).to.contain('session.report.status is a number, which has no fields');
  });

  const wrong = reader('session.report.wrong');
  const silent: readonly (readonly [title: string, list: string[], options?: Partial<PlanCheckOptions>])[] = [
    ['a path that leads somewhere', [writer(), reader('session.report.rows[0].id')]],
    ['a template with a default', [writer(), reader('session.report.wrong ?? 1')]],
    ['a key that the run brings', [writer(), wrong], { session: { report: { wrong: 1 } } }],
    ['a key that two tasks store', [writer(`${SAVE}, ${SAVE.replace('id: save', 'id: other')}`), wrong]],
    [
      'a task that may be skipped',
      [writer(SAVE.replace('tool:', 'when: "{{pipeline.goal}}", tool:')), wrong],
    ],
    [
      'a handler that stores the key',
      [writer('{id: idle, tool: mock}').replace('tasks:', `on_success: [${SAVE}], tasks:`), wrong],
    ],
    [
      'a pipeline with a task that may store any key',
      [writer(`${SAVE}, {id: other, tool: run_pipeline, inputs: {file: other.yaml}}`), wrong],
    ],
  ];
  for (const [title, list, options] of silent) {
    it(`says nothing of ${title}`, () => expect(messages(list, options)).to.deep.equal([]));
  }
});
