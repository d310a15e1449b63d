import { expect } from 'chai';
import { checkDefinition } from '../../lib/pipelines/check.js';
import { builtinCatalog, Catalog } from '../../lib/tools/catalog.js';
import { literalInputProblems } from '../../lib/tools/inputs/input-check.js';
import { defineTool, type Tool } from '../../lib/tools/tool.js';
import { checking, codes, only, pipelineOf } from '../support/definitions/checking.js';

const around = (nested: string, more = ''): string =>
  pipelineOf(
    `- id: call\n  tool: run_pipeline\n  inputs:\n${more}    pipeline:\n${nested.replaceAll(/^/gm, '      ')}`,
  );

describe('a definition within a task (D8, D49)', () => {
  it('has templates of its own: those around it are none of its business', () => {
    const nested =
      'id: x\ngoal: "{{params.n}}"\nparams: {n: {type: integer}}\ntasks:\n- {id: a, tool: mock}\n- {id: b, tool: mock, inputs: {v: "{{a.output}} {{session.any}}"}}';
    const check = checking(around(nested));
    expect(check.problems).to.deep.equal([]);
    expect(check.ok && check.pipeline.tasks.get('call')?.inputs.expressions).to.deep.equal([]);
  });

  it('is told its problems at their place in the text around it', () => {
    const nested =
      'id: x\ngoal: g\ntasks:\n- {id: a, tool: moc}\n- {id: b, tool: mock, inputs: {v: "{{call.output}} {{}}"}}';
    const check = checking(around(nested));
    expect(codes(check)).to.have.members([
      'unknown_tool at /pipeline/tasks/0/inputs/pipeline/tasks/0/tool',
      'template_syntax at /pipeline/tasks/0/inputs/pipeline/tasks/1/inputs/v',
    ]);
    expect(check.problems.map(({ line }) => line)).to.deep.equal([12, 13]);
  });

  it('tells an unquoted template in it once', () => {
    const nested =
      'id: x\ngoal: g\ntasks:\n- {id: a, tool: mock}\n- id: b\n  tool: mock\n  inputs:\n    v: {{a.output}}';
    expect(only(checking(around(nested)))).to.include({ code: 'unquoted_template' });
  });

  it('may read inputs that the task hands on, and any when a template gives them', () => {
    const nested = 'id: x\ngoal: g\ntasks:\n- {id: a, tool: mock, inputs: {v: "{{pipeline.inputs.k}}"}}';
    expect(codes(checking(around(nested)))).to.deep.equal([
      'unknown_reference at /pipeline/tasks/0/inputs/pipeline/tasks/0/inputs/v',
    ]);
    expect(codes(checking(around(nested, '    inputs: {k: 1}\n')))).to.deep.equal([]);
    expect(codes(checking(around(nested, '    inputs: "{{session.k ?? null}}"\n')))).to.deep.equal([]);
  });

  it('is checked eight deep and refused when it goes deeper', () => {
    const nested = (levels: number): object => ({
      id: 'x',
      goal: 'g',
      tasks:
        levels === 0
          ? [{ id: 't', tool: 'mock' }]
          : [{ id: 't', tool: 'run_pipeline', inputs: { pipeline: nested(levels - 1) } }],
    });
    const check = (levels: number): string[] =>
      codes(checkDefinition(nested(levels), { catalog: builtinCatalog() })).map(
        (code) => code.split(' ')[0] ?? '',
      );
    expect(check(8)).to.deep.equal([]);
    expect(check(9)).to.deep.equal(['nested_too_deep']);
    expect(check(12)).to.deep.equal(['nested_too_deep']);
  });

  it('is checked where it is a text that holds no template, and told with the lines of that text', () => {
    const text = JSON.stringify('id: x\ngoal: g\ntasks:\n- {id: a, tool: moc}');
    expect(
      only(checking(pipelineOf(`- {id: call, tool: run_pipeline, inputs: {pipeline: ${text}}}`))),
    ).to.deep.include({
      code: 'unknown_tool',
      message: 'line 4, column 17 of its text: there is no tool "moc"',
      path: '/pipeline/tasks/0/inputs/pipeline/tasks/0/tool',
      line: 5,
    });
    for (const unknown of ['"{{session.p ?? null}}"', '"id: x {{session.p ?? null}}"']) {
      const calling = `- {id: call, tool: run_pipeline, inputs: {pipeline: ${unknown}}}`;
      expect(codes(checking(pipelineOf(calling)))).to.deep.equal([]);
    }
  });

  it('is named once: by file, or in place', () => {
    expect(codes(checking(pipelineOf('- {id: a, tool: run_pipeline}')))).to.deep.equal([
      'missing_input at /pipeline/tasks/0',
    ]);
    const both = '- {id: a, tool: run_pipeline, inputs: {file: a.yaml, pipeline: "{{session.p ?? null}}"}}';
    expect(codes(checking(pipelineOf(both)))).to.deep.equal([
      'invalid_input at /pipeline/tasks/0/inputs/file',
    ]);
  });

  it('may store any key that later tasks read (D9)', () => {
    const tasks =
      '- {id: a, tool: run_pipeline, inputs: {file: a.yaml}}\n- {id: b, tool: mock, await: [a], inputs: {v: "{{session.k}}"}}';
    expect(codes(checking(pipelineOf(tasks)))).to.deep.equal([]);
  });
});

