import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { compileSchema, schemaError } from '../../../lib/common/json-schema/ajv.js';

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

  it('writes defaults only when asked to', () => {
    const schema = { type: 'object', properties: { a: { default: 1 } } };
    const [plain, filled] = [{}, {}];
    compileSchema(schema)(plain);
    compileSchema(schema, { useDefaults: true })(filled);
    expect([plain, filled]).to.deep.equal([{}, { a: 1 }]);
  });

  it('runs patterns in linear time, those of property names too', () => {
    const validate = compileSchema({
      type: 'object',
      patternProperties: { '^(k+)+$': { type: 'string', pattern: '^(a+)+$' } },
      additionalProperties: false,
    });
    const before = performance.now();
    expect(validate({ k: `${'a'.repeat(10_000)}b` })).to.equal(false);
    expect(validate({ [`${'k'.repeat(10_000)}x`]: 'a' })).to.equal(false);
    expect(validate({ kk: 'aaa' })).to.equal(true);
    expect(performance.now() - before).to.be.lessThan(1000);
  });

  it('keeps schemas apart that give themselves the same name', () => {
    const first = compileSchema({ $id: 'urn:example:x', type: 'string' });
    const second = compileSchema({ $id: 'urn:example:x', type: 'number', $defs: { d: { $anchor: 'a' } } });
    expect([first('a'), second('a'), first(1), second(1)]).to.deep.equal([true, false, false, true]);
    expect(() => compileSchema({ $ref: 'urn:example:x' })).to.throw('urn:example:x');
  });

  it('keeps nothing of a schema that nobody uses any more', async () => {
    const validator = new WeakRef(compileSchema({ pattern: 'once' }));
    for (let i = 0; i < 250; i++) compileSchema({ pattern: `${i}` });
    await collected();
    expect(validator.deref()).to.equal(undefined);
  });

  it('takes a format as a remark', () => {
    expect(compileSchema({ type: 'string', format: 'uri' })('not a uri')).to.equal(true);
  });

  it('matches patterns of our own with the built-in regular expressions, and those of others never', () => {
    const schema = { type: 'string', pattern: '^(?!b)' };

    expect(compileSchema(schema, { isOurs: true })('a')).to.equal(true);
    expect(() => compileSchema(schema)).to.throw();
  });

  it('throws on a keyword that does not exist', () => {
    expect(() => compileSchema({ minimun: 1 })).to.throw('minimun');
  });
});

describe('schemaError', () => {
  it('is undefined for a sound schema', () => {
    expect(schemaError({ type: 'array', items: { type: 'string', pattern: '^a' }, minItems: 1 })).to.equal(
      undefined,
    );
  });

  it('names what is wrong, also where compiling would not notice', () => {
    expect(schemaError({ properties: { a: 3 } })).to.contain('properties/a');
    expect(schemaError({ minLength: -1 })).to.contain('minLength');
    expect(schemaError({ type: 'strng' })).to.contain('type');
    expect(schemaError({ unknown: 1 })).to.contain('unknown');
    expect(schemaError({ pattern: '(?<!x)' })).to.contain('(?<!');
    expect(schemaError({ $ref: 'https://example.com/schema' })).to.contain('example.com');
  });
});

/** What nobody holds is gone afterwards; a WeakRef holds until the turn of the event loop is over. */
async function collected(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
