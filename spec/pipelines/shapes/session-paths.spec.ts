import { expect } from 'chai';
import type { CheckOptions } from '../../../lib/pipelines/check-context.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { checkPipelineText, checkTaskList, onlyProblem } from '../../support/definitions/check-pipeline.js';

const SAVE = '- {id: save, tool: store, inputs: {key: report, value: {total: 1, rows: [{id: 1}]}}}';
const OTHER = '- {id: other, tool: store, inputs: {key: report, value: text}}';
const REMOTE = '- {id: remote, tool: run_pipeline, inputs: {file: other.yaml}}';

function reader(template: string, fields = 'await: [save], '): string {
  return `- {id: reader, ${fields}tool: transform, inputs: {input: '${template}', expression: $}}`;
}

/** Messages of wrong paths, when a task reads the template after others. */
function messages(tasks: string, options?: Partial<CheckOptions>): string[] {
  const { problems } = checkTaskList(tasks, options);
  return problems.filter(({ code }) => code === 'unknown_reference').map(({ message }) => message);
}

describe('The paths of templates into session keys', () => {
  it('warns of a path that the value of the only task that stores the key does not have', () => {
    const problem = onlyProblem(checkTaskList(`${SAVE}\n${reader('{{session.report.totl}}')}`));
    expect(problem).to.include({ code: 'unknown_reference', severity: 'warning' });
    expect(problem.message).to.equal(
      '{{session.report.totl}}: session.report has no "totl": it has total, rows, as task "save" stores it',
    );
    expect(JSON.stringify(problem.hint)).to.contain('session.report.total');
  });

  it('follows the output that a task stores', () => {
    const get = '- {id: get, tool: http_request, inputs: {url: "https://example.com"}}';
    const save = '- {id: save, tool: store, inputs: {key: page, value: "{{get.output}}"}}';
    expect(messages(`${get}\n${save}\n${reader('{{session.page.status.code}}')}`)).to.deep.equal([
      '{{session.page.status.code}}: session.page.status is a number, which has no fields, as task "save" stores it',
    ]);
  });

  it('knows that a key that is appended to is a list, and nothing of its elements', () => {
    const save = '- {id: save, tool: store, inputs: {key: rows, value: {id: 1}, append: true}}';
    expect(messages(`${save}\n${reader('{{session.rows[0].name}}')}`)).to.deep.equal([]);
    expect(messages(`${save}\n${reader('{{session.rows.id}}')}`)).to.have.length(1);
  });

  const wrong = '{{session.report.wrong}}';
  const silent: readonly (readonly [title: string, tasks: string, options?: Partial<CheckOptions>])[] = [
    ['a path that leads somewhere', `${SAVE}\n${reader('{{session.report.rows[0].id}}')}`],
    ['a template with a default', `${SAVE}\n${reader('{{session.report.wrong ?? 1}}')}`],
    ['a key that the run brings', `${SAVE}\n${reader(wrong)}`, { session: { report: { wrong: 1 } } }],
    ['a key that two tasks store', `${SAVE}\n${OTHER}\n${reader(wrong)}`],
    ['a key that a pipeline of another file may store', `${SAVE}\n${REMOTE}\n${reader(wrong)}`],
    [
      'a key with a template beside it',
      `${SAVE}\n- {id: any, tool: store, inputs: {key: "{{save.output.total}}", value: 1}}\n${reader(wrong)}`,
    ],
    ['a reader that may run first', `${SAVE}\n${reader(wrong, '')}`],
    [
      'a task that may be skipped',
      `${SAVE.replace('tool', 'when: "{{pipeline.goal}}", tool')}\n${reader(wrong)}`,
    ],
    [
      'a task that may append',
      `${SAVE.replace('key:', 'append: "{{pipeline.goal}}", key:')}\n${reader(wrong)}`,
    ],
  ];
  for (const [title, tasks, options] of silent) {
    it(`says nothing of ${title}`, () => {
      expect(messages(tasks, options)).to.deep.equal([]);
    });
  }

  it('says nothing of a key that the pipeline reads from elsewhere', () => {
    const tasks = `${SAVE}\n${reader(wrong)}`.replaceAll(/^/gm, '  ');
    const { problems } = checkPipelineText(`id: spec\ngoal: be checked\nreads: [report]\ntasks:\n${tasks}\n`);
    expect(problems).to.deep.equal([]);
  });

  it('says nothing of a key beside a tool of somebody else, which may store any', () => {
    const own = defineTool({
      name: 'own',
      description: 'Does anything',
      inputs: {},
      output: { name: 'value', description: 'anything', type: 'any' },
      run: () => null,
    });
    const catalog = builtinCatalog().with([own]);
    expect(messages(`${SAVE}\n- {id: mine, tool: own}\n${reader(wrong)}`, { catalog })).to.deep.equal([]);
  });
});
