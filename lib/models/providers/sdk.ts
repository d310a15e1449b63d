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
import { isObject, type JsonObject } from '../../common/json/json.js';
import { MODEL_LIMITS } from '../../common/limits.js';
import { incomingDataScheduler } from '../../common/scheduling/event-loop-scheduler.js';
import {
  type AnswerPart,
  type FinishReason,
  ModelError,
  type ModelMessage,
  type ModelProvider,
  type ProviderRequest,
  type TokenCounts,
} from '../model.js';
import type { ModelConfig } from '../../common/config/model-config.js';
import { type SdkProviderName, toModelError } from './provider-errors.js';
import { createKeyScrubber } from './key-scrubber.js';
import { createModelFetch } from './model-fetch.js';
import { passOnOllamaLines } from './ollama-lines.js';

type PartReader = ReadableStreamDefaultReader<LanguageModelV3StreamPart>;

interface Sdk {
  readonly create: (request: Pick<ProviderRequest, 'model' | 'tenant_id'>) => LanguageModelV3;
  readonly mayEndWithoutReason?: boolean;
  /** True when parts have waited for their slice of the event loop before they were parsed. */
  readonly waitsBefore?: boolean;
  /** Reads the tokens that the provider reports before the end, from an event of its stream. */
  readonly readUsage?: (event: unknown) => TokenCounts | undefined;
  readonly options?: (request: ProviderRequest) => SharedV3ProviderOptions;
}

/** Creates a provider that streams its answers through the AI SDK, which knows the wire formats. */
export function createSdkProvider(name: SdkProviderName, config: ModelConfig): ModelProvider {
  const sdk = createSdk(name, config);
  const scrub = createKeyScrubber(config);
  const open = async (request: ProviderRequest, signal: AbortSignal): Promise<PartReader> => {
    try {
      const { stream } = await sdk.create(request).doStream(toCallOptions(sdk, request, signal));
      return stream.getReader();
    } catch (error) {
      throw signal.aborted ? error : toModelError(error, name, scrub);
    }
  };
  const refusing = new RefusedSchemas();
  /** Asks with the schema in words when the provider takes none, and says so. */
  const openWithSchema = async (
    request: ProviderRequest,
    signal: AbortSignal,
  ): Promise<{ readonly reader: PartReader; readonly hasRefused: boolean }> => {
    const { schema } = request;
    if (schema === undefined) return { reader: await open(request, signal), hasRefused: false };
    const inWords = withSchemaInWords(request, schema);
    if (refusing.has(request)) return { reader: await open(inWords, signal), hasRefused: false };
    try {
      return { reader: await open(request, signal), hasRefused: false };
    } catch (error) {
      if (!ModelError.is(error) || !mayRefuseSchema(error)) throw error;
      return { reader: await open(inWords, signal), hasRefused: true };
    }
  };
  return {
    name,
    // One generator: each that hands on what another yields takes time for every part.
    async *stream(request, signal) {
      const { reader, hasRefused } = await openWithSchema(request, signal);
      try {
        for (let next = await reader.read(); !next.done; next = await reader.read()) {
          const part = toAnswerPart(sdk, next.value);
          // Nobody asks for more after the end.
          if (hasRefused && part.type === 'end') refusing.add(request);
          yield part;
          // A packet may hold hundreds of parts.
          if (incomingDataScheduler.isOver && !sdk.waitsBefore)
            await incomingDataScheduler.wait(request.tenant_id);
          if (part.type === 'usage' && next.value.type === 'finish') throw cutAnswer();
        }
      } catch (error) {
        throw signal.aborted ? error : toModelError(error, name, scrub);
      } finally {
        // Ends the request, when nobody wants the rest of the answer.
        reader.cancel().catch(() => undefined);
      }
    },
  };
}

/**
 * The models that have refused a schema and then answered without it: they are not asked with one again. By tenant, since
 * a model may have refused a schema that only this tenant would send.
 */
class RefusedSchemas {
  readonly #keys = new Set<string>();

  has(request: ProviderRequest): boolean {
    return this.#keys.has(keyOf(request));
  }

