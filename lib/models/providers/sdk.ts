import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  type LanguageModelV3,
  type LanguageModelV3CallOptions,
  type LanguageModelV3Prompt,
  type LanguageModelV3StreamPart,
  type SharedV3ProviderOptions,
} from '@ai-sdk/provider';
import { createOllama } from 'ollama-ai-provider-v2';
import type { JsonObject } from '../../common/json.js';
import {
  type AnswerPart,
  type FinishReason,
  ModelError,
  type ModelMessage,
  type ModelProvider,
  type ProviderRequest,
} from '../model.js';
import type { ModelConfig } from '../../common/model-config.js';
import { toModelError } from './provider-errors.js';
import { createKeyScrubber } from './key-scrubber.js';
import { createModelFetch } from './model-fetch.js';
import { checkOllamaLines } from './ollama-lines.js';

/** The providers of the AI SDK, by the name that models have for them. */
export type SdkProviderName = 'openai' | 'anthropic' | 'ollama' | 'compatible';

type PartReader = ReadableStreamDefaultReader<LanguageModelV3StreamPart>;

interface Sdk {
  readonly create: (model: string) => LanguageModelV3;
  readonly mayEndWithoutReason?: boolean;
  readonly options?: (request: ProviderRequest) => SharedV3ProviderOptions;
}

/** Creates a provider that streams its answers through the AI SDK, which knows the wire formats. */
export function createSdkProvider(name: SdkProviderName, config: ModelConfig): ModelProvider {
  const sdk = createSdk(name, config);
  const scrub = createKeyScrubber(config);
  const open = async (request: ProviderRequest, signal: AbortSignal): Promise<PartReader> => {
    try {
      const { stream } = await sdk.create(request.model).doStream(toCallOptions(sdk, request, signal));
      return stream.getReader();
    } catch (error) {
      throw signal.aborted ? error : toModelError(error, scrub);
    }
  };
  const openWithSchema = async (request: ProviderRequest, signal: AbortSignal): Promise<PartReader> => {
    try {
      return await open(request, signal);
    } catch (error) {
      if (request.schema === undefined || !ModelError.is(error) || !mayRefuseSchema(error)) throw error;
      return await open(withSchemaInWords(request, request.schema), signal);
    }
  };
  return {
    name,
    // One generator: each that hands on what another yields takes time for every part.
    async *stream(request, signal) {
      const reader = await openWithSchema(request, signal);
      try {
        for (let next = await reader.read(); !next.done; next = await reader.read()) {
          yield toAnswerPart(sdk, next.value);
        }
      } catch (error) {
        throw signal.aborted ? error : toModelError(error, scrub);
      } finally {
        // Ends the request, when nobody wants the rest of the answer.
        reader.cancel().catch(() => undefined);
      }
    },
  };
}

/** A server that knows no schemas, or not this one, says so before it answers. */
function mayRefuseSchema({ status }: ModelError): boolean {
  return status === 400 || status === 422;
}

function withSchemaInWords({ schema: _, ...request }: ProviderRequest, schema: JsonObject): ProviderRequest {
  const words = `Answer with one JSON value that fits this JSON Schema, and with nothing else:\n${JSON.stringify(schema)}`;
  return { ...request, system: request.system ? `${request.system}\n\n${words}` : words };
}

function createSdk(name: SdkProviderName, config: ModelConfig): Sdk {
  const fetch = createModelFetch(name === 'ollama' ? checkOllamaLines : undefined);
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
    return { create: (model) => ollama(model), mayEndWithoutReason: true, options };
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

const PROGRESS: AnswerPart = { type: 'progress' };

function toAnswerPart(sdk: Sdk, part: LanguageModelV3StreamPart): AnswerPart {
  if (part.type === 'text-delta') return { type: 'text', text: part.delta };
  if (part.type === 'error') throw part.error;
  if (part.type === 'finish') {
    const { unified, raw } = part.finishReason;
    // The AI SDK ends a stream that was cut in this way. Old servers of Ollama give no reason, and their lines are checked.
    if (unified === 'error' || (raw === undefined && !sdk.mayEndWithoutReason))
      throw new ModelError('protocol', 'the answer was cut or could not be read');
    return {
      type: 'end',
      finish: FINISH[unified] ?? 'other',
      usage: {
        input_tokens: part.usage.inputTokens.total ?? 0,
        output_tokens: part.usage.outputTokens.total ?? 0,
      },
    };
  }
  return PROGRESS;
}
