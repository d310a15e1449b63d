import { expect } from 'chai';
import { checkPlan } from '../../../lib/plans/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { checkPipelineText, onlyProblem, wrapTasks } from '../../support/definitions/check-pipeline.js';

/** The hint for a field of the second of two tasks. */
function hintInTask(field: string): string | undefined {
  return onlyProblem(checkPipelineText(wrapTasks(`- {id: a, tool: mock}\n- {id: b, tool: mock, ${field}}`)))
    .hint;
}

function hintInPipeline(field: string): string | undefined {
  return onlyProblem(checkPipelineText(`{id: p, goal: g, tasks: [{id: a, tool: mock}], ${field}}`)).hint;
}

function hintInParam(param: string): string | undefined {
  return onlyProblem(
    checkPipelineText(`{id: p, goal: g, params: {n: ${param}}, tasks: [{id: a, tool: mock}]}`),
  ).hint;
}

describe('The hint for a field of another product (D2, D8)', () => {
  const inTasks: [field: string, hint: RegExp][] = [
    ['depends_on: [a]', /^write await: \[a\]$/],
    ['dependsOn: a', /^write await: \[a\]$/],
    ['needs: [a]', /^write await: \[a\]$/],
    ['depends: a', /^write await: \[a\]$/],
    [
      'dependencies: [{name: a}]',
      /^write await: \[ID, …\]; a task waits anyway for the outputs that it reads$/,
    ],
    ['if: "${{ a.output }} == 1"', /^write when: "\{\{TASK\.output\}\}", or when: \{value/],
    ['unless: x', /^write when:/],
    ['preconditions: []', /^write when:/],
    ['continue_on_failure: maybe', /^write on_error: continue.*on_item_error: collect/],
    ['continueOn: {failed: true}', /^write on_error: continue/],
    ['loop: [1, 2]', /^write parallel_over: "\{\{TASK\.output\}\}", and \{\{item\}\} in the inputs$/],
    ['with_items: [1, 2]', /^write parallel_over/],
    ['foreach: [1, 2]', /^write parallel_over/],
    ['matrix: {os: [a]}', /^write parallel_over/],
    ['repeat_policy: {}', /^write repeat: /],
    ['with: {x: 1}', /"inputs"/],
    ['args: [x]', /"inputs"/],
    ['params: {x: 1}', /"inputs"/],
    ['env: {A: 1}', /no environment.*"inputs"/],
    ['steps: []', /run_pipeline/],
    ['schedule: "* * * * *"', /beside "tasks"/],
    ['memoize: true', /^write cache: true, or cache: {ttl: SECONDS}/],
    ['name: b', /"id"/],
    ['uses: mock', /"tool"/],
    ['action: mock', /"tool"/],
    ['run: ls', /no shell.*docs\/tools\.md/],
    ['script: ls', /no shell/],
    ['command: ls', /no shell/],
    ['image: alpine', /no containers/],
    ['max_retries: 3', /^write retry: N/],
    ['retryPolicy: {limit: 3}', /^write retry: N/],
    ['timeout_sec: soon', /^write timeout: SECONDS/],
    ['max_parallel: 3', /^write fan_out_concurrency: N/],
    ['output: RESULT', /\{\{ID\.output\}\}.*store/],
    ['secrets: [a]', /secrets are not declared.*\{\{secrets\.NAME\}\}.*SECRET_NAME/],
    ['description: x', /comment/],
    ['tags: [x]', /^tasks have no labels: write labels: \{NAME: VALUE\} beside "tasks", or a comment/],
    ['annotations: {a: b}', /^tasks have no labels/],
    ['weight: 3', /^each call takes one place of the "pool"/],
    ['trigger_rule: all_done', /on_error: continue; tasks under "finally" beside "tasks" run in any case$/],
    ['queue: erp', /^write pool: NAME.*SERVICE_POOLS/],
    ['resource_group: erp', /^write pool: NAME/],
    ['semaphore: erp', /^write pool: NAME/],
    ['synchronization: {semaphores: []}', /^write pool: NAME/],
    ['priority: 3', /^tasks have no priorities.*beside "tasks"/],
  ];
  for (const [field, hint] of inTasks) {
    it(`says what there is instead of "${field}" in a task`, () => {
      expect(hintInTask(field)).to.match(hint);
    });
  }

  const inPipelines: [field: string, hint: RegExp][] = [
    ['steps: []', /^the tasks are under "tasks"$/],
    ['jobs: {}', /^the tasks are under "tasks"$/],
    ['name: x', /"id"/],
    ['suspend: true', /"paused"/],
    ['cron: "* * * * *"', /^write schedule: .*timezone: ZONE/],
    ['on: push', /webhook: {secret: NAME}/],
    ['env: {A: 1}', /"params".*"inputs"/],
    ['variables: {A: 1}', /"params".*"inputs"/],
    ['retries: 5', /^each task has its own "retry"$/],
    ['max_active_runs: 5', /^did you mean "max_running"\?$/],
    ['concurrency: x', /^write max_running: N, with on_busy/],
    ['concurrency_group: x', /^write max_running: 1 with concurrency_key: "\{\{params\.NAME\}\}"/],
    ['continue-on-error: true', /^each task has its own "on_error"/],
    ['cache: true', /^write cache: true.* in a task$/],
    ['outputs: {}', /result of the run/],
    ['queue: erp', /^max_running: N limits the runs of a file.*write pool: NAME/],
    ['weight: 3', /there are no weights$/],
    ['if: x', /^each task has its own "when"$/],
    ...['tags: [x]', 'metadata: {}', 'annotations: {}', 'owner: me'].map((field): [string, RegExp] => [
      field,
      /^write labels: \{NAME: VALUE\}: lists of runs are filtered by them$/,
    ]),
  ];
  for (const [field, hint] of inPipelines) {
    it(`says what there is instead of "${field}" in a pipeline`, () => {
      expect(hintInPipeline(field)).to.match(hint);
    });
  }

  it('is also given beside the key "pipeline"', () => {
    const check = checkPipelineText(`schedule: "* * * * *"\n${wrapTasks('- {id: a, tool: mock}')}`);
    expect(onlyProblem(check)).to.include({ code: 'unknown_field', path: '/schedule' });
    expect(onlyProblem(check).hint).to.match(/^move it under "pipeline" or remove it$/);
  });

  const START = 'start with "pipeline:"';
  const TASKS = ', and list the tasks under "tasks"';
  const PAGE = '; docs/other-products.md says what the words of other products are called here';
  const files: [title: string, text: string, hint: string][] = [
    ['GitHub Actions', 'name: deploy\non: push\njobs: {}', START + TASKS + PAGE],
    ['GitHub Actions without a name', 'on: push\njobs: {}', START + TASKS + PAGE],
    ['Dagu', 'name: x\nschedule: "* * * * *"\nenv: [A: b]\nsteps: [{name: a}]', START + TASKS + PAGE],
    ['Dagu with fields that are ours too', 'description: d\nparams: A=1\nsteps: []', START + TASKS + PAGE],
    ['Argo Workflows', 'apiVersion: v1\nkind: Workflow\nspec: {entrypoint: a}', START + PAGE],
    ['no product', 'colour: red', START],
  ];
  for (const [title, text, hint] of files) {
    it(`leads for a whole file of ${title} to ${hint === START ? 'its start' : 'the page about other products'}`, () => {
      expect(onlyProblem(checkPipelineText(text))).to.include({ code: 'missing_field', path: '', hint });
    });
  }

  it('names each field of a file that has an id or a goal, although it has steps', () => {
    const { problems } = checkPipelineText('{id: p, goal: g, steps: []}');
    expect(problems.map(({ message }) => message)).to.deep.equal([
      'the pipeline has no "tasks"',
      'there is no field "steps" here',
    ]);
  });

  const dependencies: [field: string, hint: string][] = [
    ['inputs: {x: "{{a.output}}"}', 'remove it: the task reads {{a.output}}, so it waits already'],
    [
      'inputs: {x: [{y: "of {{ a.output.z }}"}]}',
      'remove it: the task reads {{a.output}}, so it waits already',
    ],
    ['parallel_over: "{{a.output}}"', 'remove it: the task reads {{a.output}}, so it waits already'],
    ['inputs: {x: "{{ab.output}} a.output"}', 'write await: [a]'],
  ];
  for (const [field, hint] of dependencies) {
    it(`for "depends_on: [a]" beside ${field} is "${hint}"`, () => {
      const { problems } = checkPipelineText(
        wrapTasks(`- {id: a, tool: mock}\n- {id: b, tool: mock, depends_on: [a], ${field}}`),
      );
      expect(problems.find(({ code }) => code === 'unknown_field')?.hint).to.equal(hint);
    });
  }

  it('for "depends_on" of several tasks awaits only those whose outputs the task does not read', () => {
    const tasks = '- {id: a, tool: mock}\n- {id: b, tool: mock}';
    const reader = '- {id: c, tool: mock, depends_on: [a, b], inputs: {x: "{{a.output}}"}}';
    expect(onlyProblem(checkPipelineText(wrapTasks(`${tasks}\n${reader}`))).hint).to.equal(
      'write await: [b]; the task reads {{a.output}}, so it waits for that already',
    );
  });

  const inParams: [param: string, hint: RegExp][] = [
    ['{required: true}', /without "default" is required/],
    ['{choices: [1]}', /^did you mean "enum"\?$/],
    ['{min: 1}', /^did you mean "minimum"\?$/],
    ['{regex: x}', /^did you mean "pattern"\?$/],
    ['{value: x}', /^did you mean "default"\?$/],
    ['{type: array}', /^write type: list$/],
    ['{type: str}', /^write type: string$/],
    ['{type: bool}', /^write type: boolean$/],
    ['{type: strng}', /^did you mean "string"\?$/],
  ];
  for (const [param, hint] of inParams) {
    it(`says what there is instead of ${param} for a param (D4)`, () => {
      expect(hintInParam(param)).to.match(hint);
    });
  }

  const inPlans: [plan: string, hint: RegExp][] = [
    ['{id: p, steps: [], sub_pipelines: [{id: a}]}', /"sub_pipelines"/],
    ['{id: p, timeoutSec: 60, sub_pipelines: [{id: a}]}', /"timeout"/],
    ['{id: p, max_parallel: 3, sub_pipelines: [{id: a}]}', /^write plan_concurrency: N/],
    ['{id: p, sub_pipelines: [{id: a, depends_on: [b]}]}', /"reads" and "stores"/],
    ['{id: p, sub_pipelines: [{id: a, writes: [x]}]}', /"stores"/],
    ['{id: p, sub_pipelines: [{id: a, path: a.yaml}]}', /"file"/],
    ['{id: p, on_error: continue, sub_pipelines: [{id: a}]}', /^each task has its own "on_error"/],
    ['{id: p, sub_pipelines: [{id: a, if: "{{session.x}}", stores: [x]}]}', /^did you mean "when"\?$/],
    [
      `{id: p, sub_pipelines: [{id: a, if: "{{session.x}} == 'b'"}]}`,
      /^write when: \{value: "\{\{session\.x\}\}", const: b\}$/,
    ],
    ['{id: p, sub_pipelines: [{id: a, unless: x}]}', /^write when: "\{\{session\.KEY\}\}", or/],
    ['{id: p, sub_pipelines: [{id: a, if: always()}]}', /under "finally", beside "sub_pipelines"$/],
    ['{id: p, sub_pipelines: [{id: a, on_error: continue}]}', /^a plan tolerates no failed sub-pipeline/],
    ['{id: p, sub_pipelines: [{id: a, continue_on_error: true}]}', /^a plan tolerates no failed/],
    [
      '{id: p, sub_pipelines: [{id: a, on_error: [{id: x, tool: mock}]}]}',
      /each pipeline of a plan has its own/,
    ],
    ['{id: p, sub_pipelines: [{id: a, timeout: 10m}]}', /^write "timeout" in its pipeline, beside "tasks"/],
    ['{id: p, sub_pipelines: [{id: a, timeout-minutes: 10}]}', /^write "timeout" in its pipeline/],
    ['{id: p, sub_pipelines: [{id: a, retry: 2}]}', /^each task of its pipeline has its own "retry"$/],
  ];
  for (const [plan, hint] of inPlans) {
    it(`says what there is instead in the plan ${plan} (D44)`, () => {
      const { problems } = checkPlan(plan, { catalog: builtinCatalog(), pipelines: new Map() });
      expect(problems.find(({ code }) => code === 'unknown_field')?.hint).to.match(hint);
    });
  }

  it('is that for a misspelt field when the word means nothing elsewhere', () => {
    expect(hintInTask('imputs: {}')).to.equal('did you mean "inputs"?');
    expect(hintInTask('constructor: 1')).to.match(/^the fields are id, tool/);
    expect(hintInTask('toString: 1')).to.match(/^the fields are id, tool/);
  });
});

describe('The hint for a value as another product writes it (D8)', () => {
  const inTasks: [field: string, hint: string | undefined][] = [
    ['timeout: 5 s', 'write timeout: 5'],
    ['timeout: 1h 30m', 'write timeout: 5400'],
    ['timeout: 250MS', 'write timeout: 0.25'],
    ['timeout: 5 minutes', 'write timeout: 300'],
    ['timeout: "10 minutes"', 'write timeout: 600'],
    ['timeout: "5"', 'write timeout: 5'],
    ['timeout: "{{params.t}}"', 'a template cannot stand here: write a number'],
    ['timeout: soon', undefined],
    ['timeout: 2 Min', 'write timeout: 120'],
    ['timeout: 1 day 2 seconds', 'write timeout: 86402'],
    ['timeout: 9 milliseconds', 'write timeout: 0.009'],
    ['timeout: 5 months', undefined],
    ['timeout: 5 weeks', undefined],
    ['timeout: 5 sheep', undefined],
    ['retry: 1, retry_delay: 5 sec', 'write retry_delay: 5'],
    ['cache: {ttl: 1 hour}', 'write ttl: 3600'],
    ['retry: "5m"', undefined],
    ['retry: "1.5"', undefined],
    [
      'parallel_over: [1, 2]',
      'put the list under "inputs" of the pipeline and write "{{pipeline.inputs.NAME}}"',
    ],
    [
      'parallel_over: "[1, 2]", inputs: {x: "{{item}}"}',
      'put the list under "inputs" of the pipeline and write "{{pipeline.inputs.NAME}}"',
    ],
    [
      'parallel_over: [{x: "{{a.output}}"}]',
      'write a single template, such as "{{TASK.output}}"; a transform task can make a list of several values',
    ],
    ['parallel_over: 3', 'write "{{TASK.output}}", with nothing around it'],
    ['retry: "3"', 'write retry: 3'],
    ['retry: true', 'write retry: 1, or as many further attempts as may be made'],
    [
      'retry: {limit: 3}',
      'write retry: N, the number of further attempts; retry_delay and max_retry_delay are fields of their own',
    ],
    ['inputs: [1]', 'write each input as NAME: VALUE'],
  ];
  for (const [field, hint] of inTasks) {
    it(`for "${field}" is ${hint ?? 'left out'}`, () => {
      expect(hintInTask(field)).to.equal(hint);
    });
  }

  it('for a text that is a time, where a param has a number, is left out (D4)', () => {
    const { problems } = checkPipelineText(
      '{id: p, goal: g, params: {n: {type: number, minimum: 5m}}, tasks: [{id: a, tool: mock}]}',
    );
    expect(problems.map(({ code, hint }) => [code, hint])).to.deep.include(['wrong_type', undefined]);
  });

  it('for "version: 1.0" is to quote it', () => {
    expect(hintInPipeline('version: 1.0')).to.equal('put it in quotes, as in version: "1.0"');
    expect(hintInPipeline('description: 7')).to.equal('put it in quotes, as in description: "7"');
  });

  it('for a map of tasks and a list of params is the other form', () => {
    const tasks = checkPipelineText('{id: p, goal: g, tasks: {a: {tool: mock}}}');
    expect(onlyProblem(tasks).hint).to.equal('begin each task with "- id: NAME"');
    expect(hintInPipeline('params: [{name: city}]')).to.equal('write each param as NAME: {type: …}');
  });
});
