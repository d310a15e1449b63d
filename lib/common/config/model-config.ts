import { readFileSync } from 'node:fs';
import { errorMessage, invalidVariable, type WavetrainError } from '../errors.js';
import { isObject } from '../json/json.js';
import type { Outbound } from '../requests/outbound.js';
import { type EnvironmentVariable, secretVariable, variable } from './environment.js';
import { readOutbound } from './outbound-config.js';

type Variables = Readonly<Record<string, string | undefined>>;

const MODEL_USES = {
  select: 'choosing pages',
  extract: 'extracting fields, values and tables',
  ocr: 'reading images',
  compile: 'writing pipelines',
};

/** The variables that configure language models, for `doctor`. */
export const MODEL_VARIABLES: readonly EnvironmentVariable[] = [
  variable(
    'WAVETRAIN_MODEL',
    'language model of tasks that name none, such as openai/gpt-4o-mini or ollama/llama3.2',
  ),
  ...Object.entries(MODEL_USES).map(([purpose, use]) =>
    variable(
      `WAVETRAIN_${purpose.toUpperCase()}_MODEL`,
      `language model for ${use}; default WAVETRAIN_MODEL`,
    ),
  ),
  secretVariable('OPENAI_API_KEY', 'key of the models openai/…'),
  variable('OPENAI_BASE_URL', 'address for openai/…; default https://api.openai.com/v1'),
  secretVariable('ANTHROPIC_API_KEY', 'key of the models anthropic/…'),
  variable('ANTHROPIC_BASE_URL', 'address for anthropic/…; default https://api.anthropic.com'),
  variable('OLLAMA_HOST', 'address for ollama/…; default http://127.0.0.1:11434'),
  secretVariable('OLLAMA_API_KEY', 'key of that server, if it needs one'),
  variable(
    'OLLAMA_CONTEXT_LENGTH',
    'length of the context of ollama/… in tokens; default: that of the server, which cuts longer prompts',
  ),
  variable(
    'COMPATIBLE_BASE_URL',
    'address for compatible/…: another server with the chat completions of OpenAI',
  ),
  secretVariable('COMPATIBLE_API_KEY', 'key of that server, if it needs one'),
  variable(
    'SERVICE_MODELS',
    'language models that tasks and requests may name, separated by commas, such as openai/gpt-4o-mini,ollama/*; default: all, on a server those of configured providers',
  ),
  variable(
    'SERVICE_MODEL_PRICES',
    'what models cost, in US dollars per million tokens: a file, or JSON such as {"openai/gpt-4o-mini": {"input": 0.15, "output": 0.6}}',
  ),
  variable(
    'WAVETRAIN_ANSWERS',
    'file with the answers of mock/recorded; default answers.jsonl beside the pipeline',
  ),
  variable('WAVETRAIN_RECORD_ANSWERS', 'file to which the answers of models are added, for mock/recorded'),
];

/** The prices of the tokens of a model, in US dollars per million. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
}

/** Prices by `provider/model`; `provider/*` is that of all other models of the provider. */
export type ModelPrices = ReadonlyMap<string, ModelPrice>;

/** As names of models begin: `openai/gpt-4o-mini`. */
export const PROVIDER_NAMES = ['openai', 'anthropic', 'ollama', 'compatible', 'mock'] as const;

export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** The providers of language models, and the models that are used when nobody names one (D50). */
export interface ModelConfig {
  readonly openai: ProviderAccess & {
    /** Also true for another address than OpenAI's: its servers often need no key. */
    readonly isConfigured: boolean;
  };
  readonly anthropic: ProviderAccess;
  readonly ollama: ProviderAccess & {
    /** True when somebody has said where Ollama is; otherwise it may be on this machine. */
    readonly isConfigured: boolean;
    /** Length of the context in tokens; undefined leaves it to the server, which often takes 4,096. */
    readonly contextLength: number | undefined;
  };
  /** Another server that speaks the chat completions of OpenAI, as `compatible/model`. */
  readonly compatible: Partial<ProviderAccess>;
  /** With the answers of `mock/recorded`. */
  readonly answersFile: string | undefined;
  /** The file to which the answers of models are written, for `mock/recorded`. */
  readonly recordFile: string | undefined;
  /** The models that tasks and requests may name, `openai/*` for all of a provider; undefined allows all. */
  readonly allowed: readonly string[] | undefined;
  readonly prices: ModelPrices | undefined;
  /** The proxies of requests to providers, and the certificates that are trusted; absent when nothing is configured. */
  readonly outbound?: Outbound;
  /** The model for each purpose; `default` for all others. */
  readonly models: Readonly<Record<'default' | 'select' | 'extract' | 'ocr' | 'compile', string | undefined>>;
}

