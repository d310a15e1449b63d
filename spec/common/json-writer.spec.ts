import { expect } from 'chai';
import fc from 'fast-check';
import { CHUNK_LENGTH, isShortJson, JsonWriter } from '../../lib/common/json/json-writer.js';
import { itTimed, measureCpuMsSync } from '../support/measuring/cpu-time.js';
import { cases } from '../support/measuring/cases.js';

function listChunks(value: unknown, chunkLength?: number): string[] {
  const writer = new JsonWriter(value, chunkLength);
  const chunks: string[] = [];
  for (let chunk = writer.next(); chunk !== ''; chunk = writer.next()) chunks.push(chunk);
  return chunks;
}

/** Strings of any UTF-16 code units, lone surrogates included. */
const anyText = fc.string({
  unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)),
  maxLength: 40,
});

const anyNumber = fc.oneof(fc.constantFrom(-0, 0, 1e21, 5e-324, -1.5), fc.double(), fc.integer());

const json = fc.anything({
  key: fc.oneof(anyText, fc.constant('__proto__')),
  values: [fc.constantFrom(null, true, false, undefined), anyNumber, anyText],
  maxDepth: 4,
  maxKeys: 6,
});

describe('JsonWriter', () => {
  it('writes the same text as JSON.stringify for random values, whatever the size of the chunks', () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 1, max: 200 }), (value, chunkLength) => {
        // Large enough that the parts are written one by one.
        const large = { value, filler: 'x'.repeat(600), list: [value, 'y'.repeat(600)] };
        expect(listChunks(large, chunkLength).join('')).to.equal(JSON.stringify(large));
      }),
      cases(400),
    );
  });

  itTimed('takes for lists of small members not many times as long as JSON.stringify', () => {
    for (const member of [1, 1.5, 'a', [], { a: 1 }]) {
      const list = Array.from({ length: 300_000 }, () => member);
      listChunks(list);
      const native = measureCpuMsSync(() => JSON.stringify(list));
      expect(measureCpuMsSync(() => listChunks(list))).to.be.below(5 * native + 20);
    }
  });

  it('cuts a long text only between characters', () => {
    for (const text of [
      '😀'.repeat(30_000),
      `a${'😀'.repeat(30_000)}`,
      `\ud83d${'😀'.repeat(30_000)}`,
      '\ud83d'.repeat(40_000),
      '\u0000"\\'.repeat(20_000),
    ]) {
      expect(listChunks(text).join('')).to.equal(JSON.stringify(text));
      expect(listChunks([text]).join('')).to.equal(JSON.stringify([text]));
    }
  });

  it('writes chunks of about the same length, however the value is nested', () => {
    let chain: unknown = 'end';
    for (let depth = 0; depth < 900; depth++) chain = [chain, 'z'.repeat(100)];
    const values = [
      Array.from({ length: 60_000 }, (_, seq) => ({ seq, kind: 'item', task_id: 'a' })),
      Object.fromEntries(Array.from({ length: 30_000 }, (_, key) => [`key ${key}`, key])),
      Array.from({ length: 100_000 }, () => []),
      ['w'.repeat(2_000_000)],
      Array.from({ length: 20 }, () => chain),
    ];
    for (const value of values) {
      const chunks = listChunks(value);
      expect(chunks.join('')).to.equal(JSON.stringify(value));
      expect(chunks.length).to.be.above(2);
      for (const chunk of chunks.slice(0, -1)) {
        expect(chunk.length).to.be.within(CHUNK_LENGTH, 2 * CHUNK_LENGTH);
      }
    }
  });

  itTimed('takes a time that is linear in the size of a value, also of one that is deeply nested', () => {
    let chain: unknown = Array.from({ length: 60 }, () => 1);
    for (let depth = 0; depth < 400; depth++) chain = [chain];
    const nested = (count: number): unknown => Array.from({ length: count }, () => chain);
    listChunks(nested(50));
    const small = measureCpuMsSync(() => listChunks(nested(200)));
    const large = measureCpuMsSync(() => listChunks(nested(1600)));
    expect(large).to.be.below(32 * Math.max(small, 1));
  });
});

describe('An object with very many keys', () => {
  it('lists its keys once while it is written, however deep it is', () => {
    const object = Object.fromEntries(Array.from({ length: 1000 }, (_, key) => [`key ${key}`, key]));
    let lists = 0;
    const counted = new Proxy(object, {
      ownKeys: (target) => {
        lists++;
        return Reflect.ownKeys(target);
      },
    });
    const value = { result: { outputs: { task: { list: [counted, 1] } } } };
    expect(listChunks(value).join('')).to.equal(
      JSON.stringify({ result: { outputs: { task: { list: [object, 1] } } } }),
    );
    expect(lists).to.equal(1);
  });
});

describe('isShortJson', () => {
  itTimed(
    'distinguishes values whose text is about one chunk from larger ones, without walking a large one',
    () => {
      expect(isShortJson({ outputs: { a: 'done' }, list: [1, 2, 3] })).to.equal(true);
      expect(isShortJson('x'.repeat(CHUNK_LENGTH - 8))).to.equal(true);
      expect(isShortJson('x'.repeat(CHUNK_LENGTH))).to.equal(false);
      expect(isShortJson([['x'.repeat(CHUNK_LENGTH)]])).to.equal(false);
      const huge = Array.from({ length: 1_000_000 }, () => [1, 2, 3]);
      expect(measureCpuMsSync(() => isShortJson(huge))).to.be.below(50);
      expect(isShortJson(huge)).to.equal(false);
    },
  );

  it('does not overflow the stack on a value that is nested as deeply as one may be', () => {
    let chain: unknown = [];
    for (let depth = 0; depth < 1_000_000; depth++) chain = [chain];
    expect(isShortJson(chain)).to.equal(false);
  });
});
