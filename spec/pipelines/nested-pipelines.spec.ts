import { expect } from 'chai';
import { checkDefinition } from '../../lib/pipelines/check.js';
import { builtinCatalog, Catalog } from '../../lib/tools/catalog.js';
import { findLiteralInputProblems } from '../../lib/tools/inputs/literal-inputs.js';
import { defineTool, type Tool } from '../../lib/tools/tool.js';
import {
  checkPipelineText,
  formatProblems,
  onlyProblem,
  wrapTasks,
  checkTaskList,
} from '../support/definitions/check-pipeline.js';

const wrapNested = (nested: string, more = ''): string =>
  wrapTasks(
    `- id: call\n  tool: run_pipeline\n  inputs:\n${more}    pipeline:\n${nested.replaceAll(/^/gm, '      ')}`,
  );

describe('Checking an inline pipeline of a task (D8, D49)', () => {
  it('leaves its templates to it: the enclosing pipeline does not resolve them', () => {
    const nested =
      'id: x\ngoal: "{{params.n}}"\nparams: {n: {type: integer}}\ntasks:\n- {id: a, tool: mock}\n- {id: b, tool: mock, inputs: {v: "{{a.output}} {{session.any}}"}}';
    const check = checkPipelineText(wrapNested(nested));
    expect(check.problems).to.deep.equal([]);
    expect(check.ok && check.pipeline.tasks.get('call')?.inputs.operands).to.deep.equal([]);
  });

  it('locates its problems in the enclosing text', () => {
    const nested =
      'id: x\ngoal: g\ntasks:\n- {id: a, tool: moc}\n- {id: b, tool: mock, inputs: {v: "{{call.output}} {{}}"}}';
    const check = checkPipelineText(wrapNested(nested));
    expect(formatProblems(check)).to.have.members([
      'unknown_tool at /pipeline/tasks/0/inputs/pipeline/tasks/0/tool',
      'unknown_reference at /pipeline/tasks/0/inputs/pipeline/tasks/1/inputs/v',
      'template_syntax at /pipeline/tasks/0/inputs/pipeline/tasks/1/inputs/v',
    ]);
    expect(check.problems.map(({ line, column }) => `${line}:${column}`)).to.deep.equal([
      '12:27',
      '13:46',
      '13:62',
    ]);
  });

  it('reports an unquoted template once', () => {
    const nested =
      'id: x\ngoal: g\ntasks:\n- {id: a, tool: mock}\n- id: b\n  tool: mock\n  inputs:\n    v: {{a.output}}';
    expect(onlyProblem(checkPipelineText(wrapNested(nested)))).to.include({ code: 'unquoted_template' });
  });

  it('lets it read the inputs that the task passes, and any input when a template provides them', () => {
    const nested = 'id: x\ngoal: g\ntasks:\n- {id: a, tool: mock, inputs: {v: "{{pipeline.inputs.k}}"}}';
    expect(formatProblems(checkPipelineText(wrapNested(nested)))).to.deep.equal([
      'unknown_reference at /pipeline/tasks/0/inputs/pipeline/tasks/0/inputs/v',
    ]);
    expect(formatProblems(checkPipelineText(wrapNested(nested, '    inputs: {k: 1}\n')))).to.deep.equal([]);
    expect(
      formatProblems(checkPipelineText(wrapNested(nested, '    inputs: "{{session.k ?? null}}"\n'))),
    ).to.deep.equal([]);
  });

  it('accepts eight levels of nesting and rejects a ninth', () => {
    const nested = (levels: number): object => ({
      id: 'x',
      goal: 'g',
      tasks:
        levels === 0
          ? [{ id: 't', tool: 'mock' }]
          : [{ id: 't', tool: 'run_pipeline', inputs: { pipeline: nested(levels - 1) } }],
    });
    const check = (levels: number): string[] =>
      formatProblems(checkDefinition(nested(levels), { catalog: builtinCatalog() })).map(
        (code) => code.split(' ')[0] ?? '',
      );
    expect(check(8)).to.deep.equal([]);
    expect(check(9)).to.deep.equal(['nested_too_deep']);
    expect(check(12)).to.deep.equal(['nested_too_deep']);
  });

  it('reads a text without templates, and names the lines of that text in the messages', () => {
    const text = JSON.stringify('id: x\ngoal: g\ntasks:\n- {id: a, tool: moc}');
    expect(
      onlyProblem(checkTaskList(`- {id: call, tool: run_pipeline, inputs: {pipeline: ${text}}}`)),
    ).to.deep.include({
      code: 'unknown_tool',
      message: 'line 4, column 17 of its text: there is no tool "moc"',
      path: '/pipeline/tasks/0/inputs/pipeline/tasks/0/tool',
      line: 5,
    });
    for (const unknown of ['"{{session.p ?? null}}"', '"id: x {{session.p ?? null}}"']) {
      const calling = `- {id: call, tool: run_pipeline, inputs: {pipeline: ${unknown}}}`;
      expect(formatProblems(checkTaskList(calling))).to.deep.equal([]);
    }
  });

  it('requires the task to name one pipeline, by file or inline', () => {
    expect(formatProblems(checkTaskList('- {id: a, tool: run_pipeline}'))).to.deep.equal([
      'missing_input at /pipeline/tasks/0',
    ]);
    const both = '- {id: a, tool: run_pipeline, inputs: {file: a.yaml, pipeline: "{{session.p ?? null}}"}}';
    expect(formatProblems(checkTaskList(both))).to.deep.equal([
      'invalid_input at /pipeline/tasks/0/inputs/file',
    ]);
  });

  it('assumes that it may store any key that later tasks read (D9)', () => {
    const tasks =
      '- {id: a, tool: run_pipeline, inputs: {file: a.yaml}}\n- {id: b, tool: mock, await: [a], inputs: {v: "{{session.k}}"}}';
    expect(formatProblems(checkTaskList(tasks))).to.deep.equal([]);
  });
});

