import { nextTurn } from '../../common/scheduling/turns.js';
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../common/json/json.js';
import { MODEL_LIMITS } from '../../common/limits.js';
import {
  type AnswerPart,
  ModelError,
  type ModelMessage,
  type ModelProvider,
  type ProviderRequest,
  type TokenCounts,
} from '../model.js';

/** An answer that was recorded, or written by hand. */
export interface RecordedAnswer {
  /** Of the request, as {@link fingerprintOf} makes it. Without one the answer is for requests that contain its `prompt`. */
  readonly fingerprint?: string;
  readonly text: string;
  readonly finish?: 'stop' | 'length';
  readonly usage?: TokenCounts;
  /** The end of the last message, for those who read the file; of an answer without a fingerprint, what a message contains. */
  readonly prompt?: string;
}

/**
 * A provider without a network: `mock/echo` answers with the last message, and `mock/recorded` with the answers of a file,
 * in their order where several have the fingerprint of the request, to each tenant from the first one on.
 */
export function createMockProvider(readAnswers: () => Promise<readonly RecordedAnswer[]>): ModelProvider {
  let recorded: Promise<Recording> | undefined;
  return {
    name: 'mock',
    async *stream(request): AsyncGenerator<AnswerPart> {
      if (request.model === 'echo') {
        yield* answer(request, { text: echo(request) });
      } else if (request.model === 'recorded') {
        recorded ??= readAnswers().then(
          (answers) => new Recording(answers),
          (error: unknown) => {
            // The operator may fix the file.
            recorded = undefined;
            throw error;
          },
        );
        yield* answer(request, (await recorded).find(request));
      } else {
        throw new ModelError(
          'bad_request',
          `there is no mock model "${request.model}": use mock/echo or mock/recorded`,
        );
      }
    },
  };
}

const MAX_TEXT_BY_WORD = 4096;
const PART_LENGTH = 16 * 1024;

/**
 * The answers of a file, by fingerprint. Of several with the same one, each is given once to a tenant, and then the last
 * one.
 */
class Recording {
  /** Answers with one fingerprint that were given, by tenant: those that asked last. */
  readonly #given = new Map<string, Map<readonly RecordedAnswer[], number>>();
  readonly #answers = new Map<string, RecordedAnswer[]>();
  readonly #byPrompt = new Map<string, RecordedAnswer[]>();

  constructor(answers: readonly RecordedAnswer[]) {
    for (const one of answers) {
      const [map, key] =
        one.fingerprint === undefined ? [this.#byPrompt, one.prompt ?? ''] : [this.#answers, one.fingerprint];
      const same = map.get(key);
      if (same === undefined) map.set(key, [one]);
      else same.push(one);
    }
  }

  find(request: ProviderRequest): RecordedAnswer {
    const fingerprint = fingerprintOf(request);
    const same = this.#answers.get(fingerprint) ?? this.#findByPrompt(request);
    const found = same?.[same.length > 1 ? this.#nextPlace(same, request.tenant_id) : 0];
    if (found !== undefined) return found;
    throw new ModelError(
      'bad_request',
      `no answer was recorded for this request (fingerprint ${fingerprint}), which ends with ${JSON.stringify(lastWordsOf(request))}: ` +
        'record it with a real model and WAVETRAIN_RECORD_ANSWERS, or write it into the file',
    );
  }

  #nextPlace(same: readonly RecordedAnswer[], tenantId: string): number {
    const given = this.#given.get(tenantId) ?? new Map<readonly RecordedAnswer[], number>();
    this.#given.delete(tenantId);
    this.#given.set(tenantId, given);
    const [oldest] = this.#given.keys();
    if (this.#given.size > MODEL_LIMITS.remembered && oldest !== undefined) this.#given.delete(oldest);
    const place = given.get(same) ?? 0;
    given.set(same, Math.min(place + 1, same.length - 1));
    return place;
  }

  /** Finds answers written by hand: a fingerprint changes with every word of the system message. */
  #findByPrompt({ messages }: ProviderRequest): RecordedAnswer[] | undefined {
    const texts = messages.map(textOf);
    return [...this.#byPrompt].find(([prompt]) => texts.some((text) => text.includes(prompt)))?.[1];
  }
}

/** An answer comes word by word; a long one in larger parts, with pauses. */
async function* answer(
  request: ProviderRequest,
  { text, finish = 'stop', usage }: Pick<RecordedAnswer, 'text' | 'finish' | 'usage'>,
): AsyncGenerator<AnswerPart> {
  const words = text.slice(0, MAX_TEXT_BY_WORD).match(/\S+\s*|\s+/g) ?? [];
  for (const part of words) yield { type: 'text', text: part };
  for (let start = MAX_TEXT_BY_WORD; start < text.length; start += PART_LENGTH) {
    await nextTurn();
    yield { type: 'text', text: text.slice(start, start + PART_LENGTH) };
  }
  yield { type: 'end', finish, usage: usage ?? estimateTokens(request, text) };
}

/** About four characters make a token. */
function estimateTokens(request: ProviderRequest, text: string): TokenCounts {
  const asked = [request.system ?? '', ...request.messages.map(textOf)].join('');
  return { input_tokens: Math.ceil(asked.length / 4), output_tokens: Math.ceil(text.length / 4) };
}

function echo({ messages }: ProviderRequest): string {
  const last = messages.at(-1);
  return last === undefined ? '' : textOf(last);
}

function textOf({ content }: ModelMessage): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.media_type}]`)).join('\n');
}

/** The end of the last message, for messages and files. */
export function lastWordsOf(request: Pick<ProviderRequest, 'messages'>): string {
  const last = request.messages.at(-1);
  return last === undefined ? '' : textOf(last).slice(-100);
}

/**
 * The fingerprint of a request: of its system message, messages, images, and schema. The model, its temperature and the
 * maximum of tokens do not count, so that the answers of one model can stand for another.
 */
export function fingerprintOf(request: Pick<ProviderRequest, 'system' | 'messages' | 'schema'>): string {
  const { system, messages, schema } = request;
  const parts = messages.map(({ role, content }) => ({
    role,
    content:
      typeof content === 'string'
        ? content
        : content.map((part) => (part.type === 'text' ? part.text : digest(part.bytes))),
  }));
  return digest(
    JSON.stringify([system ?? null, parts, schema === undefined ? null : sortKeys(schema)]),
  ).slice(0, 32);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as JsonObject).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, member]) => [key, sortKeys(member)]);
}

function digest(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
