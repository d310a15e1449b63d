import { expect } from 'chai';
import type { Problem } from '../../../lib/definition/problems/problem.js';
import { checkTaskList, onlyProblem } from '../../support/definitions/check-pipeline.js';

const INNER =
  '{id: inner, goal: g, tasks: [{id: fetch, tool: http_request, inputs: {url: "https://example.com"}}, {id: each, tool: mock, parallel_over: "{{fetch.output.body}}", inputs: {x: "{{item}}"}}], finally: [{id: bye, tool: mock}]}';

function read(template: string, pipeline = INNER): readonly Problem[] {
  const call = `- {id: call, tool: run_pipeline, inputs: {pipeline: ${pipeline}}}`;
  const reader = `- {id: reader, tool: transform, inputs: {input: '${template}', expression: $}}`;
  return checkTaskList(`${call}\n${reader}`).problems;
}

describe('The paths of templates into the outputs of a pipeline that a task runs', () => {
  it('refuses a task that the pipeline does not have, and suggests one that it has', () => {
    const problem = onlyProblem({ problems: read('{{call.output.outputs.fecth.body}}') });
    expect(problem.message).to.equal(
      '{{call.output.outputs.fecth.body}}: call.output.outputs has no "fecth": it has fetch, each',
    );
    expect(problem.severity).to.equal('error');
    expect(JSON.stringify(problem.hint)).to.contain('call.output.outputs.fetch.body');
  });

  it('refuses a field that the tool of a task of the pipeline does not return', () => {
    const { message } = onlyProblem({ problems: read('{{call.output.outputs.fetch.statsu}}') });
    expect(message).to.contain(
      'call.output.outputs.fetch has no "statsu": it has status, url, headers, body',
    );
  });

  it('refuses the output of a handler, which is no output of the pipeline', () => {
    expect(onlyProblem({ problems: read('{{call.output.outputs.bye}}') }).message).to.contain('has no "bye"');
  });

  it('accepts paths that lead somewhere, also to the number of waves, and of a task that may be skipped', () => {
    for (const path of ['outputs.fetch.body.any', 'outputs.each[0].status', 'waves_executed', 'outputs'])
      expect(read(`{{call.output.${path}}}`), path).to.deep.equal([]);
    const skipping =
      '{id: inner, goal: g, params: {on: {type: boolean, default: true}}, tasks: [{id: maybe, tool: mock, when: "{{params.on}}"}]}';
    expect(read('{{call.output.outputs.maybe.status}}', skipping)).to.deep.equal([]);
  });

  it('reads a pipeline that is written as text', () => {
    const text = JSON.stringify('id: inner\ngoal: g\ntasks:\n- {id: one, tool: mock}\n');
    expect(onlyProblem({ problems: read('{{call.output.outputs.two}}', text) }).message).to.contain(
      'it has one',
    );
  });

  it('knows nothing of a pipeline that a template names, or that is in a file', () => {
    expect(read('{{call.output.outputs.two}}', '"{{pipeline.goal}}"')).to.deep.equal([]);
    const call = '- {id: call, tool: run_pipeline, inputs: {file: inner.yaml}}';
    const reader =
      "- {id: reader, tool: transform, inputs: {input: '{{call.output.outputs.two}}', expression: $}}";
    expect(checkTaskList(`${call}\n${reader}`).problems).to.deep.equal([]);
  });
});
