import { expect } from 'chai';
import { asTool } from '../../../lib/tools/loading/foreign-tool.js';

const run = (): null => null;

describe('asTool (D48)', () => {
  const wrongs: [value: unknown, expected: string][] = [
    [5, 'it is a number, and no tool'],
    [[], 'it is a list, and no tool'],
    [{}, 'it is no tool: it has no name'],
    [{ name: 'x', inputs: {} }, 'it ("x") is no tool: it has no function "run"'],
    [{ name: 'x', run }, 'its "inputs" must be an object'],
    [{ name: 'x', inputs: { a: 'string' }, run }, 'its "inputs" must be an object'],
    [{ name: 'Bad Name', inputs: {}, run }, '"Bad Name" is no tool name'],
    [{ name: 'x', inputs: {}, output: 'text', run }, 'its "output" must have name, description and type'],
    [
      { name: 'x', inputs: { a: { requird: true } }, run },
      'its input "a" says "requird", and means "required"?',
    ],
    [
      { name: 'x', inputs: { a: { zzz: true } }, run },
      'its input "a" says "zzz", but only description, required',
    ],
    [
      { name: 'x', inputs: { a: { required: 'yes' } }, run },
      'its input "a" must say required: true or false',
    ],
    [{ name: 'x', inputs: { a: { verbatim: 1 } }, run }, 'its input "a" must say verbatim: true or false'],
    [{ name: 'x', inputs: { a: { description: 1 } }, run }, 'its input "a" must have a text as description'],
    [{ name: 'x', inputs: { a: { type: 'strng' } }, run }, 'its inputs make no JSON Schema'],
    [{ name: 'x', inputs: { a: { items: 5 } }, run }, 'its inputs make no JSON Schema'],
    [{ name: 'x', inputs: { a: { pattern: '(?=x)' } }, run }, 'its inputs make no JSON Schema'],
  ];
  for (const [value, expected] of wrongs) {
    it(`refuses ${JSON.stringify(value)}, and says why`, () => {
      expect(() => asTool(value, 'it')).to.throw(expected);
    });
  }

  it('takes a tool from anywhere by its shape, and knows it again', () => {
    const value = { name: 'x', inputs: { a: { type: 'array', items: { type: 'string' } } }, run };
    const tool = asTool(value, 'it');
    expect(tool).to.deep.include({ name: 'x', description: '', openInputs: false });
    expect(asTool(value, 'it')).to.equal(tool);
  });
});