  add(request: ProviderRequest): void {
    const [oldest] = this.#keys;
    if (this.#keys.size >= MODEL_LIMITS.remembered && oldest !== undefined) this.#keys.delete(oldest);
    this.#keys.add(keyOf(request));
  }
}

function keyOf({ tenant_id, model }: ProviderRequest): string {
  return JSON.stringify([tenant_id, model]);
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
  const fetch = createModelFetch(name === 'ollama', config.outbound);
  if (name === 'anthropic') {
    const { apiKey = '', baseUrl } = config.anthropic;
    const anthropic = createAnthropic({ apiKey, baseURL: baseUrl, fetch });
    return { create: ({ model }) => anthropic(model), readUsage: readFirstUsage };
  }
  if (name === 'ollama') {
    const { baseUrl, apiKey, contextLength } = config.ollama;
    const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    const create = ({ model, tenant_id }: Pick<ProviderRequest, 'model' | 'tenant_id'>): LanguageModelV3 =>
      createOllama({ baseURL: `${baseUrl}/api`, headers, fetch: fetchLines(fetch, tenant_id) })(model);
    // The provider passes nothing else on to the options of Ollama's protocol.
    const options = ({ max_tokens: num_predict, temperature }: ProviderRequest): SharedV3ProviderOptions => ({
      ollama: { options: withoutUndefined({ num_ctx: contextLength, num_predict, temperature }) },
    });
    return { create, mayEndWithoutReason: true, waitsBefore: true, options };
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
      create: ({ model }) => compatible(model),
      options: () => ({ compatible: { strictJsonSchema: false } }),
    };
  }
  const { apiKey = 'none', baseUrl } = config.openai;
  const openai = createOpenAI({ apiKey, baseURL: baseUrl, fetch });
  // Other servers than OpenAI's lack its newer protocol of responses.
  return {
    create: ({ model }) => openai.chat(model),
    options: () => ({ openai: { strictJsonSchema: false } }),
  };
}

/** Checks answers that are no errors. */
function fetchLines(send: typeof globalThis.fetch, tenantId: string): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (!response.ok || response.body === null) return response;
    return new Response(passOnOllamaLines(response.body, tenantId), response);
  };
}

/** Anthropic begins with the tokens of the request, for which it charges whether or not the answer is read. */
function readFirstUsage(event: unknown): TokenCounts | undefined {
  const message = isObject(event) && event['type'] === 'message_start' ? event['message'] : undefined;
  const usage = isObject(message) ? message['usage'] : undefined;
  if (!isObject(usage)) return undefined;
  return { input_tokens: readCount(usage['input_tokens']), output_tokens: readCount(usage['output_tokens']) };
}

function readCount(count: unknown): number {
  return typeof count === 'number' && Number.isSafeInteger(count) && count > 0 ? count : 0;
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
    ...(sdk.readUsage !== undefined && { includeRawChunks: true }),
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
  if (role === 'assistant')
    return {
      role,
      content: parts.flatMap((part) => (part.type === 'text' ? [{ type: 'text', text: part.text }] : [])),
    };
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

/** Of an answer that was cut, its tokens: it is no answer, and has cost something. */
function toAnswerPart(sdk: Sdk, part: LanguageModelV3StreamPart): AnswerPart {
  if (part.type === 'text-delta') return { type: 'text', text: part.delta };
  if (part.type === 'error') throw part.error;
  if (part.type === 'finish') {
    const { unified, raw } = part.finishReason;
    const usage = {
      input_tokens: part.usage.inputTokens.total ?? 0,
      output_tokens: part.usage.outputTokens.total ?? 0,
    };
    // The AI SDK ends a stream that was cut in this way. Old servers of Ollama give no reason, and their lines are checked.
    if (unified === 'error' || (raw === undefined && !sdk.mayEndWithoutReason)) {
      if (usage.input_tokens + usage.output_tokens === 0) throw cutAnswer();
      return { type: 'usage', usage };
    }
    return { type: 'end', finish: FINISH[unified] ?? 'other', usage };
  }
  if (part.type !== 'raw') return PROGRESS;
  const usage = sdk.readUsage?.(part.rawValue);
  return usage === undefined ? PROGRESS : { type: 'usage', usage };
}

function cutAnswer(): ModelError {
  return new ModelError('protocol', 'the answer was cut or could not be read');
}