describe('an input that is taken verbatim', () => {
  const tool = defineTool({
    name: 'literal',
    description: 'takes what is written',
    inputs: { form: { verbatim: true, description: 'anything' }, other: { description: 'anything' } },
    run: (inputs) => inputs,
  });
  const inputsOf = (inputs: string): unknown => {
    const check = checking(pipelineOf(`- {id: t, tool: literal, inputs: ${inputs}}`), {
      catalog: new Catalog([tool]),
    });
    if (!check.ok) throw new Error(JSON.stringify(check.problems));
    const scope = { output: () => undefined, inputs: {}, params: {}, session: { k: 1 }, goal: '' };
    return check.pipeline.tasks.get('t')?.inputs.render(scope);
  };

  it('keeps the templates of its lists and objects, and resolves those of a text', () => {
    const given = inputsOf('{form: {a: ["{{session.k}}", "{{ no template"]}, other: ["{{session.k}}"]}');
    expect(given).to.deep.equal({ form: { a: ['{{session.k}}', '{{ no template'] }, other: [1] });
    expect(inputsOf('{form: "{{session.k}}"}')).to.deep.equal({ form: 1 });
  });

  it('does so where an alias gives the same object to another input too', () => {
    const given = inputsOf('{form: &f {a: "{{session.k}}"}, other: *f}');
    expect(given).to.deep.equal({ form: { a: '{{session.k}}' }, other: { a: 1 } });
  });

  it('is checked as it is written: no template can change it', () => {
    const form = { type: 'object', properties: { a: { type: 'integer' } }, description: 'a form' } as const;
    const typed = (verbatim: boolean): Tool =>
      defineTool({
        name: 'typed',
        description: 'x',
        inputs: { form: { ...form, verbatim } },
        run: () => null,
      });
    const inputs = { form: { a: '{{a.output}}' } };
    expect(literalInputProblems(typed(false), inputs)).to.deep.equal([]);
    expect(literalInputProblems(typed(true), inputs).map(({ code }) => code)).to.deep.equal([
      'invalid_input',
    ]);
  });

  it('is frozen, and says so in the metadata', () => {
    expect(Object.isFrozen((inputsOf('{form: {a: [1]}}') as { form: object }).form)).to.equal(true);
    expect(new Catalog([tool]).metadata()[0]?.inputs['form']).to.include({ verbatim: true });
    expect(new Catalog([tool]).metadata()[0]?.inputs['other']).not.to.have.property('verbatim');
  });

  it('are read as text up to 256 KiB together, the same text counted once', () => {
    const text = (size: number, mark: string): string =>
      JSON.stringify({ id: 'n', goal: mark.repeat(size), tasks: [{ id: 't', tool: 'mock' }] });
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
