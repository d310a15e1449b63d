import { expect } from 'chai';
import fc from 'fast-check';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import {
  type JsonOutput,
  toJsonOutput,
  toJsonOutputInSteps,
} from '../../../lib/execution/invocation/json-output.js';
import { type FrozenEntry, freezeEntriesInSteps } from '../../../lib/execution/session/session.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { measureHeap } from '../../support/measuring/heap.js';

const options = { limitBytes: 10_000, artifactPath: () => '/somewhere/a-1.bin' };

function getValue(output: JsonOutput): unknown {
  if (!output.ok) throw new Error(output.error);
  return output.value;
}

describe('toJsonOutput (D24)', () => {
  it('returns an equal copy of any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(JSON.stringify(getValue(toJsonOutput(value, { ...options, limitBytes: 1e9 })))).to.equal(
          JSON.stringify(value),
        );
      }),
    );
  });

  it('returns a copy that no tool can change', () => {
    const returned = { list: [1] };
    const value = getValue(toJsonOutput(returned, options)) as { list: number[] };
    returned.list.push(2);
    expect(value).to.deep.equal({ list: [1] });
    expect(() => value.list.push(3)).to.throw(TypeError);
  });

  it('does not copy a frozen value again, but counts its size', () => {
    const first = getValue(toJsonOutput({ text: 'x'.repeat(4000) }, options));
    const second = getValue(toJsonOutput({ again: first }, options)) as { again: unknown };
    expect(second.again).to.equal(first);
    expect(toJsonOutput([first, first, first], options)).to.deep.include({ ok: false });
  });

  it('counts what its texts and keys take in memory: two-byte letters, and keys that no other object has', () => {
    const unlimited = { ...options, limitBytes: 1e9 };
    const ratio = (value: unknown): number => {
      const text = JSON.stringify(value);
      const copies = (): JsonOutput[] =>
        Array.from({ length: 4 }, () => toJsonOutput(JSON.parse(text), unlimited));
      const output = toJsonOutput(JSON.parse(text), unlimited);
      measureHeap(copies);
      return measureHeap(copies) / (4 * (output.ok ? output.sizeBytes : 0));
    };
    const list = <T>(length: number, of: (at: number) => T): T[] => Array.from({ length }, (_, at) => of(at));
    expect(ratio(list(3000, (at) => `\u4e2d\u6587${at}`.repeat(50)))).to.be.below(1.3);
    expect(ratio(list(20_000, (at) => ({ [`k${at}`]: 1 })))).to.be.below(1.3);
    expect(ratio(Object.fromEntries(list(20_000, (at) => [`k${at}`, 1])))).to.be.below(1.3);
    expect(ratio(list(2000, (at) => Object.fromEntries(list(10, (n) => [`k${at}_${n}`, 1]))))).to.be.below(
      1.3,
    );
  });

  it('rejects a value at once when repeated parts make it huge', () => {
    let value: unknown = 'x'.repeat(100);
    for (let level = 0; level < 60; level++) value = [value, value];
    expect(toJsonOutput(value, options)).to.deep.include({ ok: false });
  });

  it('rejects a value that is nested too deep', () => {
    let value: unknown = null;
    for (let level = 0; level < 100_000; level++) value = [value];
    expect(toJsonOutput(value, options)).to.deep.equal({
      ok: false,
      error: 'the output has a cycle, or more than 500 levels',
    });
  });

  it('limits the depth of a value that tasks pass on and wrap', () => {
    let value: unknown = 'x'.repeat(2000);
    let output = toJsonOutput([value], { ...options, limitBytes: 1e9 });
    for (let level = 0; output.ok; level++) {
      value = output.value;
      if (level > 600) throw new Error('it grows without end');
      output = toJsonOutput([value], { ...options, limitBytes: 1e9 });
    }
    expect(output.error).to.equal('the output has a cycle, or more than 500 levels');
  });

  it('converts what JSON can hold, and fails for everything else with a reason', () => {
    class Point {
      readonly x = 1;
    }
    class Tagged extends Point {
      readonly [Symbol.toStringTag] = 'Tag';
    }
    const withSymbol = { a: 1, [Symbol('key')]: 2 };
    const sparse = [1];
    sparse[2] = 3;
    class Closed {
      readonly #secret = 1;
      get secret(): number {
        return this.#secret;
      }
    }
    const converted: readonly (readonly [unknown, unknown])[] = [
      [undefined, null],
      [[undefined], [null]],
      [sparse, [1, null, 3]],
      [{ a: undefined, b: 1 }, { b: 1 }],
      [new Date(0), '1970-01-01T00:00:00.000Z'],
      [new URL('http://a.b/'), 'http://a.b/'],
      [new Point(), { x: 1 }],
      [Object.defineProperty({ a: 1 }, 'hidden', { value: 2 }), { a: 1 }],
      [Object.defineProperty({ a: 1 }, Symbol('hidden'), { value: 2 }), { a: 1 }],
      [/(b)/.exec('abc'), ['b', 'b']],
      [Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
      [JSON.parse('{"__proto__": [1]}'), JSON.parse('{"__proto__": [1]}')],
    ];
    for (const [value, json] of converted) expect(getValue(toJsonOutput(value, options))).to.deep.equal(json);
    const refused: readonly (readonly [unknown, string])[] = [
      [new Date(Number.NaN), 'holds an invalid Date, which JSON has no text for'],
      [withSymbol, 'has a symbol as a key, which JSON cannot hold'],
      [Object.assign(new Point(), withSymbol), 'has a symbol as a key, which JSON cannot hold'],
      [Number.NaN, 'holds NaN, which JSON has no number for'],
      [Number.NEGATIVE_INFINITY, 'holds -Infinity, which JSON has no number for'],
      [10n, 'holds a bigint, which JSON cannot hold'],
      [Symbol('s'), 'holds a symbol, which JSON cannot hold'],
      [() => 1, 'holds a function, which JSON cannot hold'],
      [new Map([[1, 2]]), 'holds a Map, which JSON cannot hold'],
      [new Set([1]), 'holds a Set, which JSON cannot hold'],
      [new WeakMap(), 'holds a WeakMap, which JSON cannot hold'],
      [/a/, 'holds a RegExp, which JSON cannot hold'],
      [new Number(1), 'holds a Number, which JSON cannot hold'],
      [new String('a'), 'holds a String, which JSON cannot hold'],
      [new Boolean(true), 'holds a Boolean, which JSON cannot hold'],
      [Promise.resolve(1), 'holds a Promise, which JSON cannot hold'],
      [(function* () {})(), 'holds a Generator, which JSON cannot hold'],
      [new Blob(['x']), 'holds a Blob, which JSON cannot hold'],
      [new Tagged(), 'holds a Tag, which JSON cannot hold'],
      [new Closed(), 'holds a Closed, which JSON cannot hold'],
      [new Error('no'), 'holds an Error: throw it instead of returning it'],
    ];
    for (const [value, reason] of refused) {
      expect(toJsonOutput(value, options)).to.deep.equal({ ok: false, error: `the output ${reason}` });
    }
  });

  it('says where in the output the value is that JSON cannot hold', () => {
    class Converted {
      toJSON(): unknown {
        return { b: 1n };
      }
    }
    const unreadable = {
      get x(): unknown {
        throw new Error('no');
      },
    };
    const wrongs: readonly (readonly [unknown, string])[] = [
      [{ f: () => 1 }, 'holds a function, which JSON cannot hold (at f)'],
      [[0, [1, Number.NaN]], 'holds NaN, which JSON has no number for (at [1][1])'],
      [
        { a: 1, rows: [{ done: [] }, { at: new Date(Number.NaN) }] },
        'holds an invalid Date, which JSON has no text for (at rows[1].at)',
      ],
      [{ a: { [Symbol('key')]: 1 } }, 'has a symbol as a key, which JSON cannot hold (at a)'],
      [{ a: new Converted() }, 'holds a bigint, which JSON cannot hold (at a.b)'],
      [{ a: unreadable }, 'could not be read: no (at a.x)'],
      [{ a: 'x'.repeat(2 ** 21) }, 'is larger than the limit of 1 MiB: return less, or a file'],
    ];
    for (const [value, reason] of wrongs) {
      expect(toJsonOutput(value, { ...options, limitBytes: 2 ** 20 })).to.deep.equal({
        ok: false,
        error: `the output ${reason}`,
      });
    }
  });

  it('refuses a list that is too long before it takes memory for it', () => {
    const list: unknown[] = [];
    list.length = 2 ** 32 - 1;
    expect(toJsonOutput(list, options)).to.deep.include({ ok: false });
  });

  it('replaces bytes by a reference to an artifact', () => {
    for (const bytes of [
      Buffer.from('abc'),
      new Uint8Array([97, 98, 99]),
      new Uint8Array([97, 98, 99]).buffer,
    ]) {
      const output = toJsonOutput({ file: bytes }, options);
      expect(getValue(output)).to.deep.equal({
        file: { path: '/somewhere/a-1.bin', media_type: 'application/octet-stream', size: 3 },
      });
      expect(
        output.ok && output.artifacts.map((artifact) => Buffer.from(artifact.bytes).toString()),
      ).to.deep.equal(['abc']);
    }
  });

  it('reports the size limit in MiB', () => {
    const output = toJsonOutput('x'.repeat(3 * 2 ** 20), { ...options, limitBytes: 2.5 * 2 ** 20 });
    expect(output).to.deep.equal({
      ok: false,
      error: 'the output is larger than the limit of 2.5 MiB: return less, or a file',
    });
  });
});

