import { expect } from 'chai';
import * as fc from 'fast-check';
import type { TemplateScope } from '../../../lib/definition/template/scope.js';
import { TemplateError } from '../../../lib/definition/template/expressions/operand.js';
import { compileTemplate } from '../../../lib/definition/template/template.js';
import { MAX_OUTPUT_LENGTH } from '../../../lib/common/limits.js';
import type { Json } from '../../../lib/common/json/json.js';
import { anyJson, listParts, createScope } from './expressions.js';

function render(value: Json, scope: TemplateScope): Json {
  return compileTemplate(value).template.render(scope);
}

describe('Template.render', () => {
  const outputs: Record<string, Json> = {
    t: { n: 5, s: 'str', l: [1, 'a'], o: { k: 1 }, b: false, none: null },
  };

  describe('keeps the type of a template that is the whole text, and formats the others as text (D10)', () => {
    const cases: [string, Json][] = [
      ['{{t.output.n}}', 5],
      ['{{ t.output.s }}', 'str'],
      ['{{t.output.l}}', [1, 'a']],
      ['{{t.output.o}}', { k: 1 }],
      ['{{t.output.b}}', false],
      ['{{t.output.none}}', null],
      [' {{t.output.n}}', ' 5'],
      ['{{t.output.n}}{{t.output.n}}', '55'],
      ['a {{t.output.s}} b', 'a str b'],
      ['<{{t.output.none}}>', '<>'],
      ['<{{t.output.b}}>', '<false>'],
      ['<{{t.output.l}}>', '<[1,"a"]>'],
      ['<{{t.output.o}}>', '<{"k":1}>'],
      ['<{{t.output.x ?? "d"}}{{t.output.x ?? null}}>', '<d>'],
      ['\\{{t.output.n}} is {{t.output.n}}', '{{t.output.n}} is 5'],
      ['\\{{t.output.n}}', '{{t.output.n}}'],
    ];
    for (const [text, expected] of cases) {
      it(`renders ${text} as ${JSON.stringify(expected)}`, () => {
        expect(render(text, createScope(outputs))).to.deep.equal(expected);
      });
    }
  });

  it('renders every string of a value, but no key (D15)', () => {
    const value = { '{{t.output.n}}': ['{{t.output.n}}', { a: { b: 'n={{t.output.n}}' } }], c: 1 };
    expect(render(value, createScope(outputs))).to.deep.equal({
      '{{t.output.n}}': [5, { a: { b: 'n=5' } }],
      c: 1,
    });
  });

  it('does not render templates in data (D14)', () => {
    const hostile = '{{params.secret}} \\{{ {{';
    const scope = createScope({ t: hostile }, { params: { secret: 'x' }, item: hostile, goal: hostile });
    const value = {
      a: '{{t.output}}',
      b: '>{{t.output}}',
      c: '{{item}}',
      d: '{{pipeline.goal}}',
      e: '{{t.x ?? "{{item}}"}}',
    };
    expect(render(value, scope)).to.deep.equal({
      a: hostile,
      b: `>${hostile}`,
      c: hostile,
      d: hostile,
      e: '{{item}}',
    });
  });

  it('returns any value unchanged through a template that is the whole text', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(render('{{t.output}}', createScope({ t: value }))).to.equal(value);
        expect(render(['{{t.output.k[0]}}'], createScope({ t: { k: [value] } }))).to.deep.equal([value]);
      }),
    );
  });

  it('returns any value without templates unchanged', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        fc.pre(!JSON.stringify(value).includes('{{'));
        expect(render(value, createScope({}))).to.deep.equal(value);
      }),
    );
  });

  describe('shares only frozen values', () => {
    it('returns a value without templates as the same frozen object every time', () => {
      const { template } = compileTemplate({ a: [1, { b: 'x' }] });
      const first = template.render(createScope({}));
      expect(template.render(createScope({}))).to.equal(first);
      expect(listParts(first).map((part) => Object.isFrozen(part))).to.deep.equal([true, true, true]);
    });

    it('creates new frozen lists and objects only around templates', () => {
      const { template } = compileTemplate({ fixed: { deep: [1] }, list: ['{{t.output.n}}'] });
      const [one, two] = [1, 2].map(() => listParts(template.render(createScope(outputs))));
      expect(one).to.deep.equal(two);
      // The object, `fixed`, `deep` and `list`.
      expect(one?.map((part, index) => part === two?.[index])).to.deep.equal([false, true, true, false]);
      expect(one?.map((part) => Object.isFrozen(part))).to.deep.equal([true, true, true, true]);
    });

    it('freezes the literal after ??', () => {
      const parts = listParts(render('{{t.output.x ?? {"a":[1]}}}', createScope(outputs)));
      expect(parts.map((part) => Object.isFrozen(part))).to.deep.equal([true, true]);
    });

    it('treats __proto__ as a plain key', () => {
      for (const json of ['{"__proto__": {"x": "{{t.output.n}}"}}', '{"__proto__": {"x": 5}}']) {
        const value = render(JSON.parse(json), createScope(outputs));
        expect(JSON.stringify(value)).to.equal('{"__proto__":{"x":5}}');
        expect(Object.getPrototypeOf(value)).to.equal(Object.prototype);
      }
    });
  });

  it('throws for a text over 10 MiB, however it is composed', () => {
    const half = 'x'.repeat(MAX_OUTPUT_LENGTH / 2);
    const scope = createScope({ t: half });
    expect(render('{{t.output}}{{t.output}}', scope)).to.have.length(MAX_OUTPUT_LENGTH);
    expect(() => render('{{t.output}}{{t.output}}!', scope)).to.throw(TemplateError, /10 MiB/);
    expect(() => render('{{t.output}}'.repeat(1000), scope)).to.throw(TemplateError, /10 MiB/);
    expect(render('{{t.output}}', createScope({ t: half + half + half }))).to.have.length(
      1.5 * MAX_OUTPUT_LENGTH,
    );
  });
});

