import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  type LanguageModelV3,
  type LanguageModelV3CallOptions,
  type LanguageModelV3Prompt,
  type LanguageModelV3StreamPart,
  type SharedV3ProviderOptions,
} from '@ai-sdk/provider';
import { createOllama } from 'ollama-ai-provider-v2';
import { errorMessage } from '../../common/errors.js';
import { isObject, type Json } from '../../common/json.js';
import {
  type AnswerPart,
  type FinishReason,
  ModelError,
  type ModelErrorKind,
  type ModelMessage,
  type ModelProvider,
  type ProviderRequest,
} from '../model.js';
import type { ModelConfig } from '../../common/model-config.js';
import { createModelFetch } from './model-fetch.js';

/** The providers of the AI SDK, by the name that models have for them. */
export type SdkProviderName = 'openai' | 'anthropic' | 'ollama' | 'compatible';

interface Sdk {
  readonly create: (model: string) => LanguageModelV3;
  readonly options?: (request: ProviderRequest) => SharedV3ProviderOptions;
}

/** Creates a provider that streams its answers through the AI SDK, which knows the wire formats. */
export function createSdkProvider(name: SdkProviderName, config: ModelConfig): ModelProvider {
  const sdk = createSdk(name, config);
  return {
    name,
    async *stream(request, signal) {
      try {
        yield* streamAnswer(sdk, request, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        throw toModelError(error);
      }
    },
  };
}

function createSdk(name: SdkProviderName, config: ModelConfig): Sdk {
  const fetch = createModelFetch();
  if (name === 'anthropic') {
    const { apiKey = '', baseUrl } = config.anthropic;
    const anthropic = createAnthropic({ apiKey, baseURL: baseUrl, fetch });
    return { create: (model) => anthropic(model) };
  }
  if (name === 'ollama') {
    const { baseUrl, apiKey, contextLength } = config.ollama;
    const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    const ollama = createOllama({ baseURL: `${baseUrl}/api`, headers, fetch });
    // The provider passes nothing else on to the options of Ollama's protocol.
    const options = ({ max_tokens: num_predict, temperature }: ProviderRequest): SharedV3ProviderOptions => ({
      ollama: { options: withoutUndefined({ num_ctx: contextLength, num_predict, temperature }) },
    });
    return { create: (model) => ollama(model), options };
  }
  if (name === 'compatible') {
    const { baseUrl = '', apiKey } = config.compatible;
    const compatible = createOpenAICompatible({
      name: 'compatible',
      baseURL: baseUrl,
      ...(apiKey !== undefined && { apiKey }),
      includeUsage: true,
      supportsStructuredOutputs: true,
      fetch,
    });
    return {
      create: (model) => compatible(model),
      options: () => ({ compatible: { strictJsonSchema: false } }),
    };
  }
  const { apiKey = 'none', baseUrl } = config.openai;
  const openai = createOpenAI({ apiKey, baseURL: baseUrl, fetch });
  // Other servers than OpenAI's lack its newer protocol of responses.
  return { create: (model) => openai.chat(model), options: () => ({ openai: { strictJsonSchema: false } }) };
}

function withoutUndefined(values: Readonly<Record<string, number | undefined>>): Record<string, number> {
  const defined = Object.entries(values).filter((entry): entry is [string, number] => entry[1] !== undefined);
  return Object.fromEntries(defined);
}

async function* streamAnswer(
  sdk: Sdk,
  request: ProviderRequest,
  signal: AbortSignal,
): AsyncGenerator<AnswerPart> {
  const { stream } = await sdk.create(request.model).doStream(toCallOptions(sdk, request, signal));
  for await (const part of stream) yield* toAnswerPart(part);
}

function toCallOptions(sdk: Sdk, request: ProviderRequest, signal: AbortSignal): LanguageModelV3CallOptions {
  const { max_tokens: maxOutputTokens, temperature, schema } = request;
  return {
    prompt: toPrompt(request),
    abortSignal: signal,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(schema !== undefined && { responseFormat: { type: 'json', schema, name: 'answer' } as const }),
    ...(sdk.options !== undefined && { providerOptions: sdk.options(request) }),
  };
}

function toPrompt({ system, messages }: ProviderRequest): LanguageModelV3Prompt {
  const prompt: LanguageModelV3Prompt = messages.map(toPromptMessage);
  return system === undefined || system === '' ? prompt : [{ role: 'system', content: system }, ...prompt];
}

function toPromptMessage({ role, content }: ModelMessage): LanguageModelV3Prompt[number] {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  if (role === 'assistant') {
    return {
      role,
      content: parts.flatMap((part) => (part.type === 'text' ? [{ type: 'text', text: part.text }] : [])),
    };
  }
  return {
    role,
    content: parts.map((part) =>
      part.type === 'text'
        ? { type: 'text', text: part.text }
        : { type: 'file', mediaType: part.media_type, data: Buffer.from(part.bytes).toString('base64') },
    ),
  };
}

const FINISH: Partial<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'filter',
};

