import { expect } from 'chai';
import { errorMessage, ToolError } from '../../../lib/common/errors.js';
import { DOCUMENT_LIMITS } from '../../../lib/common/limits.js';
import { parseJson } from '../../../lib/tools/document-formats/json.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

function catchMessage(text: string): string {
  try {
    parseJson(text, 'a');
  } catch (error) {
    expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
    return errorMessage(error);
  }
  throw new Error('it is accepted');
}

/** A text in lists, which is indented to so many characters. */
function indentedTo(length: number): string {
  const value = { a: [[], {}, [1, { b: '"\n', c: null }], ''] as unknown[] };
  const missing = length - JSON.stringify(value, null, 2).length;
  value.a.push('x'.repeat(missing - ',\n    ""'.length));
  expect(JSON.stringify(value, null, 2)).to.have.length(length);
  return JSON.stringify(value);
}

describe('parseJson of documents', () => {
  it('gives the value, and a page with its text indented', () => {
    const { data, pages } = parseJson(' {"a": [1, {}]} ', 'a');
    expect(data).to.deep.equal({ a: [1, {}] });
    expect(pages?.map(({ text }) => text)).to.deep.equal(['{\n  "a": [\n    1,\n    {}\n  ]\n}']);
  });

  it('refuses text that is no JSON, and says why', () => {
    expect(catchMessage('{"a": }')).to.match(/^"a" is not JSON: ./);
    expect(catchMessage('  ')).to.equal('"a" is not JSON: it is empty');
  });

  itTimed('refuses deep nesting before it takes time: indentation grows with the square of the depth', () => {
    const deep = '['.repeat(120_000) + ']'.repeat(120_000);
    let message = '';
    expect(measureCpuMsSync(() => (message = catchMessage(deep)))).to.be.below(500);
    expect(message).to.equal(
      '"a" is nested deeper than 1000 levels: flatten it, or read it with "format": "text"',
    );
    expect(parseJson('['.repeat(1000) + ']'.repeat(1000), 'a').data).to.be.an('array');
  });

  itTimed(
    'refuses a text that is longer than a document may have when it is indented, before it is made',
    () => {
      const wide = `${'['.repeat(999)}[${'1,'.repeat(120_000)}1]${']'.repeat(999)}`;
      let message = '';
      expect(measureCpuMsSync(() => (message = catchMessage(wide)))).to.be.below(1000);
      expect(message).to.match(
        /^"a" has 231\.1 MiB of text when it is indented, more than the limit of 5 MiB: split it, or read it with "format": "text"$/,
      );
    },
  );

  it('accepts a text that is indented to the limit, and no longer one', () => {
    const { textLength } = DOCUMENT_LIMITS;
    expect(parseJson(indentedTo(textLength), 'a').pages?.[0]?.text).to.have.length(textLength);
    expect(catchMessage(indentedTo(textLength + 1))).to.contain('more than the limit of 5 MiB');
  });
});
