import { expect } from 'chai';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { describeErrors } from '../../../lib/common/json-schema/violation.js';

describe('describeErrors', () => {
  it('converts only the errors that it describes, and clears all of them', () => {
    let converted = 0;
    const errors = Array.from({ length: 1000 }, (_, index) => ({
      get instancePath() {
        converted++;
        return `/${index}`;
      },
      schemaPath: '#/items/type',
      keyword: 'type',
      params: { type: 'integer' },
    })) as ErrorObject[];
    const validate = { errors } as unknown as ValidateFunction;
    const values = errors.map(() => 'x');
    const sentences = describeErrors(validate, values, { one: 'field', all: 'the body' });
    expect(sentences[0]).to.equal('field "[0]" must be a whole number, not a string');
    expect(sentences).to.have.length(11);
    expect(sentences.at(-1)).to.equal('and 990 more');
    expect(converted).to.equal(10);
    expect(validate.errors).to.equal(null);
  });
});
