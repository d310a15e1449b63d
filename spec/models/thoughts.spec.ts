import { expect } from 'chai';
import { withoutThoughts } from '../../lib/models/thoughts.js';
import { itTimed, measureCpuMsSync } from '../support/measuring/cpu-time.js';

describe('what a model thinks aloud before its answer (D50)', () => {
  for (const name of ['think', 'thinking', 'reasoning', 'THINK']) {
    it(`is left out in <${name}>, also when the tag that opens it is missing`, () => {
      expect(withoutThoughts(`\n<${name}>perhaps {"a":1}, no</${name}>\n{"a":2}`)).to.equal('\n{"a":2}');
      expect(withoutThoughts(`perhaps {"a":1}, no</${name}>{"a":2}`)).to.equal('{"a":2}');
    });
  }

  it('is not looked for in an answer that begins as JSON or as a code fence', () => {
    for (const answer of ['{"a": "</think>"}', ' [1, "</thinking>"]', '```\n</reasoning>\n```'])
      expect(withoutThoughts(answer)).to.equal(answer);
  });

  it('is left out as far as the tag that closes it, whatever other tags are in it', () => {
    expect(withoutThoughts('<thinking>a </think> b</thinking>c')).to.equal('c');
  });

  it('stays when it does not end', () => {
    expect(withoutThoughts('<think>and so on')).to.equal('<think>and so on');
  });

  itTimed('is found in a time in proportion to the length of the answer', () => {
    const text = '<think>'.repeat(300_000);
    expect(measureCpuMsSync(() => withoutThoughts(text))).to.be.below(2000);
  });
});