interface ProviderAccess {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
}

/**
 * Reads the providers and models from environment variables. The names that the Trellis service has for models are read
 * too, after our own.
 *
 * @throws WavetrainError `bad_usage` with the variable and an example
 */
export function readModelConfig(env: Variables): ModelConfig {
  const read = (...names: string[]): string | undefined =>
    names.map((name) => env[name]?.trim() || undefined).find((value) => value !== undefined);
  const readUrl = (name: string, example: string): string | undefined => {
    const url = read(name)?.replace(/\/+$/, '');
    if (url === undefined) return undefined;
    if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url))
      throw invalidVariable(name, `must be an address, as in ${name}=${example}`);
    assertNoPassword(name, url);
    return url;
  };
  const openaiUrl = readUrl('OPENAI_BASE_URL', 'https://api.openai.com/v1');
  const openaiKey = read('OPENAI_API_KEY');
  const anthropicUrl =
    readUrl('ANTHROPIC_BASE_URL', 'https://api.anthropic.com') ?? 'https://api.anthropic.com';
  const outbound = readOutbound(env);
  return {
    ...(outbound && { outbound }),
    openai: {
      apiKey: openaiKey,
      baseUrl: openaiUrl ?? 'https://api.openai.com/v1',
      isConfigured: openaiKey !== undefined || openaiUrl !== undefined,
    },
    anthropic: {
      apiKey: read('ANTHROPIC_API_KEY'),
      baseUrl: anthropicUrl.endsWith('/v1') ? anthropicUrl : `${anthropicUrl}/v1`,
    },
    ollama: {
      apiKey: read('OLLAMA_API_KEY'),
      baseUrl: readOllamaHost(read('OLLAMA_HOST')),
      isConfigured: read('OLLAMA_HOST') !== undefined,
      contextLength: readContextLength(read, 'OLLAMA_CONTEXT_LENGTH', 'OLLAMA_NUM_CTX'),
    },
    compatible: {
      apiKey: read('COMPATIBLE_API_KEY'),
      ...optional('baseUrl', readUrl('COMPATIBLE_BASE_URL', 'http://127.0.0.1:8080/v1')),
    },
    answersFile: read('WAVETRAIN_ANSWERS'),
    recordFile: read('WAVETRAIN_RECORD_ANSWERS'),
    allowed: readAllowed(read('SERVICE_MODELS')),
    prices: readModelPrices(read('SERVICE_MODEL_PRICES')),
    models: {
      default: read('WAVETRAIN_MODEL', 'TRELLIS_LLM_MODEL'),
      select: read('WAVETRAIN_SELECT_MODEL', 'SELECT_MODEL', 'EXTRACT_TEXT_MODEL'),
      extract: read('WAVETRAIN_EXTRACT_MODEL', 'EXTRACT_FIELDS_MODEL', 'EXTRACT_MODEL', 'EXTRACT_TEXT_MODEL'),
      ocr: read('WAVETRAIN_OCR_MODEL', 'INGEST_OCR_MODEL', 'EXTRACT_TEXT_MODEL'),
      compile: read('WAVETRAIN_COMPILE_MODEL', 'TRELLIS_COMPILER_MODEL'),
    },
  };
}

function optional<K extends string>(key: K, value: string | undefined): Partial<Record<K, string>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, string>);
}

/**
 * Accepts what Ollama accepts: an address, whose port is that of its scheme, `host:port`, `host`, whose port is 11434,
 * `:port`, and `0.0.0.0` or `[::]` for this machine.
 */
