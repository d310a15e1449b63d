import { expect } from 'chai';
import type { Problem } from '../../../lib/definition/problems/problem.js';
import { checkDefinition, checkPipeline } from '../../../lib/pipelines/check.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';

function repeat<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

const TASKS = [{ id: 'a', tool: 'mock' }];

function problemsOf(param: object): readonly Problem[] {
  const definition = { id: 'p', goal: 'g', params: { p: param }, tasks: TASKS };
  return checkDefinition(definition, { catalog: builtinCatalog() }).problems;
}

function nest(levels: number): object {
  let value = {};
  for (let i = 0; i < levels; i++) value = { x: value };
  return value;
}

describe('checkParamDefinitions (D4)', () => {
  it('accepts the keywords that bound the work of a check, at every depth', () => {
    const row = {
      title: 'a row',
      type: 'object',
      required: ['id'],
      additionalProperties: false,
      properties: {
        id: { type: 'string', pattern: '^[a-z]+$', minLength: 1, maxLength: 9 },
        size: { anyOf: [{ type: 'integer', minimum: 0, multipleOf: 2 }, { const: 'any' }] },
        tags: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 3 },
        email: { type: 'string', format: 'email', examples: ['a@example.com'] },
      },
    };
    expect(
      problemsOf({ type: 'list', items: row, default: [{ id: 'a', size: 4, tags: ['b'] }] }),
    ).to.deep.equal([]);
    expect(problemsOf({ type: 'list', items: row, default: [{ id: 'A', size: 3 }] })).to.have.length(1);
  });

  const refused: [string, object][] = [
    ['$ref', { $ref: '#' }],
    ['$dynamicRef', { $dynamicRef: '#a' }],
    ['$defs', { $defs: { a: {} } }],
    ['definitions', { definitions: { a: {} } }],
    ['$id', { $id: 'urn:example:a' }],
    ['$anchor', { $anchor: 'a' }],
    ['$schema', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
    ['uniqueItems', { uniqueItems: true }],
    ['contains', { contains: {} }],
    ['unevaluatedProperties', { unevaluatedProperties: false }],
    ['unevaluatedItems', { unevaluatedItems: false }],
    ['patternProperties', { patternProperties: { '^a': {} } }],
    ['propertyNames', { propertyNames: {} }],
    ['dependentRequired', { dependentRequired: { a: ['b'] } }],
    ['dependentSchemas', { dependentSchemas: { a: {} } }],
    ['if', { if: {} }],
    ['nullable', { type: 'string', nullable: true }],
  ];
  for (const [keyword, schema] of refused) {
    it(`refuses the keyword ${keyword}, says where it is and what is allowed`, () => {
      const properties = { x: { items: { allOf: [schema] } } };
      const [problem, ...more] = problemsOf({ type: 'object', properties });
      expect(more).to.deep.equal([]);
      expect(problem).to.deep.include({
        code: 'invalid_param',
        message: `param "p": the keyword "${keyword}" is not allowed in "properties.x.items.allOf[0]"`,
        path: `/params/p/properties/x/items/allOf/0/${keyword}`,
      });
      expect(problem?.hint).to.include('the schemas of params may have type, enum, const, minimum');
    });
  }

  it('points at the keyword in the text, and suggests the one that was meant', () => {
    const text = [
      'pipeline:',
      '  id: p',
      '  goal: g',
      '  params:',
      '    n:',
      '      type: list',
      '      items: { minimun: 1 }',
      '  tasks: [{ id: a, tool: mock }]',
    ].join('\n');
    const { problems } = checkPipeline(text, { catalog: builtinCatalog() });
    expect(problems).to.deep.equal([
      {
        code: 'invalid_param',
        message: 'param "n": the keyword "minimun" is not allowed in "items"',
        path: '/pipeline/params/n/items/minimun',
        severity: 'error',
        line: 7,
        column: 16,
        hint: 'did you mean "minimum"?',
      },
    ]);
  });

  const malformed: [object, string][] = [
    [
      { items: { type: 'tuple' } },
      '"items.type" must be one of string, integer, number, boolean, list, array, object, null, or a list of them',
    ],
    [
      { items: { type: [] } },
      '"items.type" must be one of string, integer, number, boolean, list, array, object, null, or a list of them',
    ],
    [{ items: { minLength: -1 } }, '"items.minLength" must be a whole number from 0 on'],
    [{ items: { minimum: '1' } }, '"items.minimum" must be a number'],
    [{ items: { multipleOf: 0 } }, '"items.multipleOf" must be a number above 0'],
    [{ items: { enum: [] } }, '"items.enum" must be a list of values'],
    [{ items: { required: 'a' } }, '"items.required" must be a list of names'],
    [{ items: { items: [{}] } }, '"items.items" must be a schema: an object, true or false'],
    [{ items: { properties: [] } }, '"items.properties" must be an object of schemas'],
    [{ items: { anyOf: [] } }, '"items.anyOf" must be a list of schemas'],
    [{ items: { pattern: 3 } }, '"items.pattern" must be text'],
    [
      { pattern: '[a-z]{1000}{1000}' },
      '"pattern" makes about 8,000,000 instructions, and a pattern may make 5,000: shorten it, or repeat less in it',
    ],
    [{ properties: { a: 3 } }, '"properties.a" must be a schema: an object, true or false'],
  ];
  for (const [param, message] of malformed) {
    it(`refuses ${JSON.stringify(param)}`, () => {
      const type = 'items' in param ? 'list' : 'properties' in param ? 'object' : 'string';
      expect(problemsOf({ type, ...param }).map((problem) => problem.message)).to.deep.equal([
        `param "p": ${message}`,
      ]);
    });
  }

  const objects = Array.from({ length: 20_000 }, () => ({ a: 1 }));
  const bombs: [string, object][] = [
    [
      'references that a check would follow 2 to the power of 40 times',
      { type: 'object', properties: { x: { allOf: [{ $ref: '#' }, { $ref: '#' }] } }, default: nest(40) },
    ],
    [
      'unique items, which are compared with each other',
      {
        type: 'list',
        items: { uniqueItems: true },
        default: [Array.from({ length: 30_000 }, (_, i) => ({ i }))],
      },
    ],
    [
      'definitions that double at each level',
      {
        type: 'object',
        properties: {
          x: {
            $defs: Object.fromEntries(
              Array.from({ length: 30 }, (_, i) => [
                `d${i}`,
                { allOf: repeat(2, () => ({ $ref: `#/$defs/d${i + 1}` })) },
              ]),
            ),
          },
        },
        default: {},
      },
    ],
    [
      '300 patterns of property names for 20,000 objects',
      {
        type: 'list',
        items: {
          patternProperties: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`^${i}(a+)+$`, {}])),
        },
        default: objects,
      },
    ],
    [
      '900 schemas for each of 20,000 objects',
      { type: 'list', items: { allOf: repeat(900, () => ({ type: 'object' })) }, default: objects },
    ],
    [
      'a pattern with as many states as characters in the text',
      { type: 'string', pattern: 'a[ab]{999}$', default: 'aabab'.repeat(50_000) },
    ],
    [
      'patterns that take long to compile',
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 900 }, (_, i) => [`k${i}`, { pattern: `^[a-z]{1000}${i}$` }]),
        ),
        default: {},
      },
    ],
  ];
  for (const [title, param] of bombs) {
    itTimed(`refuses ${title} without holding the event loop`, () => {
      let problems: readonly Problem[] = [];
      const cpuMs = measureCpuMsSync(() => (problems = problemsOf(param)));
      expect(problems.map(({ code }) => code)).to.include('invalid_param');
      expect(cpuMs).to.be.lessThan(1000);
    });
  }

  itTimed('bounds the checks of all pipelines in one definition together', () => {
    const params = {
      p: {
        type: 'list',
        items: { allOf: repeat(100, () => ({ type: 'integer' })) },
        default: Array(3000).fill(1),
      },
    };
    const call = (i: number) => ({
      id: `t${i}`,
      tool: 'run_pipeline',
      inputs: { pipeline: { id: 'q', goal: 'g', params, tasks: TASKS } },
    });
    const check = (calls: number) =>
      checkDefinition(
        { id: 'p', goal: 'g', tasks: Array.from({ length: calls }, (_, i) => call(i)) },
        { catalog: builtinCatalog() },
      );
    expect(check(1).problems).to.deep.equal([]);
    const cpuMs = measureCpuMsSync(() => {
      expect(check(100).problems[0]?.message).to.equal(
        'the default of param "p" cannot be checked: that takes more than 1,000,000 steps; use fewer values, or fewer and simpler schemas and patterns',
      );
    });
    expect(cpuMs).to.be.lessThan(1000);
  });
});