describe('A verbatim input', () => {
  const tool = defineTool({
    name: 'literal',
    description: 'takes what is written',
    inputs: { form: { verbatim: true, description: 'anything' }, other: { description: 'anything' } },
    run: (inputs) => inputs,
  });
  const inputsOf = (inputs: string): unknown => {
    const check = checkTaskList(`- {id: t, tool: literal, inputs: ${inputs}}`, {
      catalog: new Catalog([tool]),
    });
    if (!check.ok) throw new Error(JSON.stringify(check.problems));
    const scope = { output: () => undefined, inputs: {}, params: {}, session: { k: 1 }, goal: '' };
    return check.pipeline.tasks.get('t')?.inputs.render(scope);
  };

  it('keeps the templates in its lists and objects, but renders a text', () => {
    const given = inputsOf('{form: {a: ["{{session.k}}", "{{ no template"]}, other: ["{{session.k}}"]}');
    expect(given).to.deep.equal({ form: { a: ['{{session.k}}', '{{ no template'] }, other: [1] });
    expect(inputsOf('{form: "{{session.k}}"}')).to.deep.equal({ form: 1 });
  });

  it('keeps its templates when an alias uses the same object in another input', () => {
    const given = inputsOf('{form: &f {a: "{{session.k}}"}, other: *f}');
    expect(given).to.deep.equal({ form: { a: '{{session.k}}' }, other: { a: 1 } });
  });

  it('is validated as written, because no template can change it', () => {
    const form = { type: 'object', properties: { a: { type: 'integer' } }, description: 'a form' } as const;
    const typed = (verbatim: boolean): Tool =>
      defineTool({
        name: 'typed',
        description: 'x',
        inputs: { form: { ...form, verbatim } },
        run: () => null,
      });
    const inputs = { form: { a: '{{a.output}}' } };
    expect([...findLiteralInputProblems(typed(false), inputs)]).to.deep.equal([]);
    expect([...findLiteralInputProblems(typed(true), inputs)].map(({ code }) => code)).to.deep.equal([
      'invalid_input',
    ]);
  });

  it('is frozen, and is marked in the metadata of the tool', () => {
    expect(Object.isFrozen((inputsOf('{form: {a: [1]}}') as { form: object }).form)).to.equal(true);
    expect(new Catalog([tool]).metadata()[0]?.inputs['form']).to.include({ verbatim: true });
    expect(new Catalog([tool]).metadata()[0]?.inputs['other']).not.to.have.property('verbatim');
  });

  it('limits pipelines written as text to 256 KiB together, and counts equal texts once', () => {
    const text = (size: number, mark: string): string =>
      JSON.stringify({
        id: 'n',
        goal: 'g',
        description: mark.repeat(size),
        tasks: [{ id: 't', tool: 'mock' }],
      });
    const calling = (texts: readonly string[]): object => ({
      id: 'p',
      goal: 'g',
      tasks: texts.map((pipeline, index) => ({
        id: `t${index}`,
        tool: 'run_pipeline',
        inputs: { pipeline },
      })),
    });
    const [one, other] = [text(150_000, 'a'), text(150_000, 'b')];
    expect(checkDefinition(calling([one, one, one]), { catalog: builtinCatalog() }).problems).to.deep.equal(
      [],
    );
    const { ok, problems } = checkDefinition(calling([one, other, one]), { catalog: builtinCatalog() });
    expect(ok).to.equal(false);
    expect(problems.map(({ code, path }) => [code, path])).to.deep.equal([
      ['too_large', '/tasks/1/inputs/pipeline'],
    ]);
  });
});
