import { expect } from 'chai';
import { parseTool } from '../../../lib/tools/loading/parse-tool.js';

const run = (): null => null;

describe('parseTool (D48)', () => {
  const wrongs: [value: unknown, expected: string][] = [
    [5, 'it is a number, not a tool'],
    [[], 'it is a list, not a tool'],
    [{}, 'it is not a tool: it has no name'],
    [{ name: 'x', inputs: {} }, 'it ("x") is not a tool: it has no function "run"'],
    [{ name: 'x', run }, 'its "inputs" must be an object'],
    [{ name: 'x', inputs: { a: 'string' }, run }, 'its "inputs" must be an object'],
    [{ name: 'Bad Name', inputs: {}, run }, '"Bad Name" is not a tool name'],
    [{ name: 'x', inputs: {}, output: 'text', run }, 'its "output" must have name, description and type'],
    [
      { name: 'x', inputs: { a: { requird: true } }, run },
      'its input "a" has an unknown field "requird"; did you mean "required"?',
    ],
    [
      { name: 'x', inputs: { a: { zzz: true } }, run },
      'its input "a" has an unknown field "zzz"; the fields are description, required',
    ],
    [
      { name: 'x', inputs: { a: { required: 'yes' } }, run },
      'its input "a" needs true or false as "required"',
    ],
    [{ name: 'x', inputs: { a: { verbatim: 1 } }, run }, 'its input "a" needs true or false as "verbatim"'],
    [{ name: 'x', inputs: { a: { description: 1 } }, run }, 'its input "a" needs a string as "description"'],
    [{ name: 'x', inputs: { a: { type: 'strng' } }, run }, 'its inputs are not a valid JSON Schema'],
    [{ name: 'x', inputs: { a: { items: 5 } }, run }, 'its inputs are not a valid JSON Schema'],
    [{ name: 'x', inputs: { a: { pattern: '(?=x)' } }, run }, 'its inputs are not a valid JSON Schema'],
  ];
  for (const [value, expected] of wrongs) {
    it(`rejects ${JSON.stringify(value)} with a reason`, () => {
      expect(() => parseTool(value, 'it')).to.throw(expected);
    });
  }

  it('accepts a plain object by its shape, and returns the same tool for it again', () => {
    const value = { name: 'x', inputs: { a: { type: 'array', items: { type: 'string' } } }, run };
    const tool = parseTool(value, 'it');
    expect(tool).to.deep.include({ name: 'x', description: '', openInputs: false });
    expect(parseTool(value, 'it')).to.equal(tool);
  });
});