describe('The values of a record as frozen JSON', () => {
  const freeze = (values: object): readonly FrozenEntry[] => runToEnd(freezeEntriesInSteps(values));

  it('are copies in order, without undefined values', () => {
    const list = [1];
    const entries = freeze({ a: list, gone: undefined, b: null });
    expect(entries).to.deep.equal([
      ['a', [1]],
      ['b', null],
    ]);
    expect(entries[0]?.[1]).to.not.equal(list);
    expect(entries[0]?.[1]).to.be.frozen;
  });

  it('have any key, and come from records without a prototype too', () => {
    const map = JSON.parse('{"__proto__": 1, "toJSON": 2}') as object;
    const bare: object = Object.assign(Object.create(null), { length: 3 });
    expect([...freeze(map), ...freeze(bare)]).to.deep.equal([
      ['__proto__', 1],
      ['toJSON', 2],
      ['length', 3],
    ]);
  });

  it('are none when a value is not JSON, or when the argument is not a record', () => {
    for (const values of [{ a: 1, b: () => 1 }, { a: 1, b: new Uint8Array(2) }, new Map([['a', 1]])])
      expect(() => freeze(values)).to.throw(/^holds /);
  });
});

describe('An output that is copied in steps', () => {
  const unlimited = { ...options, limitBytes: 1e9 };

  it('is the same, with the same size, as one that is copied at once', () => {
    const anything = fc.anything({
      withDate: true,
      withTypedArray: true,
      withNullPrototype: true,
      maxDepth: 4,
    });
    fc.assert(
      fc.property(anything, (value) => {
        expect(runToEnd(toJsonOutputInSteps(value, unlimited))).to.deep.equal(toJsonOutput(value, unlimited));
      }),
    );
  });

  it('is frozen, and not copied again', () => {
    const value = getValue(
      runToEnd(toJsonOutputInSteps({ lists: [Array.from({ length: 2000 }, () => [1])] }, unlimited)),
    );
    expect(Object.isFrozen((value as { lists: unknown[] }).lists[0])).to.equal(true);
    expect(getValue(toJsonOutput([value], unlimited))).to.have.property('0', value);
  });

  it('takes one step for its first 5000 parts, and another for every 1000 more, in lists and in objects', () => {
    const list = Array.from({ length: 50_000 }, () => [1]);
    const object = Object.fromEntries(list.map((member, index) => [`key ${index}`, member]));
    for (const value of [list, object, [{ list, object }]]) {
      const members = value === list || value === object ? 100_000 : 200_000;
      const more = (members - 5000) / 1000;
      expect([...toJsonOutputInSteps(value, unlimited)].length).to.be.within(more, more + 1);
    }
  });

  it('is copied in a single step when it has at most 5000 parts', () => {
    const list = (length: number): number[] => Array.from({ length }, () => 1);
    for (const short of [list(5000), 'x'.repeat(1_000_000), () => 1]) {
      expect(toJsonOutputInSteps(short, unlimited).next().done).to.equal(true);
    }
    expect(toJsonOutputInSteps(list(5001), unlimited).next().done).to.equal(false);
  });

  it('is converted once, although it is copied in parts', async () => {
    class Counter {
      count = 0;
      toJSON(): number {
        return ++this.count;
      }
    }
    const count = defineTool({
      name: 'count',
      description: 'counts',
      inputs: {},
      run: async () => [new Counter(), ...Array.from({ length: 6000 }, () => 0)],
    });
    const executor = new LocalExecutor();
    const pipeline = parsePipeline('{id: p, goal: g, tasks: [{id: a, tool: count}]}', { tools: [count] });
    const { outputs } = await executor.getResult(await executor.submit({ pipeline }));
    expect((outputs['a'] as readonly number[]).slice(0, 2)).to.deep.equal([1, 0]);
  });
});
