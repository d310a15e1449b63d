import { expect } from 'chai';
import { checkPlan } from '../../../lib/plans/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { checkPipelineText } from '../../support/definitions/check-pipeline.js';

const NOTIFY = '[{id: tell, tool: mock}]';
const ONE_LIST = ': [{id: ID, tool: NAME}], a list of tasks, beside "tasks"';

function hintFor(text: string): string | undefined {
  const { problems } = checkPipelineText(text);
  return problems.find(({ code }) => code === 'unknown_field')?.hint;
}

function inPipeline(field: string): string | undefined {
  return hintFor(`{id: p, goal: g, tasks: [{id: a, tool: mock}], ${field}}`);
}

describe('The hint for handlers as another product writes them (D80)', () => {
  const lists: [field: string, list: string][] = [
    ['onSuccess', 'on_success'],
    ['onFailure', 'on_failure'],
    ['on-failure', 'on_failure'],
    ['on_error', 'on_failure'],
    ['errors', 'on_failure'],
    ['catch', 'on_failure'],
    ['onCancel', 'on_cancel'],
    ['onExit', 'finally'],
    ['on_exit', 'finally'],
    ['always', 'finally'],
    ['afterExecution', 'finally'],
  ];
  for (const [field, list] of lists) {
    it(`is the name ${list} for a list of tasks under "${field}" of a pipeline`, () => {
      expect(inPipeline(`${field}: ${NOTIFY}`)).to.equal(`did you mean "${list}"?`);
    });

    it(`says what stands under ${list} for anything else under "${field}"`, () => {
      expect(inPipeline(`${field}: tell`)).to.equal(`write ${list}${ONE_LIST}`);
    });

    it(`leads from "${field}" of a task to its pipeline`, () => {
      const known = field === 'on_error' ? 'onError' : field;
      expect(hintFor(`{id: p, goal: g, tasks: [{id: a, tool: mock, ${known}: ${NOTIFY}}]}`)).to.equal(
        `tasks have no handlers: write ${list}${ONE_LIST}`,
      );
    });
  }

  it('leads from fields of a task that are those of its pipeline, also of a handler', () => {
    for (const field of ['on_failure', 'finally']) {
      const task = `{id: a, tool: mock, ${field}: ${NOTIFY}}`;
      const expected = `tasks have no handlers: write ${field}${ONE_LIST}`;
      expect(hintFor(`{id: p, goal: g, tasks: [${task}]}`)).to.equal(expected);
      expect(hintFor(`{id: p, goal: g, tasks: [{id: b, tool: mock}], on_success: [${task}]}`)).to.equal(
        expected,
      );
    }
  });

  it('names the lists that the keys of a map are', () => {
    const both = 'on_failure and finally, each a list of tasks, beside "tasks"';
    const all = 'on_success, on_failure, on_cancel or finally, each a list of tasks, beside "tasks"';
    expect(inPipeline('handlerOn: {failure: {name: a, command: b}, exit: {name: c}}')).to.equal(
      `write ${both}`,
    );
    expect(inPipeline('handler_on: {cancel: {name: a}}')).to.equal(`write on_cancel${ONE_LIST}`);
    expect(inPipeline(`handlers: {on_failure: ${NOTIFY}, finally: ${NOTIFY}}`)).to.equal(`write ${both}`);
    expect(inPipeline('handlers: []')).to.equal(`write ${all}`);
    expect(hintFor('{id: p, goal: g, tasks: [{id: a, tool: mock, handlers: {exit: x}}]}')).to.equal(
      `tasks have no handlers: write finally${ONE_LIST}`,
    );
  });

  it('leads from a sub-pipeline to its pipeline', () => {
    const plan = `{id: p, sub_pipelines: [{id: a, onFailure: ${NOTIFY}}]}`;
    const { problems } = checkPlan(plan, { catalog: builtinCatalog(), pipelines: new Map() });
    expect(problems.find(({ code }) => code === 'unknown_field')?.hint).to.equal(
      'each pipeline of a plan has its own: write on_failure: [{id: ID, tool: NAME}], a list of tasks, beside its "tasks"',
    );
  });

  it('is the name of the list in a plan, or what stands under it beside "sub_pipelines"', () => {
    const inPlan = (field: string): string | undefined => {
      const plan = `{id: p, ${field}, sub_pipelines: [{id: a, pipeline: {id: a, goal: g, tasks: [{id: t, tool: mock}]}}]}`;
      const { problems } = checkPlan(plan, { catalog: builtinCatalog() });
      return problems.find(({ code }) => code === 'unknown_field')?.hint;
    };
    expect(inPlan(`onFailure: ${NOTIFY}`)).to.equal('did you mean "on_failure"?');
    expect(inPlan(`finaly: ${NOTIFY}`)).to.equal('did you mean "finally"?');
    expect(inPlan('handlers: {exit: x}')).to.equal(
      'write finally: [{id: ID, tool: NAME}], a list of tasks, beside "sub_pipelines"',
    );
    expect(inPlan(`finally: [{id: z, tool: mock, on_failure: ${NOTIFY}}]`)).to.match(
      /^tasks have no handlers/,
    );
  });

  it('is no hint about handlers for words that mean something within a map of handlers alone', () => {
    expect(inPipeline('exit: 1')).to.match(/^the fields are /);
  });

  it('says how a list of handlers begins where there is none', () => {
    for (const value of ['tell', '{id: tell, tool: mock}']) {
      const { problems } = checkPipelineText(
        `{id: p, goal: g, tasks: [{id: a, tool: mock}], finally: ${value}}`,
      );
      expect(problems.map(({ code, hint }) => [code, hint])).to.deep.equal([
        ['wrong_type', 'begin each task with "- id: NAME"'],
      ]);
    }
  });
});
