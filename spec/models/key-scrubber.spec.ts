import { expect } from 'chai';
import { readModelConfig } from '../../lib/common/config/model-config.js';
import { createKeyScrubber } from '../../lib/models/providers/key-scrubber.js';

describe('keys in the messages of providers (D50)', () => {
  const scrubWith = (variables: Record<string, string>, text: string): string =>
    createKeyScrubber(readModelConfig(variables))(text);

  it('are replaced, whole and in parts', () => {
    const key = 'sk-proj-Zx81QvMn45RtLbKp77WyHd92';
    expect(scrubWith({ OPENAI_API_KEY: key }, `${key} and ${key.slice(3, 15)}`)).to.equal('*** and ***');
  });

  it('are left alone when they are placeholders of fewer than 8 characters', () => {
    const variables = { OPENAI_API_KEY: 'ollama', COMPATIBLE_API_KEY: 'x', OLLAMA_API_KEY: 'none' };
    const text = 'no model "x" in ollama...: none exists';
    expect(scrubWith(variables, text)).to.equal(text);
  });
});