describe('Template.bind (D15)', () => {
  /** Counts how often each output is read. */
  function countingScope(outputs: Record<string, Json>): { scope: TemplateScope; reads: () => string[] } {
    const reads: string[] = [];
    const output = (taskId: string): Json | undefined => {
      reads.push(taskId);
      return outputs[taskId];
    };
    return { scope: createScope({}, { output }), reads: () => reads };
  }

  it('renders every item as render does', () => {
    const { template } = compileTemplate({
      whole: '{{item}}',
      field: '{{item.n ?? 0}}',
      mixed: '{{a.output}}: {{item.n ?? 0}} of {{b.output}}',
      still: ['{{a.output}}', 'x{{b.output}}', { plain: [1] }],
    });
    const scope = createScope({ a: { deep: [1] }, b: 'B' });
    const bound = template.bind(scope);
    fc.assert(
      fc.property(anyJson, fc.nat(), (item, index) => {
        expect(bound(item, index)).to.deep.equal(template.render({ ...scope, item }));
      }),
    );
  });

  it('evaluates what does not read the item once, at the first item', () => {
    const { scope, reads } = countingScope({ a: '{"n": 1}', b: 'B' });
    const value = {
      one: '{{a.output.n}}',
      two: 'x {{b.output}}',
      three: '{{b.output}} {{item}}',
      four: '{{item}}',
    };
    const bound = compileTemplate(value).template.bind(scope);
    expect(reads()).to.deep.equal([]);
    for (const item of [1, 2, 3]) {
      expect(bound(item, item - 1)).to.deep.equal({ one: 1, two: 'x B', three: `B ${item}`, four: item });
    }
    expect(reads()).to.deep.equal(['a', 'b', 'b']);
  });

  it('never throws for a fan-out without items, whatever is missing', () => {
    expect(compileTemplate('{{none.output}} {{item}}').template.bind(createScope({}))).to.be.a('function');
  });

  it('throws the same error for every item when a value is missing, and looks it up once', () => {
    const { scope, reads } = countingScope({});
    const bound = compileTemplate(['{{none.output}}', '{{item}}']).template.bind(scope);
    const errors = [1, 2].map((item) => {
      try {
        return bound(item, 0);
      } catch (error) {
        return error;
      }
    });
    expect(errors[0]).to.be.instanceOf(TemplateError);
    expect(errors[1]).to.equal(errors[0]);
    // Once for the value, once for the error message.
    expect(reads()).to.have.length(2);
  });

  it('throws only for the items that lack a value', () => {
    const bound = compileTemplate('{{item.n}}').template.bind(createScope({}));
    expect(bound({ n: 1 }, 0)).to.equal(1);
    expect(() => bound({ m: 1 }, 1)).to.throw(TemplateError, /item has no n: it has m/);
    expect(bound({ n: 2 }, 2)).to.equal(2);
  });

  it('creates lists and objects for every item', () => {
    const bound = compileTemplate({ list: ['{{a.output}}'] }).template.bind(createScope({ a: 1 }));
    const [one, two] = [bound(0, 0), bound(1, 1)].map(listParts);
    expect(one).to.deep.equal([{ list: [1] }, [1]]);
    expect(one?.map((part, index) => part === two?.[index])).to.deep.equal([false, false]);
  });

  it('parses a text once for all items, and freezes the value that they share (D12)', () => {
    const bound = compileTemplate(['{{a.output.rows}}', '{{item}}']).template.bind(
      createScope({ a: '{"rows": [1]}' }),
    );
    const [one, two] = [bound(0, 0), bound(1, 1)].map(listParts);
    expect(one?.[1]).to.deep.equal([1]);
    expect(one?.[1]).to.equal(two?.[1]);
    expect(Object.isFrozen(one?.[1])).to.equal(true);
  });

  it('reads the item that is passed, not the item of the scope', () => {
    expect(
      compileTemplate('{{item}}').template.bind(createScope({}, { item: 'outer' }))('inner', 0),
    ).to.equal('inner');
  });
});
