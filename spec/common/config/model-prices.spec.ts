import { expect } from 'chai';
import { priceOf, readModelConfig } from '../../../lib/common/config/model-config.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

describe('The prices of models (D50)', () => {
  const PRICES = '{"openai/gpt-4o": {"input": 2.5, "output": 10}, "ollama/*": {"input": 0, "output": 0}}';

  it('are read from JSON, by model, or for all other models of a provider', () => {
    const { prices = new Map() } = readModelConfig({ SERVICE_MODEL_PRICES: PRICES });
    expect(priceOf(prices, 'openai/gpt-4o')).to.deep.equal({ input: 2.5, output: 10 });
    expect(priceOf(prices, 'ollama/llama3.2')).to.deep.equal({ input: 0, output: 0 });
    expect(priceOf(prices, 'openai/gpt-4o-mini')).to.equal(undefined);
  });

  it('are read from a file', () => {
    const folder = new TemporaryFolder();
    try {
      folder.write('prices.json', PRICES);
      const { prices } = readModelConfig({ SERVICE_MODEL_PRICES: `${folder.path}/prices.json` });
      expect(prices).to.have.property('size', 2);
    } finally {
      folder.remove();
    }
  });

  it('are unknown when nobody has said them', () => {
    expect(readModelConfig({}).prices).to.equal(undefined);
    expect(readModelConfig({ SERVICE_MODEL_PRICES: ' ' }).prices).to.equal(undefined);
  });

  const invalid = [
    ['no-such-file.json', 'must be JSON, as in {"openai/gpt-4o-mini"'],
    ['{"openai/gpt-4o": ', 'must be JSON, as in'],
    [
      '{"gpt-4o": {"input": 1, "output": 1}}',
      'names the model "gpt-4o": write provider/model, or provider/*',
    ],
    ['{"openai/gpt-4o": 3}', 'must give "openai/gpt-4o" the numbers "input" and "output" alone'],
    ['{"openai/gpt-4o": {"input": 1}}', 'must give "openai/gpt-4o" the numbers'],
    ['{"openai/gpt-4o": {"input": -1, "output": 1}}', 'must give "openai/gpt-4o" the numbers'],
    ['{"openai/gpt-4o": {"input": 1, "output": 1, "cached": 1}}', 'must give "openai/gpt-4o"'],
  ] as const;
  for (const [value, message] of invalid) {
    it(`are refused when they are ${value}, with an example`, () => {
      expect(() => readModelConfig({ SERVICE_MODEL_PRICES: value }))
        .to.throw(`SERVICE_MODEL_PRICES ${message}`)
        .with.property('code', 'bad_usage');
    });
  }
});