function* toAnswerPart(part: LanguageModelV3StreamPart): Generator<AnswerPart> {
  if (part.type === 'text-delta') yield { type: 'text', text: part.delta };
  else if (part.type === 'error') throw part.error;
  else if (part.type === 'finish') {
    const { unified } = part.finishReason;
    // The AI SDK ends a stream that was cut in this way.
    if (unified === 'error') throw new ModelError('protocol', 'the answer was cut or could not be read');
    yield {
      type: 'end',
      finish: FINISH[unified] ?? 'other',
      usage: {
        input_tokens: part.usage.inputTokens.total ?? 0,
        output_tokens: part.usage.outputTokens.total ?? 0,
      },
    };
  } else yield { type: 'progress' };
}

function toModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  if (APICallError.isInstance(error)) return fromApiError(error);
  const message = errorMessage(error);
  return isUnreadable(error)
    ? new ModelError('protocol', `the answer could not be read: ${message}`, { cause: error })
    : new ModelError('network', `the request failed: ${message}`, { cause: error });
}

function isUnreadable(error: unknown): boolean {
  return (
    error instanceof Error && /JSON|TypeValidation|InvalidResponse|NoContent|EmptyResponse/.test(error.name)
  );
}

function fromApiError(error: APICallError): ModelError {
  const { statusCode: status, responseBody = '', responseHeaders = {} } = error;
  if (status === undefined)
    return new ModelError('network', `the request failed: ${errorMessage(error)}`, { cause: error });
  if (status < 400)
    return new ModelError('protocol', `the answer could not be read: ${errorMessage(error)}`, {
      cause: error,
      status,
    });
  const said = readErrorText(responseBody) ?? error.message;
  return new ModelError(kindOf(status), `${explain(status)}: ${said.slice(0, 500)}`, {
    status,
    retryAfterMs: readRetryAfter(responseHeaders),
    cause: error,
  });
}

function kindOf(status: number): ModelErrorKind {
  if (status === 401 || status === 403) return 'misconfigured';
  if (status === 429) return 'rate_limit';
  if (status === 408) return 'timeout';
  if (status === 503 || status === 529) return 'overloaded';
  return status >= 500 ? 'server' : 'bad_request';
}

function explain(status: number): string {
  if (status === 401 || status === 403) return `the provider refused the key (${status})`;
  if (status === 404) return 'the provider does not know this model or address (404)';
  if (status === 429) return 'the provider limits the rate of requests (429)';
  return `the provider answered with status ${status}`;
}

/** The text of an error in the formats of the providers: `{error: {message}}`, `{error: "text"}`, `{message}`. */
function readErrorText(body: string): string | undefined {
  let parsed: Json;
  try {
    parsed = JSON.parse(body) as Json;
  } catch {
    return body.trim() === '' ? undefined : body.trim();
  }
  if (!isObject(parsed)) return undefined;
  const error = parsed['error'] ?? parsed['message'];
  const message = error !== undefined && isObject(error) ? error['message'] : error;
  return typeof message === 'string' ? message : undefined;
}

/** Reads `retry-after-ms`, or `retry-after` in seconds or as a date. In milliseconds. */
function readRetryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (ms >= 0) return ms;
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return seconds >= 0 ? seconds * 1000 : undefined;
}
