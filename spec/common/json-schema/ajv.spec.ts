import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { compileSchema, findSchemaError } from '../../../lib/common/json-schema/ajv.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

describe('compileSchema', () => {
  it('compiles a schema that reports all errors and coerces nothing', () => {
    const validate = compileSchema({
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'boolean' } },
    });
    expect(validate({ a: 1, b: true })).to.equal(true);
    expect(validate({ a: '1', b: 'true' })).to.equal(false);
    expect(validate.errors).to.have.length(2);
  });

  itTimed('reports the first error only of a large value that is wrong everywhere, in linear time', () => {
    const validate = compileSchema({ type: 'array', items: { type: 'integer', minimum: 1 } });
    const cpuMs = measureCpuMsSync(() => {
      expect(validate(Array(500_000).fill('x'))).to.equal(false);
    });
    expect(validate.errors).to.have.length(1);
    expect(cpuMs).to.be.lessThan(100);
    expect(validate(Array(100).fill('x'))).to.equal(false);
    expect(validate.errors).to.have.length(100);
    expect(validate([1])).to.equal(true);
    expect(validate.errors).to.equal(null);
  });

  it('writes defaults only with useDefaults', () => {
    const schema = { type: 'object', properties: { a: { default: 1 } } };
    const [plain, filled] = [{}, {}];
    compileSchema(schema)(plain);
    compileSchema(schema, { useDefaults: true })(filled);
    expect([plain, filled]).to.deep.equal([{}, { a: 1 }]);
  });

  itTimed('matches patterns of values and property names in linear time', () => {
    const validate = compileSchema({
      type: 'object',
      patternProperties: { '^(k+)+$': { type: 'string', pattern: '^(a+)+$' } },
      additionalProperties: false,
    });
    const cpuMs = measureCpuMsSync(() => {
      expect(validate({ k: `${'a'.repeat(10_000)}b` })).to.equal(false);
      expect(validate({ [`${'k'.repeat(10_000)}x`]: 'a' })).to.equal(false);
      expect(validate({ kk: 'aaa' })).to.equal(true);
    });
    expect(cpuMs).to.be.lessThan(1000);
  });

  it('isolates schemas with the same $id', () => {
    const first = compileSchema({ $id: 'urn:example:x', type: 'string' });
    const second = compileSchema({ $id: 'urn:example:x', type: 'number', $defs: { d: { $anchor: 'a' } } });
    expect([first('a'), second('a'), first(1), second(1)]).to.deep.equal([true, false, false, true]);
    expect(() => compileSchema({ $ref: 'urn:example:x' })).to.throw('urn:example:x');
  });

  it('releases a validator that is no longer used', async () => {
    const validator = new WeakRef(compileSchema({ pattern: 'once' }));
    for (let i = 0; i < 250; i++) compileSchema({ pattern: `${i}` });
    await collectGarbage();
    expect(validator.deref()).to.equal(undefined);
  });

  it('does not assert formats', () => {
    expect(compileSchema({ type: 'string', format: 'uri' })('not a uri')).to.equal(true);
  });

  it('uses built-in regular expressions only for trusted schemas', () => {
    const schema = { type: 'string', pattern: '^(?!b)' };

    expect(compileSchema(schema, { isTrusted: true })('a')).to.equal(true);
    expect(() => compileSchema(schema)).to.throw();
  });

  it('throws on an unknown keyword', () => {
    expect(() => compileSchema({ minimun: 1 })).to.throw('minimun');
  });
});

describe('findSchemaError', () => {
  it('returns undefined for a valid schema', () => {
    expect(
      findSchemaError({ type: 'array', items: { type: 'string', pattern: '^a' }, minItems: 1 }),
    ).to.equal(undefined);
  });

  it('describes the error, even one that compiling does not detect', () => {
    expect(findSchemaError({ properties: { a: 3 } })).to.contain('properties/a');
    expect(findSchemaError({ minLength: -1 })).to.contain('minLength');
    expect(findSchemaError({ type: 'strng' })).to.contain('type');
    expect(findSchemaError({ unknown: 1 })).to.contain('unknown');
    expect(findSchemaError({ pattern: '(?<!x)' })).to.contain('(?<!');
    expect(findSchemaError({ $ref: 'https://example.com/schema' })).to.contain('example.com');
  });
});

/** Collects unreachable values. A WeakRef keeps its value until the current tick of the event loop ends. */
async function collectGarbage(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
