import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Scope } from '../../../lib/definition/template/scope.js';
import { compileTemplate, TemplateError } from '../../../lib/definition/template/template.js';
import { TEXT_LIMIT } from '../../../lib/definition/template/renderer.js';
import type { Json } from '../../../lib/common/json.js';
import { anyJson, partsOf, scopeOf } from './expression-of.js';

function render(value: Json, scope: Scope): Json {
  return compileTemplate(value).template.render(scope);
}

describe('Template.render', () => {
  const outputs: Record<string, Json> = {
    t: { n: 5, s: 'str', l: [1, 'a'], o: { k: 1 }, b: false, none: null },
  };

  describe('keeps the type of a template that is the whole text, and writes the others into it (D10)', () => {
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
      it(`${text} gives ${JSON.stringify(expected)}`, () => {
        expect(render(text, scopeOf(outputs))).to.deep.equal(expected);
      });
    }
  });

  it('reaches every string of a value, and no key (D15)', () => {
    const value = { '{{t.output.n}}': ['{{t.output.n}}', { a: { b: 'n={{t.output.n}}' } }], c: 1 };
    expect(render(value, scopeOf(outputs))).to.deep.equal({
      '{{t.output.n}}': [5, { a: { b: 'n=5' } }],
      c: 1,
    });
  });

  it('leaves data inert: what looks like a template in a value stays as it is (D14)', () => {
    const hostile = '{{params.secret}} \\{{ {{';
    const scope = scopeOf({ t: hostile }, { params: { secret: 'x' }, item: hostile, goal: hostile });
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

  it('gives back any value through a template that is the whole text', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(render('{{t.output}}', scopeOf({ t: value }))).to.equal(value);
        expect(render(['{{t.output.k[0]}}'], scopeOf({ t: { k: [value] } }))).to.deep.equal([value]);
      }),
    );
  });

  it('gives back any value without templates', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        fc.pre(!JSON.stringify(value).includes('{{'));
        expect(render(value, scopeOf({}))).to.deep.equal(value);
      }),
    );
  });

  describe('shares nothing that can change', () => {
    it('gives a value without templates as the same frozen object every time', () => {
      const { template } = compileTemplate({ a: [1, { b: 'x' }] });
      const first = template.render(scopeOf({}));
      expect(template.render(scopeOf({}))).to.equal(first);
      expect(partsOf(first).map((part) => Object.isFrozen(part))).to.deep.equal([true, true, true]);
    });

    it('makes new frozen lists and objects where templates stand, around literal parts', () => {
      const { template } = compileTemplate({ fixed: { deep: [1] }, list: ['{{t.output.n}}'] });
      const [one, two] = [1, 2].map(() => partsOf(template.render(scopeOf(outputs))));
      expect(one).to.deep.equal(two);
      // The object, `fixed`, `deep` and `list`.
      expect(one?.map((part, index) => part === two?.[index])).to.deep.equal([false, true, true, false]);
      expect(one?.map((part) => Object.isFrozen(part))).to.deep.equal([true, true, true, true]);
    });

    it('freezes the literal after ??', () => {
      const parts = partsOf(render('{{t.output.x ?? {"a":[1]}}}', scopeOf(outputs)));
      expect(parts.map((part) => Object.isFrozen(part))).to.deep.equal([true, true]);
    });

    it('builds a key called __proto__ as a key', () => {
      for (const json of ['{"__proto__": {"x": "{{t.output.n}}"}}', '{"__proto__": {"x": 5}}']) {
        const value = render(JSON.parse(json), scopeOf(outputs));
        expect(JSON.stringify(value)).to.equal('{"__proto__":{"x":5}}');
        expect(Object.getPrototypeOf(value)).to.equal(Object.prototype);
      }
    });
  });

  it('refuses a text over 10 MiB, however it comes about', () => {
    const half = 'x'.repeat(TEXT_LIMIT / 2);
    const scope = scopeOf({ t: half });
    expect(render('{{t.output}}{{t.output}}', scope)).to.have.length(TEXT_LIMIT);
    expect(() => render('{{t.output}}{{t.output}}!', scope)).to.throw(TemplateError, /10 MiB/);
    expect(() => render('{{t.output}}'.repeat(1000), scope)).to.throw(TemplateError, /10 MiB/);
    expect(render('{{t.output}}', scopeOf({ t: half + half + half }))).to.have.length(1.5 * TEXT_LIMIT);
  });
});

describe('Template.bind (D15)', () => {
  /** Counts how often each output is read. */
  function countingScope(outputs: Record<string, Json>): { scope: Scope; reads: () => string[] } {
    const reads: string[] = [];
    const output = (taskId: string): Json | undefined => {
      reads.push(taskId);
      return outputs[taskId];
    };
    return { scope: scopeOf({}, { output }), reads: () => reads };
  }

  it('renders every item as render does', () => {
    const { template } = compileTemplate({
      whole: '{{item}}',
      field: '{{item.n ?? 0}}',
      mixed: '{{a.output}}: {{item.n ?? 0}} of {{b.output}}',
      still: ['{{a.output}}', 'x{{b.output}}', { plain: [1] }],
    });
    const scope = scopeOf({ a: { deep: [1] }, b: 'B' });
    const bound = template.bind(scope);
    fc.assert(
      fc.property(anyJson, fc.nat(), (item, index) => {
        expect(bound(item, index)).to.deep.equal(template.render({ ...scope, item }));
      }),
    );
  });

  it('evaluates what does not read the item at the first item, and only then', () => {
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

  it('never fails for a fan-out without items, whatever is missing', () => {
    expect(compileTemplate('{{none.output}} {{item}}').template.bind(scopeOf({}))).to.be.a('function');
  });

  it('fails every item with the same error when something is missing, looking once', () => {
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
    // Once for the value, once for the words of the error.
    expect(reads()).to.have.length(2);
  });

  it('fails only the items that lack something', () => {
    const bound = compileTemplate('{{item.n}}').template.bind(scopeOf({}));
    expect(bound({ n: 1 }, 0)).to.equal(1);
    expect(() => bound({ m: 1 }, 1)).to.throw(TemplateError, /item has no n: it has m/);
    expect(bound({ n: 2 }, 2)).to.equal(2);
  });

  it('gives every item lists and objects of its own', () => {
    const bound = compileTemplate({ list: ['{{a.output}}'] }).template.bind(scopeOf({ a: 1 }));
    const [one, two] = [bound(0, 0), bound(1, 1)].map(partsOf);
    expect(one).to.deep.equal([{ list: [1] }, [1]]);
    expect(one?.map((part, index) => part === two?.[index])).to.deep.equal([false, false]);
  });

  it('parses a text once for all items, and freezes what they share (D12)', () => {
    const bound = compileTemplate(['{{a.output.rows}}', '{{item}}']).template.bind(
      scopeOf({ a: '{"rows": [1]}' }),
    );
    const [one, two] = [bound(0, 0), bound(1, 1)].map(partsOf);
    expect(one?.[1]).to.deep.equal([1]);
    expect(one?.[1]).to.equal(two?.[1]);
    expect(Object.isFrozen(one?.[1])).to.equal(true);
  });

  it('reads the item it is given, not one of the scope', () => {
    expect(compileTemplate('{{item}}').template.bind(scopeOf({}, { item: 'outer' }))('inner', 0)).to.equal(
      'inner',
    );
  });
});
