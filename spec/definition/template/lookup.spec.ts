import { expect } from 'chai';
import { lookUp } from '../../../lib/definition/template/expressions/lookup.js';
import type { Json } from '../../../lib/common/json/json.js';
import { parseExpression, listParts } from './expressions.js';

describe('lookUp', () => {
  function lookUpPath(value: Json, path: string): Json | undefined {
    return lookUp(value, parseExpression(`x${path}`).path);
  }

  describe('in lists and objects (D11)', () => {
    const data = {
      list: ['a', 'b', { c: 1 }],
      empty: [],
      own: { first: 'mine', length: 7, '0': 'zero', toString: 'own' },
      years: { '2024': { total: 5 }, '007': 'bond' },
      none: null,
      n: 5,
    };
    const cases: [string, Json | undefined][] = [
      ['.list', data.list],
      ['.list[0]', 'a'],
      ['.list.1', 'b'],
      ['.list[-1].c', 1],
      ['.list[-3]', 'a'],
      ['.list[-4]', undefined],
      ['.list[3]', undefined],
      ['.list.first', 'a'],
      ['.list.last', data.list[2] ?? null],
      ['.list.length', 3],
      ['.list["0"]', undefined],
      ['.list.map', undefined],
      ['.empty.first', undefined],
      ['.empty.last', undefined],
      ['.empty.length', 0],
      ['.own.first', 'mine'],
      ['.own.length', 7],
      ['.own.last', undefined],
      ['.own["0"]', 'zero'],
      ['.own.0', 'zero'],
      ['.own[0]', undefined],
      ['.years.2024.total', 5],
      ['.years.2025', undefined],
      ['.years.007', 'bond'],
      ['.list.002', undefined],
      ['.list.3', undefined],
      ['.own.toString', 'own'],
      ['.none', null],
      ['.none.x', undefined],
      ['.n.x', undefined],
      ['.n.length', undefined],
      ['.toString', undefined],
      ['.hasOwnProperty', undefined],
      ['.missing.x.y', undefined],
    ];
    for (const [path, expected] of cases) {
      it(`finds ${JSON.stringify(expected) ?? 'nothing'} at ${path}`, () => {
        expect(lookUpPath(data, path)).to.deep.equal(expected);
      });
    }

    it('returns the value itself, not a copy', () => {
      expect(lookUpPath(data, '.list')).to.equal(data.list);
    });
  });

  describe('in texts (D12)', () => {
    const cases: [string, string, Json | undefined][] = [
      ['{"a": {"b": 1}}', '.a.b', 1],
      ['[1, 2, 3]', '[1]', 2],
      ['[1, 2, 3]', '.length', 3],
      ['["x", "y"]', '.last', 'y'],
      ['```json\n{"a": 1}\n```', '.a', 1],
      ['{"inner": "{\\"deep\\": [true]}"}', '.inner.deep[0]', true],
      ['{"2024": 1}', '.2024', 1],
      ['[5, 6]', '.1', 6],
      ['plain', '.0', undefined],
      ['Sure! {"a": {"b": 1}} Anything else?', '.a.b', 1],
      ['The topics are ["x", "y"].', '.length', 2],
      ['The topics are ["x", "y"].', '.first', 'x'],
      ['see [below] or {there}', '.length', 22],
      ['{"a": 1}', '.b', undefined],
      ['{"a": 1}', '.length', undefined],
      ['{"length": 9}', '.length', 9],
      ['plain', '.length', 5],
      ['plain', '.first', 'p'],
      ['plain', '.last', 'n'],
      ['plain', '.first.length', 1],
      ['plain', '.x', undefined],
      ['plain', '[0]', undefined],
      ['', '.length', 0],
      ['', '.first', undefined],
      ['', '.last', undefined],
      ['{broken', '.length', 7],
      ['12', '.length', 2],
      ['"quoted"', '.length', 8],
      ['😀b😎', '.length', 3],
      ['😀b😎', '.first', '😀'],
      ['😀b😎', '.last', '😎'],
    ];
    for (const [text, path, expected] of cases) {
      it(`finds ${JSON.stringify(expected) ?? 'nothing'} at ${path} of ${JSON.stringify(text)}`, () => {
        expect(lookUpPath(text, path)).to.deep.equal(expected);
      });
    }

    it('returns a text unchanged when the path ends there', () => {
      expect(lookUpPath({ a: '{"b":1}' }, '.a')).to.equal('{"b":1}');
    });

    it('freezes what it finds in a text, because many items may share it', () => {
      const parts = listParts(lookUpPath('{"a": [{"b": []}]}', '.a'));
      expect(parts.map((part) => Object.isFrozen(part))).to.deep.equal([true, true, true]);
    });

    it('reads a text nested 100,000 levels deep', () => {
      const depth = 100_000;
      expect(lookUpPath(`{"a": ${'['.repeat(depth)}${']'.repeat(depth)}}`, '.a.length')).to.equal(1);
    });

    it('reads a path of 10,000 names in one text without keeping the intermediate values', () => {
      expect(lookUpPath('plain', '.first'.repeat(10_000))).to.equal('p');
    });

    it('parses a large text once, however many of its fields a task reads', () => {
      const text = JSON.stringify({ list: Array.from({ length: 10_000 }, () => 'x') });
      expect(lookUpPath(text, '.list')).to.equal(lookUpPath(text, '.list'));
    });

    it('clears the cache at the next microtask', async () => {
      const text = JSON.stringify({ list: Array.from({ length: 10_000 }, () => 'x') });
      const list = lookUpPath(text, '.list');
      await Promise.resolve();
      expect(lookUpPath(text, '.list')).not.to.equal(list);
    });

    it('never reads properties of prototypes (D13)', () => {
      const [proto] = [{ kind: 'field' as const, name: '__proto__', index: undefined }];
      expect(lookUp({}, [proto])).to.equal(undefined);
      expect(lookUp('{"a":1}', [proto])).to.equal(undefined);
    });
  });
});
