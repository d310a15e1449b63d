import { expect } from 'chai';
import fc from 'fast-check';
import { eachFrozen, type Output, toOutput } from '../../lib/execution/json-output.js';

const options = { limitBytes: 10_000, artifactPath: () => '/somewhere/a-1.bin' };

function valueOf(output: Output): unknown {
  if (!output.ok) throw new Error(output.error);
  return output.value;
}

describe('an output (D24)', () => {
  it('is an equal copy of any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(JSON.stringify(valueOf(toOutput(value, { ...options, limitBytes: 1e9 })))).to.equal(
          JSON.stringify(value),
        );
      }),
    );
  });

  it('cannot be changed by the tool that returned it, nor by one that reads it', () => {
    const returned = { list: [1] };
    const value = valueOf(toOutput(returned, options)) as { list: number[] };
    returned.list.push(2);
    expect(value).to.deep.equal({ list: [1] });
    expect(() => value.list.push(3)).to.throw(TypeError);
  });

  it('is neither copied nor counted anew when it is handed on, but its size still counts', () => {
    const first = valueOf(toOutput({ text: 'x'.repeat(4000) }, options));
    const second = valueOf(toOutput({ again: first }, options)) as { again: unknown };
    expect(second.again).to.equal(first);
    expect(toOutput([first, first, first], options)).to.deep.include({ ok: false });
  });

  it('is refused at once when repeated parts make it huge', () => {
    let value: unknown = 'x'.repeat(100);
    for (let level = 0; level < 60; level++) value = [value, value];
    expect(toOutput(value, options)).to.deep.include({ ok: false });
  });

  it('is refused when it is nested without end', () => {
    let value: unknown = null;
    for (let level = 0; level < 100_000; level++) value = [value];
    expect(toOutput(value, options)).to.deep.equal({
      ok: false,
      error: 'the output has a cycle, or more than 500 levels',
    });
  });

  it('cannot grow deeper by being handed on', () => {
    let value: unknown = 'x'.repeat(2000);
    let output = toOutput([value], { ...options, limitBytes: 1e9 });
    for (let level = 0; output.ok; level++) {
      value = output.value;
      if (level > 600) throw new Error('it grows without end');
      output = toOutput([value], { ...options, limitBytes: 1e9 });
    }
    expect(output.error).to.equal('the output has a cycle, or more than 500 levels');
  });

  it('holds a reference where the tool returned bytes', () => {
    for (const bytes of [
      Buffer.from('abc'),
      new Uint8Array([97, 98, 99]),
      new Uint8Array([97, 98, 99]).buffer,
    ]) {
      const output = toOutput({ file: bytes }, options);
      expect(valueOf(output)).to.deep.equal({
        file: { path: '/somewhere/a-1.bin', media_type: 'application/octet-stream', size: 3 },
      });
      expect(
        output.ok && output.artifacts.map((artifact) => Buffer.from(artifact.bytes).toString()),
      ).to.deep.equal(['abc']);
    }
  });

  it('says what is too large in units that people read', () => {
    const output = toOutput('x'.repeat(3 * 2 ** 20), { ...options, limitBytes: 2.5 * 2 ** 20 });
    expect(output).to.deep.equal({
      ok: false,
      error: 'the output is larger than the limit of 2.5 MiB: return less, or a file',
    });
  });
});

describe('the values of a map, frozen one by one', () => {
  /** What is handed over, in order. */
  function handedOver(values: object): [string, unknown][] {
    const taken: [string, unknown][] = [];
    eachFrozen(values, (key, json) => void taken.push([key, json]));
    return taken;
  }

  it('are handed over in order, copies that nobody can change, and none that is undefined', () => {
    const list = [1];
    const taken = handedOver({ a: list, gone: undefined, b: null });
    expect(taken).to.deep.equal([
      ['a', [1]],
      ['b', null],
    ]);
    expect(taken[0]?.[1]).to.not.equal(list);
    expect(taken[0]?.[1]).to.be.frozen;
  });

  it('may have any key, in a map without a prototype as well', () => {
    const map = JSON.parse('{"__proto__": 1, "toJSON": 2}') as object;
    const bare: object = Object.assign(Object.create(null), { length: 3 });
    expect([...handedOver(map), ...handedOver(bare)]).to.deep.equal([
      ['__proto__', 1],
      ['toJSON', 2],
      ['length', 3],
    ]);
  });

  it('are not handed over at all when one of them is not JSON, or when the map is none', () => {
    for (const values of [{ a: 1, b: () => 1 }, { a: 1, b: new Uint8Array(2) }, new Map([['a', 1]])]) {
      const taken: string[] = [];
      expect(() => eachFrozen(values, (key) => void taken.push(key))).to.throw(/^holds /);
      expect(taken).to.deep.equal([]);
    }
  });
});
