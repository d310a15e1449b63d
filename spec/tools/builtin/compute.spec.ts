import { expect } from 'chai';
import { ToolError, WavetrainError } from '../../../lib/common/errors.js';
import { errorMessage } from '../../../lib/common/errors.js';
import type { JsonObject } from '../../../lib/common/json/json.js';
import { checkPipeline } from '../../../lib/pipelines/check.js';
import { builtinCatalog, type Catalog } from '../../../lib/tools/catalog.js';
import { defineFunction } from '../../../lib/tools/builtin/compute/function.js';
import { validateInputs } from '../../../lib/tools/inputs/validate.js';
import { parseTool } from '../../../lib/tools/loading/parse-tool.js';
import { defineTool, type Tool } from '../../../lib/tools/tool.js';
import { toolContext } from '../../support/tool-context.js';

const double = defineFunction({
  name: 'double',
  description: 'Doubles a number',
  inputs: {
    number: { type: 'number', required: true, description: 'what to double' },
    plus: { type: 'number', default: 0, description: 'what to add' },
  },
  run: ({ number, plus }, context) => `${2 * number + plus} in ${context.task_id}`,
});

const catalog = builtinCatalog().with([double]);

function compute(inputs: JsonObject, from: Catalog = catalog): unknown {
  const tool = from.get('compute') as Tool;
  const checked = validateInputs(tool, inputs);
  return checked.ok ? tool.run(checked.inputs, toolContext()) : checked.errors;
}

function check(inputs: string, from: Catalog = catalog): string[] {
  const text = `id: p\ngoal: g\ntasks:\n  - id: a\n    tool: compute\n${inputs}`;
  const { problems } = checkPipeline(text, { catalog: from });
  return problems.map(
    ({ line, path, message, hint }) => `${line} ${path}: ${message}${hint === undefined ? '' : `; ${hint}`}`,
  );
}

