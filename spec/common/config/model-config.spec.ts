import { expect } from 'chai';
import { MODEL_VARIABLES, readModelConfig } from '../../../lib/common/config/model-config.js';

describe('the variables of language models (D50)', () => {
  it('reads the addresses that the providers have when nothing is set', () => {
    const { openai, anthropic, ollama, compatible } = readModelConfig({});
    expect(openai).to.deep.include({ baseUrl: 'https://api.openai.com/v1', isConfigured: false });
    expect(anthropic.baseUrl).to.equal('https://api.anthropic.com/v1');
    expect(ollama.baseUrl).to.equal('http://127.0.0.1:11434');
    expect(compatible.baseUrl).to.equal(undefined);
  });

  const hosts = [
    ['127.0.0.1:9', 'http://127.0.0.1:9'],
    [':9', 'http://127.0.0.1:9'],
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['0.0.0.0:9', 'http://127.0.0.1:9'],
    ['gpu', 'http://gpu:11434'],
    ['http://gpu:80', 'http://gpu'],
    ['http://gpu.example', 'http://gpu.example'],
    ['gpu:80', 'http://gpu'],
    ['[::]:9', 'http://[::1]:9'],
    ['[::]', 'http://[::1]:11434'],
    ['https://gpu.example/', 'https://gpu.example'],
    ['https://gpu.example/ollama/', 'https://gpu.example/ollama'],
  ] as const;
  for (const [text, url] of hosts) {
    it(`reads OLLAMA_HOST=${text} as ${url}`, () => {
      expect(readModelConfig({ OLLAMA_HOST: text }).ollama.baseUrl).to.equal(url);
    });
  }

  for (const url of ['https://proxy.example', 'https://proxy.example/', 'https://proxy.example/v1']) {
    it(`reads ANTHROPIC_BASE_URL=${url} with and without its version`, () => {
      const { anthropic } = readModelConfig({ ANTHROPIC_BASE_URL: url });
      expect(anthropic.baseUrl).to.equal('https://proxy.example/v1');
    });
  }

  it('takes an empty variable for one that is not set', () => {
    const { openai, models } = readModelConfig({ OPENAI_API_KEY: ' ', WAVETRAIN_MODEL: '' });
    expect(openai.isConfigured).to.equal(false);
    expect(models.default).to.equal(undefined);
  });

  const invalid = [
    ['OPENAI_BASE_URL', 'localhost:8080'],
    ['ANTHROPIC_BASE_URL', 'ftp://x'],
    ['COMPATIBLE_BASE_URL', 'http://'],
    ['OLLAMA_HOST', 'http://a b'],
    ['OLLAMA_CONTEXT_LENGTH', '4k'],
    ['OLLAMA_CONTEXT_LENGTH', '0'],
    ['OLLAMA_NUM_CTX', 'abc'],
    ['SERVICE_MODELS', 'gpt-4o,openai/*'],
    ['SERVICE_MODELS', 'openai/'],
    ['SERVICE_MODELS', 'opnai/gpt-4o'],
  ] as const;
  for (const [name, value] of invalid) {
    it(`refuses ${name}=${value} with an example`, () => {
      expect(() => readModelConfig({ [name]: value }))
        .to.throw(`${name} must be`)
        .with.property('code', 'bad_usage');
    });
  }

  for (const name of ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL', 'COMPATIBLE_BASE_URL', 'OLLAMA_HOST']) {
    it(`refuses a password in ${name}, and does not show it`, () => {
      expect(() => readModelConfig({ [name]: 'https://me:geheim@host.example/v1' }))
        .to.throw(`${name} must`)
        .with.property('message')
        .that.not.includes('geheim');
    });
  }

  const former = [
    ['TRELLIS_LLM_MODEL', 'default'],
    ['SELECT_MODEL', 'select'],
    ['EXTRACT_FIELDS_MODEL', 'extract'],
    ['EXTRACT_MODEL', 'extract'],
    ['INGEST_OCR_MODEL', 'ocr'],
    ['TRELLIS_COMPILER_MODEL', 'compile'],
  ] as const;
  for (const [name, purpose] of former) {
    it(`reads ${name}, a variable of Trellis, for ${purpose}, after our own`, () => {
      expect(readModelConfig({ [name]: 'mock/old' }).models[purpose]).to.equal('mock/old');
      const own = purpose === 'default' ? 'WAVETRAIN_MODEL' : `WAVETRAIN_${purpose.toUpperCase()}_MODEL`;
      expect(readModelConfig({ [name]: 'mock/old', [own]: 'mock/new' }).models[purpose]).to.equal('mock/new');
    });
  }

  it('reads EXTRACT_TEXT_MODEL, a variable of Trellis, for select, extract and ocr', () => {
    const { models } = readModelConfig({ EXTRACT_TEXT_MODEL: 'mock/old' });
    expect(models).to.include({ select: 'mock/old', extract: 'mock/old', ocr: 'mock/old' });
    expect(models.default).to.equal(undefined);
  });

  it('lists every variable with a description, and every key as secret', () => {
    for (const { name, description, secret } of MODEL_VARIABLES) {
      expect(description, name).not.to.equal('');
      expect(secret, name).to.equal(name.endsWith('_KEY'));
    }
  });
});