function readOllamaHost(host = '127.0.0.1:11434'): string {
  const hasScheme = /^https?:\/\//.test(host);
  const address = hasScheme ? host : `http://${host.startsWith(':') ? `127.0.0.1${host}` : host}`;
  if (!URL.canParse(address))
    throw invalidVariable('OLLAMA_HOST', 'must be an address, as in OLLAMA_HOST=127.0.0.1:11434');
  assertNoPassword('OLLAMA_HOST', address);
  const url = new URL(address);
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  if (url.hostname === '[::]') url.hostname = '[::1]';
  if (url.port === '' && !hasScheme && !/:80(?:\/|$)/.test(host)) url.port = '11434';
  return url.href.replace(/\/+$/, '');
}

/** Addresses stand in messages. */
function assertNoPassword(name: string, address: string): void {
  const { username, password } = new URL(address);
  if (username === '' && password === '') return;
  const keyName = name.replace(/_(BASE_URL|HOST)$/, '_API_KEY');
  throw invalidVariable(name, `must not contain a user or a password: a key belongs into ${keyName}`);
}

/** A name without its provider would allow nothing, unnoticed. */
function readAllowed(list: string | undefined): string[] | undefined {
  const names = list?.split(',').flatMap((name) => name.trim() || []);
  const wrong = names?.find((name) => !PROVIDER_NAMES.some((known) => isModelOf(known, name)));
  if (wrong === undefined) return names;
  throw invalidVariable(
    'SERVICE_MODELS',
    `must be names of models, as in SERVICE_MODELS=openai/gpt-4o-mini,ollama/*: "${wrong}" is none; ` +
      `the providers are ${PROVIDER_NAMES.join(', ')}`,
  );
}

function isModelOf(provider: ProviderName, name: string): boolean {
  return name.startsWith(`${provider}/`) && name.length > provider.length + 1;
}

/** @param names the variables, of which the first one that is set counts */
function readContextLength(
  read: (name: string) => string | undefined,
  ...names: readonly string[]
): number | undefined {
  const name = names.find((variable) => read(variable) !== undefined);
  const text = name === undefined ? undefined : read(name);
  if (name === undefined || text === undefined) return undefined;
  if (/^[1-9]\d{0,7}$/.test(text)) return Number(text);
  throw invalidVariable(name, `must be a number of tokens, as in ${name}=16384`);
}

const PRICES_EXAMPLE = '{"openai/gpt-4o-mini": {"input": 0.15, "output": 0.6}}';
const MODEL_NAME = /^[a-z]+\/\S+$/;

/** Reads SERVICE_MODEL_PRICES: JSON, or the name of a file with JSON. @throws WavetrainError `bad_usage` with an example */
function readModelPrices(value: string | undefined): ModelPrices | undefined {
  if (value === undefined) return undefined;
  const prices = parsePrices(value.startsWith('{') ? value : readPricesFile(value));
  if (!isObject(prices)) throw invalidPrices(`must be an object, as in ${PRICES_EXAMPLE}`);
  return new Map(Object.entries(prices).map(([name, price]) => [name, toPrice(name, price)]));
}

/** The price of a model, by its name or that of its provider; undefined when none is configured. */
export function priceOf(prices: ModelPrices, model: string): ModelPrice | undefined {
  return prices.get(model) ?? prices.get(`${model.slice(0, model.indexOf('/'))}/*`);
}

function readPricesFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw invalidPrices(
      `must be JSON, as in ${PRICES_EXAMPLE}, or a file with it: ${errorMessage(cause)}`,
      cause,
    );
  }
}

function parsePrices(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidPrices(`must be JSON, as in ${PRICES_EXAMPLE}: ${errorMessage(cause)}`, cause);
  }
}

function toPrice(name: string, price: unknown): ModelPrice {
  if (!MODEL_NAME.test(name)) {
    throw invalidPrices(
      `names the model ${JSON.stringify(name)}: write provider/model, or provider/*, as in ${PRICES_EXAMPLE}`,
    );
  }
  const { input, output, ...others } = isObject(price) ? price : {};
  if (isAmount(input) && isAmount(output) && Object.keys(others).length === 0) return { input, output };
  throw invalidPrices(
    `must give ${JSON.stringify(name)} the numbers "input" and "output" alone, in US dollars per million tokens, as in ${PRICES_EXAMPLE}`,
  );
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function invalidPrices(problem: string, cause?: unknown): WavetrainError {
  return invalidVariable('SERVICE_MODEL_PRICES', problem, cause);
}