describe('compute (D49)', () => {
  it('calls a function with the other inputs as its arguments, defaults filled in, and the context', () => {
    expect(compute({ function: 'double', number: 4 })).to.equal('8 in task');
    expect(compute({ function: 'double', number: 4, plus: 1 })).to.equal('9 in task');
    expect(compute({ function: 'period_label', date: '2024-12-31', period_type: 'annual' })).to.equal(
      'FY 2024',
    );
  });

  it('rejects the name of no function at run time, with the names there are', () => {
    const [error] = compute({ function: 'duoble' }) as string[];
    expect(error).to.contain('input "function" must be one of').and.to.contain('"double"');
  });

  it('names the functions to a caller that has not checked its inputs', () => {
    const tool = catalog.get('compute') as Tool;
    expect(() => tool.run({ function: 'duoble' }, toolContext()))
      .to.throw(
        ToolError,
        /^there is no function "duoble"; the functions are apply_segment_names, .*, double, .*, zip_pages_with_periods$/,
      )
      .with.property('retryable', false);
  });

  it('rejects invalid arguments at run time, not to be retried', () => {
    expect(() => compute({ function: 'double', number: 'x', times: 2 }))
      .to.throw(ToolError, 'function "double": ')
      .with.property('retryable', false);
  });

  describe('is checked when the pipeline is validated', () => {
    it('for a missing function', () => {
      expect(check('    inputs: { number: 1 }')).to.deep.equal([
        '6 /tasks/0/inputs: tool "compute" needs the input "function"; function: the name of the function; all other inputs are its arguments',
      ]);
      expect(check('')[0]).to.contain('needs the input "function"');
      expect(check('    inputs: { function: null }')[0]).to.contain('must be a string, not null');
    });

    it('for a function that does not exist, at the function, with the nearest name', () => {
      expect(check('    inputs:\n      function: duoble')).to.deep.equal([
        '7 /tasks/0/inputs/function: there is no function "duoble" (tool "compute"); did you mean "double"?',
      ]);
      expect(check('    inputs: { function: zzzzzzzz }')[0]).to.contain(
        '`wavetrain tools compute` lists the functions',
      );
    });

    it('for the arguments of its function: missing, unknown, of another type', () => {
      expect(check('    inputs:\n      function: double\n      nubmer: 1\n      plus: [1]')).to.have.members([
        '7 /tasks/0/inputs: function "double" needs the input "number"; number: what to double',
        '8 /tasks/0/inputs/nubmer: function "double" has no input "nubmer"; did you mean "number"?',
        '9 /tasks/0/inputs/plus: input "plus" must be a number, not a list (function "double")',
      ]);
    });

    it('but not for what templates decide', () => {
      expect(check('    inputs: { function: double, number: "{{params.n}}" }').join()).not.to.contain(
        'double',
      );
      expect(
        check('    inputs: { function: "{{params.f}}", whatever: 1 }').filter(
          (text) => !text.includes('there is no param'),
        ),
      ).to.deep.equal([]);
    });
  });

  describe('own functions', () => {
    it('replace a built-in one of the same name; two own ones of one name are an error (D58)', () => {
      const own = defineFunction({
        name: 'ticker_lookup',
        description: 'mine',
        inputs: {},
        run: () => 'MINE',
      });
      expect(compute({ function: 'ticker_lookup' }, builtinCatalog().with([own]))).to.equal('MINE');
      expect(() => catalog.with([{ ...double }]))
        .to.throw(WavetrainError, 'two functions named "double"')
        .with.property('code', 'bad_tool_file');
      expect(catalog.with([double]).metadata()).to.deep.equal(catalog.metadata());
    });

    it('are no tools, and share no names with them', () => {
      const mock = defineFunction({ name: 'mock', description: 'f', inputs: {}, run: () => 1 });
      const both = builtinCatalog().with([mock]);
      expect(both.isBuiltin('mock')).to.equal(true);
      expect(compute({ function: 'mock' }, both)).to.equal(1);
      expect(catalog.get('double')).to.equal(undefined);
      expect(catalog.names()).not.to.include('double');
    });

    it('are recognised in tool files by their kind, and checked like tools', () => {
      const value = { kind: 'function', name: 'f', inputs: { a: { type: 'list' } }, run: () => 1 };
      expect(parseTool(value, 'it')).to.deep.include({ kind: 'function', name: 'f' });
      expect(() => parseTool({ ...value, run: 1 }, 'it')).to.throw('it ("f") is not a function');
      expect(() => parseTool({ ...value, inputs: { function: {} } }, 'it')).to.throw(
        'cannot have an argument "function"',
      );
    });

    it('make another version of the tool when their code is another, so that the cache forgets outputs (D65)', () => {
      const version = (run: () => unknown): string | undefined => {
        const own = parseTool({ kind: 'function', name: 'f', inputs: {}, run }, 'it');
        return builtinCatalog().with([own]).get('compute')?.version;
      };
      expect(version(() => 1)).to.equal(version(() => 1));
      expect(version(() => 1)).not.to.equal(version(() => 2));
    });

    it('make the same tool when they are the same, which a rerun compares (D60), and another otherwise', () => {
      const again = builtinCatalog().with([double]);
      expect(again.get('compute')).to.equal(catalog.get('compute'));
      expect(builtinCatalog().get('compute')).to.equal(builtinCatalog().get('compute'));
      expect(builtinCatalog().get('compute')).not.to.equal(catalog.get('compute'));
    });
  });

  describe('shows its functions', () => {
    it('in the metadata, with their inputs', () => {
      const metadata = catalog.metadata().find(({ name }) => name === 'compute');
      expect(metadata?.inputs['function']).to.include({ registry: 'functions', required: true });
      const names = metadata?.functions?.map(({ name }) => name) ?? [];
      expect(names)
        .to.include.members(['double', 'period_label'])
        .and.to.deep.equal([...names].sort());
      expect(metadata?.functions?.find(({ name }) => name === 'double')?.inputs['number']).to.deep.equal({
        name: 'number',
        description: 'what to double',
        required: true,
        default: null,
        type: 'number',
      });
    });

    it('in the schema for editors, which complete their names', () => {
      const schema = catalog.toolSchemas().find(({ name }) => name === 'compute');
      const { function: input } = schema?.inputs['properties'] as Record<
        string,
        { anyOf: { enum: string[] }[] }
      >;
      expect(input?.anyOf[0]?.enum).to.include.members(['double', 'period_label']);
    });
  });

  it('gives any tool with a registry the functions, as a third argument', () => {
    const count = defineTool({
      name: 'count',
      description: 'counts',
      inputs: { name: { type: 'string', registry: 'functions', description: 'which' } },
      run: (_, __, registries) => [...(registries?.functions.keys() ?? [])].includes('double'),
    });
    expect(catalog.with([count]).get('count')?.run({}, toolContext())).to.equal(true);
    const wrong = { name: 'x', inputs: { a: { registry: 'tools' } }, run: () => 1 };
    let message = '';
    try {
      parseTool(wrong, 'it');
    } catch (error) {
      message = errorMessage(error);
    }
    expect(message).to.contain('has an unknown "registry"; there are functions, schemas, sources');
  });
});
