import { expect } from 'chai';
import type { Problem } from '../../lib/definition/problems/problem.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { defineTool } from '../../lib/tools/tool.js';
import { onlyProblem } from '../support/definitions/check-pipeline.js';
import {
  checkPlanText,
  toFile,
  matchingSubPipeline,
  formatPlanProblems,
  wrapSubPipelines,
  checkSubPipelines,
} from '../support/definitions/check-plan.js';

/** Returns the only problem of a sub-pipeline `b` with these fields and this pipeline, beside these others. */
function problemOf(says: string, pipeline: string, others = ''): Problem {
  return onlyProblem(checkSubPipelines(`- {id: b${says}, pipeline: ${pipeline}}\n${others}`));
}

function pipelineOf(tasks: string, fields = ''): string {
  return `{id: p, goal: g${fields}, tasks: [${tasks}]}`;
}

const STORE = (key: string, id = 's') => `{id: ${id}, tool: store, inputs: {key: "${key}", value: 1}}`;
const READ = (template: string) => `{id: r, tool: mock, inputs: {x: "${template}"}}`;
const WRITER = matchingSubPipeline('a', { stores: ['x'] });

describe('checkContract (D46)', () => {
  describe('a key that the pipeline stores', () => {
    it('must be declared; the message names the storing task and its file', () => {
      expect(
        problemOf(
          ', stores: [x]',
          pipelineOf(
            `${STORE('x')}, ${STORE('y', 't1')}, {id: t2, tool: store, await: [t1], inputs: {key: y, value: 2}}`,
          ),
        ),
      ).to.deep.include({
        code: 'undeclared_store',
        severity: 'error',
        message: 'task "t1" stores "y", which sub-pipeline "b" does not declare',
        path: '/plan/sub_pipelines/0/stores',
        hint: 'add "y" to its "stores"',
      });
      const pipelines = new Map([['b', toFile(pipelineOf(STORE('y')), 'sub/b.yaml')]]);
      const problem = onlyProblem(checkSubPipelines('- {id: b, file: sub/b.yaml}', { pipelines }));
      expect(problem).to.deep.include({
        message: 'task "s" of sub/b.yaml stores "y", which sub-pipeline "b" does not declare',
        path: '/plan/sub_pipelines/0',
        line: 4,
      });
      expect(problem.file).to.equal(undefined);
    });

    it('must not be declared by another sub-pipeline', () => {
      expect(problemOf('', pipelineOf(STORE('x')), WRITER).hint).to.equal(
        'sub-pipeline "a" stores it already: use another key in task "s"',
      );
    });

    it('must be stored when it is declared and no custom tool could store it', () => {
      expect(problemOf(', stores: [x]', pipelineOf('{id: t, tool: mock}'))).to.deep.include({
        code: 'never_stored',
        severity: 'error',
        message: 'sub-pipeline "b" never stores "x"',
        path: '/plan/sub_pipelines/0/stores/0',
        hint: 'remove it from "stores", or store it with a store task',
      });
    });

    it('is suggested when the declared key is never stored', () => {
      const check = checkSubPipelines(
        `- {id: b, stores: [summary], pipeline: ${pipelineOf(STORE('sumary'))}}`,
      );
      expect(check.problems.map(({ code, hint }) => `${code}: ${hint}`)).to.deep.equal([
        'undeclared_store: add "sumary" to its "stores"',
        'never_stored: did you mean "sumary"?',
      ]);
    });

    it('may be stored under a templated key or by a custom tool: a missing store is then a warning', () => {
      const own = defineTool({ name: 'own', description: 'may store', inputs: {}, run: () => null });
      const catalog = builtinCatalog().with([own]);
      for (const task of [STORE('{{pipeline.goal}}'), '{id: o, tool: own}']) {
        const check = checkSubPipelines(`- {id: b, stores: [x], pipeline: ${pipelineOf(task)}}`, {
          catalog,
        });
        expect(formatPlanProblems(check), task).to.include(
          'warning: never_stored at /plan/sub_pipelines/0/stores/0',
        );
        expect(check.ok, task).to.equal(true);
      }
    });

    it('causes a warning when its store has a templated key, which names the task (D55)', () => {
      const tasks = `${STORE('x', 'plain')}, ${STORE('k_{{pipeline.goal}}')}`;
      expect(problemOf(', stores: [x]', pipelineOf(tasks))).to.deep.include({
        code: 'templated_store',
        severity: 'warning',
        message: 'task "s" stores a key that is a template: only the run shows which',
        path: '/plan/sub_pipelines/0/stores',
        hint: 'list the keys that others read in the "stores" of "b"; a key that only other sub-pipelines list is refused',
      });
      expect(problemOf('', pipelineOf(STORE('k_{{pipeline.goal}}')))).to.include({
        path: '/plan/sub_pipelines/0',
      });
    });
  });

  describe('a session key that the pipeline reads', () => {
    it('must be declared when another stores it, because the order would be left to chance', () => {
      expect(problemOf('', pipelineOf(READ('{{session.x}}')), WRITER)).to.deep.include({
        code: 'undeclared_read',
        severity: 'error',
        message: 'sub-pipeline "b" reads session key "x" without declaring it (in task "r")',
        path: '/plan/sub_pipelines/0',
        hint: 'add "x" to its "reads", so that it runs after "a", which stores it',
      });
      const twice = READ('{{session.x ?? 1}} {{session.x}} {{session.x ?? 2}}');
      expect(problemOf('', pipelineOf(twice), WRITER).severity).to.equal('error');
      const overList = '{id: r, tool: mock, parallel_over: "{{session.x}}", inputs: {x: "{{item}}"}}';
      expect(problemOf('', pipelineOf(overList), WRITER).code).to.equal('undeclared_read');
    });

    it('causes one warning when no sub-pipeline stores it', () => {
      expect(problemOf('', pipelineOf(READ('{{session.x}} {{session.x}}')))).to.deep.include({
        code: 'undeclared_read',
        severity: 'warning',
        hint: 'nothing in the plan stores it: pass it in the session, or add a fallback: {{session.x ?? null}}',
      });
    });

    it('causes a warning when a fallback would be used by chance', () => {
      const check = checkSubPipelines(
        `- {id: b, pipeline: ${pipelineOf(READ('{{session.x ?? 1}}'))}}\n${WRITER}`,
      );
      expect(formatPlanProblems(check)).to.deep.equal(['warning: undeclared_read at /plan/sub_pipelines/0']);
    });

    it('causes no warning when a task may have stored it under a templated key', () => {
      const tasks = `${STORE('{{pipeline.goal}}')}, ${READ('{{session.x}}')}`;
      const codes = (others: string) =>
        formatPlanProblems(checkSubPipelines(`- {id: b, pipeline: ${pipelineOf(tasks)}}\n${others}`));
      const templated = 'warning: templated_store at /plan/sub_pipelines/0';
      expect(codes('')).to.deep.equal([templated]);
      expect(codes(WRITER)).to.deep.equal(['undeclared_read at /plan/sub_pipelines/0', templated]);
    });

    it('needs no declaration when the run provides it, the pipeline stored it before, or it has a fallback', () => {
      const quiet = (pipeline: string) => wrapSubPipelines(`- {id: b, pipeline: ${pipeline}}`);
      expect(
        checkPlanText(quiet(pipelineOf(READ('{{session.x}}'))), { session: { x: 1 } }).problems,
      ).to.deep.equal([]);
      expect(checkPlanText(quiet(pipelineOf(READ('{{session.x ?? 1}}')))).problems).to.deep.equal([]);
      const own = pipelineOf(`${STORE('x')}, {id: r, tool: mock, await: [s], inputs: {x: "{{session.x}}"}}`);
      expect(checkSubPipelines(`- {id: b, stores: [x], pipeline: ${own}}`).problems).to.deep.equal([]);
    });

    it('must be declared when the pipeline lists it in its own "reads" (D3)', () => {
      const listing = pipelineOf('{id: t, tool: mock}', ', reads: [x]');
      expect(problemOf('', listing, WRITER)).to.deep.include({ code: 'undeclared_read', severity: 'error' });
      const using = pipelineOf(READ('{{session.x}}'), ', reads: [x]');
      expect(problemOf('', using, WRITER)).to.deep.include({ code: 'undeclared_read', severity: 'error' });
      expect(
        checkSubPipelines(`- {id: b, reads: [x], pipeline: ${using}}\n${WRITER}`).problems,
      ).to.deep.equal([]);
      expect(problemOf('', listing)).to.deep.include({ code: 'undeclared_read', severity: 'warning' });
      expect(
        checkSubPipelines(`- {id: b, reads: [x], pipeline: ${listing}}\n${WRITER}`).problems,
      ).to.deep.equal([]);
    });

    it('causes a warning when the "reads" of the pipeline omits a key that the plan declares (D3, D45)', () => {
      const limited = pipelineOf(READ('{{session.x}}'), ', reads: [y]');
      const check = checkSubPipelines(`- {id: b, reads: [x, y], pipeline: ${limited}}\n${WRITER}`, {
        session: { y: 1 },
      });
      expect(onlyProblem(check)).to.deep.include({
        code: 'hidden_read',
        severity: 'warning',
        message: 'task "r" reads session key "x", but cannot see it: the "reads" of its pipeline omits it',
        path: '/plan/sub_pipelines/0/reads/0',
      });
    });
  });

  describe('an input that the plan passes', () => {
    it('must be declared or read by the pipeline', () => {
      const pipeline = pipelineOf(READ('{{pipeline.inputs.read}}'), ', inputs: {declared: 1}');
      const text = wrapSubPipelines(
        `- {id: b, inputs: [read, declared, dclared], pipeline: ${pipeline}}`,
        '  inputs: {read: 1, declared: 1, dclared: 1}\n',
      );
      expect(onlyProblem(checkPlanText(text))).to.deep.include({
        code: 'unknown_input',
        severity: 'error',
        message: 'the pipeline of sub-pipeline "b" neither declares nor reads the input "dclared"',
        path: '/plan/sub_pipelines/0/inputs/2',
        hint: 'did you mean "declared"?',
      });
    });

    it('cannot be a param: all params need a default', () => {
      const params =
        ', params: {topic: {type: string}, size: {type: integer, default: 1}, none: {default: null}}';
      expect(problemOf('', pipelineOf('{id: t, tool: mock}', params))).to.deep.include({
        code: 'missing_param',
        severity: 'error',
        message: 'param "topic" of sub-pipeline "b" has no default, and a plan passes no params',
        path: '/plan/sub_pipelines/0',
      });
    });
  });

  describe('an inline pipeline of a task (D49)', () => {
    const calling = (nested: string, more = '') =>
      `{id: call, tool: run_pipeline, inputs: {pipeline: ${nested}${more}}}`;
    /** Returns the problems of `b`, which runs this inline pipeline in a task, beside `a`, which stores `x`. */
    const codesOf = (nested: string, more = '', says = '') =>
      formatPlanProblems(
        checkSubPipelines(`- {id: b${says}, pipeline: ${pipelineOf(calling(nested, more))}}\n${WRITER}`),
      );

    it('has its stores attributed to the task', () => {
      expect(problemOf('', pipelineOf(calling(pipelineOf(STORE('y')))))).to.deep.include({
        code: 'undeclared_store',
        severity: 'error',
        message: 'task "call" stores "y", which sub-pipeline "b" does not declare',
        path: '/plan/sub_pipelines/0',
      });
      expect(codesOf(pipelineOf(STORE('y')), '', ', stores: [y]')).to.deep.equal([]);
      expect(problemOf(', stores: [y]', pipelineOf(calling(pipelineOf('{id: t, tool: mock}'))))).to.include({
        code: 'never_stored',
        severity: 'error',
      });
    });

    it('has its reads attributed to the task', () => {
      expect(problemOf('', pipelineOf(calling(pipelineOf(READ('{{session.x}}')))), WRITER)).to.deep.include({
        code: 'undeclared_read',
        severity: 'error',
        message: 'sub-pipeline "b" reads session key "x" without declaring it (in task "call")',
      });
      expect(codesOf(pipelineOf(READ('{{session.x}}')), '', ', reads: [x]')).to.deep.equal([]);
      expect(codesOf(pipelineOf(READ('{{session.x ?? 1}}')))).to.deep.equal([
        'warning: undeclared_read at /plan/sub_pipelines/0',
      ]);
    });

    it('is considered at any depth', () => {
      const deep = pipelineOf(calling(pipelineOf(`${STORE('y')}, ${READ('{{session.x}}')}`)));
      expect(codesOf(deep)).to.deep.equal([
        'undeclared_store at /plan/sub_pipelines/0',
        'undeclared_read at /plan/sub_pipelines/0',
      ]);
    });

    it('is considered when it is a text without templates', () => {
      const text = JSON.stringify(`{id: n, goal: g, tasks: [${STORE('y').replaceAll('"', '')}]}`);
      expect(codesOf(text)).to.deep.equal(['undeclared_store at /plan/sub_pipelines/0']);
    });

    it('needs no declaration for keys that the call passes or may pass', () => {
      const reading = pipelineOf(READ('{{session.x}}'));
      expect(codesOf(reading, ', session: {x: 1}')).to.deep.equal([]);
      expect(codesOf(reading, ', session: {y: 1}')).to.deep.equal([
        'undeclared_read at /plan/sub_pipelines/0',
      ]);
      expect(codesOf(reading, ', session: "{{pipeline.inputs.s ?? null}}"')).to.deep.equal([
        'warning: undeclared_read at /plan/sub_pipelines/0',
      ]);
    });

    it('needs no declaration for keys that it or the enclosing pipeline stored before', () => {
      const reading = '{id: r, tool: mock, await: [s], inputs: {x: "{{session.y}}"}}';
      expect(codesOf(pipelineOf(`${STORE('y')}, ${reading}`), '', ', stores: [y]')).to.deep.equal([]);
      const around = `${STORE('y')}, {id: call, tool: run_pipeline, await: [s], inputs: {pipeline: ${pipelineOf(READ('{{session.y}}'))}}}`;
      expect(
        formatPlanProblems(checkSubPipelines(`- {id: b, stores: [y], pipeline: ${pipelineOf(around)}}`)),
      ).to.deep.equal([]);
    });

    it('is limited by its own "reads", not by those of the enclosing pipeline (D3)', () => {
      expect(codesOf(pipelineOf(READ('{{session.x}}'), ', reads: [y]'))).to.deep.equal([
        'warning: undeclared_read at /plan/sub_pipelines/0',
      ]);
      expect(codesOf(pipelineOf('{id: t, tool: mock}', ', reads: [x]'))).to.deep.equal([
        'undeclared_read at /plan/sub_pipelines/0',
      ]);
      const limited = pipelineOf(calling(pipelineOf(READ('{{session.x}}'))), ', reads: []');
      expect(
        checkSubPipelines(`- {id: b, reads: [x], pipeline: ${limited}}\n${WRITER}`).problems,
      ).to.deep.equal([]);
    });

    it('makes a missing store a warning when it could store any key', () => {
      const calls = [
        '{id: call, tool: run_pipeline, inputs: {file: c.yaml}}',
        calling('"{{pipeline.goal}}"'),
        calling(pipelineOf('{id: inner, tool: run_pipeline, inputs: {file: c.yaml}}')),
        calling(pipelineOf(STORE('{{pipeline.goal}}'))),
      ];
      for (const call of calls) {
        const reading = '{id: r, tool: mock, await: [call], inputs: {x: "{{session.z}}"}}';
        const check = checkSubPipelines(
          `- {id: b, stores: [y], pipeline: ${pipelineOf(`${call}, ${reading}`)}}`,
        );
        expect(
          formatPlanProblems(check).filter((problem) => !problem.includes('templated_store')),
          call,
        ).to.deep.equal(['warning: never_stored at /plan/sub_pipelines/0/stores/0']);
      }
    });

    it('has its templated stores attributed to the task (D55)', () => {
      expect(problemOf('', pipelineOf(calling(pipelineOf(STORE('{{pipeline.goal}}')))))).to.include({
        code: 'templated_store',
        message: 'task "call" stores a key that is a template: only the run shows which',
      });
    });
  });

  it('skips a sub-pipeline with invalid fields', () => {
    expect(
      formatPlanProblems(checkSubPipelines(`- {id: b, store: [x], pipeline: ${pipelineOf(STORE('x'))}}`)),
    ).to.deep.equal(['unknown_field at /plan/sub_pipelines/0/store']);
  });
});
