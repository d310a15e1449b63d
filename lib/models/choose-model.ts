import { WavetrainError } from '../common/errors.js';
import { type ModelConfig, PROVIDER_NAMES, type ProviderName } from '../common/config/model-config.js';
import type { ModelPurpose } from './model.js';

/** The model of each provider that is used when only its key is configured. */
const STANDARD_MODELS = { openai: 'openai/gpt-4o-mini', anthropic: 'anthropic/claude-haiku-4-5' } as const;

export interface ModelName {
  readonly provider: ProviderName;
  readonly model: string;
}

/** Splits `provider/model` at its first slash. @throws WavetrainError for a name without a known provider */
function parseModelName(name: string): ModelName {
  const slash = name.indexOf('/');
  const provider = PROVIDER_NAMES.find((known) => known === name.slice(0, Math.max(0, slash)));
  const model = name.slice(slash + 1);
  if (provider !== undefined && model !== '') return { provider, model };
  throw misconfigured(
    `"${name}" is not a model: write provider/model, such as openai/gpt-4o-mini; the providers are ${PROVIDER_NAMES.join(', ')}`,
  );
}

/**
 * Chooses the model of a request: the named one, the one that is configured for its purpose, or one of the first provider
 * that has a key.
 *
 * @throws WavetrainError `provider_misconfigured` when there is none, or it cannot be used
 */
export function chooseModel(config: ModelConfig, purpose: ModelPurpose, named?: string): ModelName {
  const chosen = parseModelName(
    named ??
      (purpose === 'job' ? undefined : config.models[purpose]) ??
      config.models.default ??
      firstModel(config, purpose),
  );
  if (named !== undefined) assertAllowed(chosen, config.allowed);
  if (chosen.provider === 'mock') assertMock(chosen.model, purpose);
  const missing = findMissing(config, chosen.provider);
  if (missing === undefined) return chosen;
  throw misconfigured(`the model "${chosen.provider}/${chosen.model}" needs ${missing}`);
}

/** Checks a model that a caller names. Configured models are always allowed. */
function assertAllowed({ provider, model }: ModelName, allowed: readonly string[] | undefined): void {
  const names = [`${provider}/${model}`, `${provider}/*`];
  if (allowed === undefined || names.some((name) => allowed.includes(name))) return;
  const others = allowed.length === 0 ? '' : `, or use ${allowed.slice(0, MAX_LISTED).join(', ')}`;
  throw misconfigured(
    `the model "${provider}/${model}" may not be named here: leave it out${others}; SERVICE_MODELS says what may be named`,
  );
}

const MAX_LISTED = 20;

function assertMock(model: string, purpose: ModelPurpose): void {
  if (model !== 'echo' && model !== 'recorded')
    throw misconfigured(`there is no mock model "${model}": use mock/echo or mock/recorded`);
  if (model !== 'echo' || purpose !== 'compile') return;
  throw misconfigured(
    `mock/echo gives back what it is asked, which is no pipeline: use a language model, or mock/recorded with a file of answers (WAVETRAIN_ANSWERS)`,
  );
}

function firstModel(config: ModelConfig, purpose: ModelPurpose): string {
  if (config.openai.isConfigured) return STANDARD_MODELS.openai;
  if (config.anthropic.apiKey !== undefined) return STANDARD_MODELS.anthropic;
  // Only `llm_job` has a use for its own prompt.
  const mock =
    purpose === 'job'
      ? 'mock/echo, which answers with the prompt'
      : 'mock/recorded, which gives the answers of a file (WAVETRAIN_ANSWERS)';
  throw misconfigured(
    'no language model is configured: set OPENAI_API_KEY or ANTHROPIC_API_KEY, or name a model with WAVETRAIN_MODEL, ' +
      `such as ollama/llama3.2, or compatible/NAME of a server that COMPATIBLE_BASE_URL names; ${mock}, needs neither a key nor a network`,
  );
}

/**
 * The configuration of a server, whose callers may name only models of providers that its operator has configured, unless
 * SERVICE_MODELS says which: what they name, the operator pays for.
 */
export function allowConfiguredModels(config: ModelConfig): ModelConfig {
  const isConfigured = (name: ProviderName): boolean =>
    name === 'ollama'
      ? config.ollama.isConfigured
      : name !== 'mock' && findMissing(config, name) === undefined;
  return {
    ...config,
    allowed: config.allowed ?? PROVIDER_NAMES.filter(isConfigured).map((name) => `${name}/*`),
  };
}

/** The providers that can be asked, in the order of their names in messages. */
export function configuredProviders(config: ModelConfig): ProviderName[] {
  return PROVIDER_NAMES.filter((name) => findMissing(config, name) === undefined);
}

/** Says what must be set before a provider can be asked; undefined when nothing is missing. */
function findMissing(config: ModelConfig, provider: ProviderName): string | undefined {
  if (provider === 'openai' && !config.openai.isConfigured) return 'the variable OPENAI_API_KEY';
  if (provider === 'anthropic' && config.anthropic.apiKey === undefined)
    return 'the variable ANTHROPIC_API_KEY';
  if (provider === 'compatible' && config.compatible.baseUrl === undefined)
    return 'the variable COMPATIBLE_BASE_URL, the address of a server that speaks the chat completions of OpenAI';
  return undefined;
}

function misconfigured(message: string): WavetrainError {
  return new WavetrainError('provider_misconfigured', message);
}
