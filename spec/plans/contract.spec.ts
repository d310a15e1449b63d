import { expect } from 'chai';
import type { Problem } from '../../lib/definition/problem.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { defineTool } from '../../lib/tools/tool.js';
import {
  checkingPlan,
  fileOf,
  keeping,
  onlyProblem,
  planCodes,
  planOf,
} from '../support/definitions/checking-plans.js';

/** The one problem of a sub-pipeline `b` that says this of itself, with this pipeline, beside these others. */
function problemOf(says: string, pipeline: string, others = ''): Problem {
  return onlyProblem(checkingPlan(planOf(`- {id: b${says}, pipeline: ${pipeline}}\n${others}`)));
}

function pipelineOf(tasks: string, fields = ''): string {
  return `{id: p, goal: g${fields}, tasks: [${tasks}]}`;
}

const STORE = (key: string, id = 's') => `{id: ${id}, tool: store, inputs: {key: "${key}", value: 1}}`;
const READ = (template: string) => `{id: r, tool: mock, inputs: {x: "${template}"}}`;
const WRITER = keeping('a', { stores: ['x'] });

describe('comparing a sub-pipeline with its pipeline (D46)', () => {
  describe('what it stores', () => {
    it('must be declared, and the task that stores it is named, with its file', () => {
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
        message: 'sub-pipeline "b" stores "y" without declaring it: task "t1" does',
        path: '/plan/sub_pipelines/0/stores',
        hint: 'add "y" to its "stores"',
      });
      const pipelines = new Map([['b', fileOf(pipelineOf(STORE('y')), 'sub/b.yaml')]]);
      const problem = onlyProblem(checkingPlan(planOf('- {id: b, file: sub/b.yaml}'), { pipelines }));
      expect(problem).to.deep.include({
        message: 'sub-pipeline "b" stores "y" without declaring it: task "s" of sub/b.yaml does',
        path: '/plan/sub_pipelines/0',
        line: 4,
      });
      expect(problem.file).to.equal(undefined);
    });

    it('must not be what another declares', () => {
      expect(problemOf('', pipelineOf(STORE('x')), WRITER).hint).to.equal(
        'sub-pipeline "a" stores it: let task "s" store under another key',
      );
    });

    it('must be stored, when all tools are known to store nothing else', () => {
      expect(problemOf(', stores: [x]', pipelineOf('{id: t, tool: mock}'))).to.deep.include({
        code: 'never_stored',
        severity: 'error',
        message: 'sub-pipeline "b" never stores "x"',
        path: '/plan/sub_pipelines/0/stores/0',
        hint: 'take it out of "stores", or store it with a store task',
      });
    });

    it('suggests the key that is stored without being declared', () => {
      const check = checkingPlan(
        planOf(`- {id: b, stores: [summary], pipeline: ${pipelineOf(STORE('sumary'))}}`),
      );
      expect(check.problems.map(({ code, hint }) => `${code}: ${hint}`)).to.deep.equal([
        'undeclared_store: add "sumary" to its "stores"',
        'never_stored: did you mean "sumary"?',
      ]);
    });

    it("may be stored under a templated key, or by a tool of one's own: then not storing it is a warning", () => {
      const own = defineTool({ name: 'own', description: 'may store', inputs: {}, run: () => null });
      const catalog = builtinCatalog().with([own]);
      for (const task of [STORE('{{pipeline.goal}}'), '{id: o, tool: own}']) {
        const check = checkingPlan(planOf(`- {id: b, stores: [x], pipeline: ${pipelineOf(task)}}`), {
          catalog,
        });
        expect(planCodes(check), task).to.deep.equal([
          'warning: never_stored at /plan/sub_pipelines/0/stores/0',
        ]);
      }
    });
  });

  describe('what it reads from the session', () => {
    it('must be declared when another stores it: the order would be chance', () => {
      expect(problemOf('', pipelineOf(READ('{{session.x}}')), WRITER)).to.deep.include({
        code: 'undeclared_read',
        severity: 'error',
        message: 'sub-pipeline "b" reads session key "x" without declaring it: task "r"',
        path: '/plan/sub_pipelines/0',
        hint: 'add "x" to its "reads", so that it runs after "a", which stores it',
      });
      const twice = READ('{{session.x ?? 1}} {{session.x}} {{session.x ?? 2}}');
      expect(problemOf('', pipelineOf(twice), WRITER).severity).to.equal('error');
      const overList = '{id: r, tool: mock, parallel_over: "{{session.x}}", inputs: {x: "{{item}}"}}';
      expect(problemOf('', pipelineOf(overList), WRITER).code).to.equal('undeclared_read');
    });

    it('is a warning when nobody stores it, told once', () => {
      expect(problemOf('', pipelineOf(READ('{{session.x}} {{session.x}}')))).to.deep.include({
        code: 'undeclared_read',
        severity: 'warning',
        hint: 'nothing in the plan stores it: give it as session, or give a value: {{session.x ?? null}}',
      });
    });

    it('is a warning when there is a value to fall back on, that would be taken by chance', () => {
      const check = checkingPlan(
        planOf(`- {id: b, pipeline: ${pipelineOf(READ('{{session.x ?? 1}}'))}}\n${WRITER}`),
      );
      expect(planCodes(check)).to.deep.equal(['warning: undeclared_read at /plan/sub_pipelines/0']);
    });

    it("is none of the plan's business when a task may have stored it under a templated key", () => {
      const tasks = `${STORE('{{pipeline.goal}}')}, ${READ('{{session.x}}')}`;
      expect(checkingPlan(planOf(`- {id: b, pipeline: ${pipelineOf(tasks)}}`)).problems).to.deep.equal([]);
      expect(problemOf('', pipelineOf(tasks), WRITER)).to.include({
        code: 'undeclared_read',
        severity: 'error',
      });
    });

    it('needs no declaration when it is given, stored by itself before, or has a value to fall back on', () => {
      const quiet = (pipeline: string) => planOf(`- {id: b, pipeline: ${pipeline}}`);
      expect(
        checkingPlan(quiet(pipelineOf(READ('{{session.x}}'))), { session: { x: 1 } }).problems,
      ).to.deep.equal([]);
      expect(checkingPlan(quiet(pipelineOf(READ('{{session.x ?? 1}}')))).problems).to.deep.equal([]);
      const own = pipelineOf(`${STORE('x')}, {id: r, tool: mock, await: [s], inputs: {x: "{{session.x}}"}}`);
      expect(checkingPlan(planOf(`- {id: b, stores: [x], pipeline: ${own}}`)).problems).to.deep.equal([]);
    });

    it('must be declared when the pipeline lists it in its own "reads" (D3)', () => {
      const listing = pipelineOf('{id: t, tool: mock}', ', reads: [x]');
      expect(problemOf('', listing, WRITER)).to.deep.include({ code: 'undeclared_read', severity: 'error' });
      const using = pipelineOf(READ('{{session.x}}'), ', reads: [x]');
      expect(problemOf('', using, WRITER)).to.deep.include({ code: 'undeclared_read', severity: 'error' });
      expect(
        checkingPlan(planOf(`- {id: b, reads: [x], pipeline: ${using}}\n${WRITER}`)).problems,
      ).to.deep.equal([]);
      expect(problemOf('', listing)).to.deep.include({ code: 'undeclared_read', severity: 'warning' });
      expect(
        checkingPlan(planOf(`- {id: b, reads: [x], pipeline: ${listing}}\n${WRITER}`)).problems,
      ).to.deep.equal([]);
    });

    it('will not be there when the "reads" of the pipeline leaves out what the plan hands on (D3, D45)', () => {
      const limited = pipelineOf(READ('{{session.x}}'), ', reads: [y]');
      const check = checkingPlan(planOf(`- {id: b, reads: [x, y], pipeline: ${limited}}\n${WRITER}`), {
        session: { y: 1 },
      });
      expect(onlyProblem(check)).to.deep.include({
        code: 'hidden_read',
        severity: 'warning',
        message:
          'task "r" reads session key "x", which the "reads" of its pipeline leaves out: it will not be there',
        path: '/plan/sub_pipelines/0/reads/0',
      });
    });
  });

  describe('what it is handed', () => {
    it('must be an input that it declares or reads', () => {
      const pipeline = pipelineOf(READ('{{pipeline.inputs.read}}'), ', inputs: {declared: 1}');
      const text = planOf(
        `- {id: b, inputs: [read, declared, dclared], pipeline: ${pipeline}}`,
        '  inputs: {read: 1, declared: 1, dclared: 1}\n',
      );
      expect(onlyProblem(checkingPlan(text))).to.deep.include({
        code: 'unknown_input',
        severity: 'error',
        message: 'the pipeline of sub-pipeline "b" neither declares nor reads the input "dclared"',
        path: '/plan/sub_pipelines/0/inputs/2',
        hint: 'did you mean "declared"?',
      });
    });

    it('is no params: all must have a default', () => {
      const params =
        ', params: {topic: {type: string}, size: {type: integer, default: 1}, none: {default: null}}';
      expect(problemOf('', pipelineOf('{id: t, tool: mock}', params))).to.deep.include({
        code: 'missing_param',
        severity: 'error',
        message: 'param "topic" of sub-pipeline "b" has no default, and a plan gives no params',
        path: '/plan/sub_pipelines/0',
      });
    });
  });

  describe('what a pipeline does that stands within a task (D49)', () => {
    const calling = (nested: string, more = '') =>
      `{id: call, tool: run_pipeline, inputs: {pipeline: ${nested}${more}}}`;
    /** The problems of `b` that runs this within a task, beside `a` that stores `x`. */
    const codesOf = (nested: string, more = '', says = '') =>
      planCodes(
        checkingPlan(planOf(`- {id: b${says}, pipeline: ${pipelineOf(calling(nested, more))}}\n${WRITER}`)),
      );

    it('counts as stored by the task, which is named', () => {
      expect(problemOf('', pipelineOf(calling(pipelineOf(STORE('y')))))).to.deep.include({
        code: 'undeclared_store',
        severity: 'error',
        message: 'sub-pipeline "b" stores "y" without declaring it: task "call" does',
        path: '/plan/sub_pipelines/0',
      });
      expect(codesOf(pipelineOf(STORE('y')), '', ', stores: [y]')).to.deep.equal([]);
      expect(problemOf(', stores: [y]', pipelineOf(calling(pipelineOf('{id: t, tool: mock}'))))).to.include({
        code: 'never_stored',
        severity: 'error',
      });
    });

    it('counts as read by the task, which is named', () => {
      expect(problemOf('', pipelineOf(calling(pipelineOf(READ('{{session.x}}')))), WRITER)).to.deep.include({
        code: 'undeclared_read',
        severity: 'error',
        message: 'sub-pipeline "b" reads session key "x" without declaring it: task "call"',
      });
      expect(codesOf(pipelineOf(READ('{{session.x}}')), '', ', reads: [x]')).to.deep.equal([]);
      expect(codesOf(pipelineOf(READ('{{session.x ?? 1}}')))).to.deep.equal([
        'warning: undeclared_read at /plan/sub_pipelines/0',
      ]);
    });

    it('counts however deep it stands', () => {
      const deep = pipelineOf(calling(pipelineOf(`${STORE('y')}, ${READ('{{session.x}}')}`)));
      expect(codesOf(deep)).to.deep.equal([
        'undeclared_store at /plan/sub_pipelines/0',
        'undeclared_read at /plan/sub_pipelines/0',
      ]);
    });

    it('counts where it is a text that holds no template', () => {
      const text = JSON.stringify(`{id: n, goal: g, tasks: [${STORE('y').replaceAll('"', '')}]}`);
      expect(codesOf(text)).to.deep.equal(['undeclared_store at /plan/sub_pipelines/0']);
    });

    it('does not count as read where the call gives the key, or may give it', () => {
      const reading = pipelineOf(READ('{{session.x}}'));
      expect(codesOf(reading, ', session: {x: 1}')).to.deep.equal([]);
      expect(codesOf(reading, ', session: {y: 1}')).to.deep.equal([
        'undeclared_read at /plan/sub_pipelines/0',
      ]);
      expect(codesOf(reading, ', session: "{{pipeline.inputs.s ?? null}}"')).to.deep.equal([
        'warning: undeclared_read at /plan/sub_pipelines/0',
      ]);
    });

    it('does not count as read where it is stored before, by the nested pipeline or the one around it', () => {
      const reading = '{id: r, tool: mock, await: [s], inputs: {x: "{{session.y}}"}}';
      expect(codesOf(pipelineOf(`${STORE('y')}, ${reading}`), '', ', stores: [y]')).to.deep.equal([]);
      const around = `${STORE('y')}, {id: call, tool: run_pipeline, await: [s], inputs: {pipeline: ${pipelineOf(READ('{{session.y}}'))}}}`;
      expect(
        planCodes(checkingPlan(planOf(`- {id: b, stores: [y], pipeline: ${pipelineOf(around)}}`))),
      ).to.deep.equal([]);
    });

    it('is bounded by its own "reads", and not by those of the pipeline around it (D3)', () => {
      expect(codesOf(pipelineOf(READ('{{session.x}}'), ', reads: [y]'))).to.deep.equal([
        'warning: undeclared_read at /plan/sub_pipelines/0',
      ]);
      expect(codesOf(pipelineOf('{id: t, tool: mock}', ', reads: [x]'))).to.deep.equal([
        'undeclared_read at /plan/sub_pipelines/0',
      ]);
      const limited = pipelineOf(calling(pipelineOf(READ('{{session.x}}'))), ', reads: []');
      expect(
        checkingPlan(planOf(`- {id: b, reads: [x], pipeline: ${limited}}\n${WRITER}`)).problems,
      ).to.deep.equal([]);
    });

    it('is not known where its text is: then not storing a key is a warning, and reading it none of the plan', () => {
      const calls = [
        '{id: call, tool: run_pipeline, inputs: {file: c.yaml}}',
        calling('"{{pipeline.goal}}"'),
        calling(pipelineOf('{id: inner, tool: run_pipeline, inputs: {file: c.yaml}}')),
        calling(pipelineOf(STORE('{{pipeline.goal}}'))),
      ];
      for (const call of calls) {
        const reading = '{id: r, tool: mock, await: [call], inputs: {x: "{{session.z}}"}}';
        const check = checkingPlan(
          planOf(`- {id: b, stores: [y], pipeline: ${pipelineOf(`${call}, ${reading}`)}}`),
        );
        expect(planCodes(check), call).to.deep.equal([
          'warning: never_stored at /plan/sub_pipelines/0/stores/0',
        ]);
      }
    });
  });

  it('is left out for a sub-pipeline with fields that are not in order', () => {
    expect(
      planCodes(checkingPlan(planOf(`- {id: b, store: [x], pipeline: ${pipelineOf(STORE('x'))}}`))),
    ).to.deep.equal(['unknown_field at /plan/sub_pipelines/0/store']);
  });
});
