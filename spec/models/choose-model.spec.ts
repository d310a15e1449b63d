import { expect } from 'chai';
import { WavetrainError } from '../../lib/common/errors.js';
import { readModelConfig } from '../../lib/common/config/model-config.js';
import { allowConfiguredModels, chooseModel } from '../../lib/models/choose-model.js';
import type { ModelPurpose } from '../../lib/models/model.js';

type Variables = Record<string, string>;

const KEYS: Variables = { OPENAI_API_KEY: 'k1', ANTHROPIC_API_KEY: 'k2' };

function choose(variables: Variables, named?: string, purpose: ModelPurpose = 'job'): string {
  const { provider, model } = chooseModel(readModelConfig(variables), purpose, named);
  return `${provider}/${model}`;
}

function refusal(variables: Variables, named?: string, purpose?: ModelPurpose): string {
  try {
    choose(variables, named, purpose);
  } catch (error) {
    expect(error).to.be.instanceOf(WavetrainError).with.property('code', 'provider_misconfigured');
    return (error as Error).message;
  }
  throw new Error('it was not refused');
}

describe('the choice of a language model (D50)', () => {
  const chosen: [string, Variables, string | undefined, ModelPurpose, string][] = [
    ['the model that a task names', KEYS, 'anthropic/claude-opus-4-6', 'job', 'anthropic/claude-opus-4-6'],
    ['a model with slashes and a tag', {}, 'ollama/hf.co/x/y:3b', 'job', 'ollama/hf.co/x/y:3b'],
    ['WAVETRAIN_MODEL', { ...KEYS, WAVETRAIN_MODEL: 'mock/echo' }, undefined, 'job', 'mock/echo'],
    [
      'the model of the purpose before WAVETRAIN_MODEL',
      { WAVETRAIN_MODEL: 'mock/echo', WAVETRAIN_OCR_MODEL: 'ollama/llava' },
      undefined,
      'ocr',
      'ollama/llava',
    ],
    [
      'WAVETRAIN_MODEL for other purposes',
      { WAVETRAIN_MODEL: 'mock/echo', WAVETRAIN_OCR_MODEL: 'ollama/llava' },
      undefined,
      'select',
      'mock/echo',
    ],
    [
      'the model that a task names before that of its purpose',
      { WAVETRAIN_OCR_MODEL: 'ollama/llava' },
      'mock/echo',
      'ocr',
      'mock/echo',
    ],
    ['a model of OpenAI when its key is there', KEYS, undefined, 'job', 'openai/gpt-4o-mini'],
    [
      'a model of Anthropic when only its key is there',
      { ANTHROPIC_API_KEY: 'k' },
      undefined,
      'extract',
      'anthropic/claude-haiku-4-5',
    ],
    [
      'a model of OpenAI without a key at another address',
      { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' },
      'openai/local',
      'job',
      'openai/local',
    ],
  ];
  for (const [title, variables, named, purpose, expected] of chosen) {
    it(`is ${title}`, () => {
      expect(choose(variables, named, purpose)).to.equal(expected);
    });
  }

  const refused: [string, Variables, string | undefined, string[]][] = [
    ['a name without a provider', KEYS, 'gpt-4o', ['"gpt-4o" is not a model', 'provider/model', 'anthropic']],
    ['a provider that is not known', KEYS, 'gemini/pro', ['"gemini/pro"', 'compatible']],
    ['a provider without a model', KEYS, 'openai/', ['"openai/"']],
    ['a name that begins with a slash', KEYS, '/gpt-4o', ['"/gpt-4o"']],
    ['an empty name', KEYS, '', ['"" is not a model']],
    ['openai without a key', {}, 'openai/gpt-4o', ['"openai/gpt-4o"', 'OPENAI_API_KEY']],
    ['anthropic without a key', {}, 'anthropic/x', ['ANTHROPIC_API_KEY']],
    ['compatible without an address', {}, 'compatible/x', ['COMPATIBLE_BASE_URL']],
    ['a configured model that lacks its key', { WAVETRAIN_MODEL: 'openai/x' }, undefined, ['OPENAI_API_KEY']],
    ['nothing at all', {}, undefined, ['OPENAI_API_KEY', 'WAVETRAIN_MODEL', 'mock/echo']],
  ];
  for (const [title, variables, named, words] of refused) {
    it(`refuses ${title}, and says what to do`, () => {
      const message = refusal(variables, named);
      for (const word of words) expect(message).to.include(word);
    });
  }

  it('refuses a mock model that there is not, and mock/echo where an answer is a pipeline', () => {
    expect(refusal({}, 'mock/other')).to.include('use mock/echo or mock/recorded');
    expect(refusal({ WAVETRAIN_MODEL: 'mock/echo' }, undefined, 'compile')).to.include('mock/recorded');
  });

  it('names the mock model that helps: answers with the prompt are of no use to tools that read JSON', () => {
    expect(refusal({}, undefined, 'job'))
      .to.include('mock/echo')
      .and.not.include('mock/recorded');
    for (const purpose of ['extract', 'compile', 'select', 'ocr'] as const)
      expect(refusal({}, undefined, purpose), purpose)
        .to.include('mock/recorded')
        .and.not.include('mock/echo');
  });

  it('lets tasks name only the models of SERVICE_MODELS, and always takes those that are configured', () => {
    const limited = { ...KEYS, SERVICE_MODELS: 'openai/gpt-4o-mini, ollama/*', WAVETRAIN_MODEL: 'mock/echo' };
    expect(choose(limited, 'openai/gpt-4o-mini')).to.equal('openai/gpt-4o-mini');
    expect(choose(limited, 'ollama/qwen3')).to.equal('ollama/qwen3');
    expect(choose(limited)).to.equal('mock/echo');
    expect(refusal(limited, 'openai/gpt-5-pro')).to.equal(
      'the model "openai/gpt-5-pro" may not be named here: leave it out, or use openai/gpt-4o-mini, ollama/*; SERVICE_MODELS says what may be named',
    );
  });

  it('lets callers of a server name only models of the providers that its operator has configured', () => {
    const allowedBy = (variables: Variables): readonly string[] | undefined =>
      allowConfiguredModels(readModelConfig(variables)).allowed;
    expect(allowedBy({})).to.deep.equal([]);
    expect(allowedBy({ ...KEYS, OLLAMA_HOST: 'gpu:11434' })).to.deep.equal([
      'openai/*',
      'anthropic/*',
      'ollama/*',
    ]);
    expect(allowedBy({ ...KEYS, SERVICE_MODELS: 'mock/echo' })).to.deep.equal(['mock/echo']);
  });
});
