/** The answer of a provider in a spec. */
export interface WireAnswer {
  readonly texts: readonly string[];
  readonly isCutByLength?: boolean;
}

/** The tokens of every answer in these specs. */
export const TOKENS = { input_tokens: 7, output_tokens: 3 };

/** The wire format of a provider, as it stands in its documentation. */
export interface Wire {
  /** `provider/model`. */
  readonly model: string;
  readonly type: string;
  /** The variables that lead to a server of a spec. */
  readonly variables: (url: string, key: string) => Record<string, string>;
  readonly path: string;
  /** The parts of a stream; the last ones end it. */
  readonly parts: (answer: WireAnswer) => string[];
  /** The parts of a stream that is not complete. */
  readonly beginning: (text: string) => string[];
  /** The body of an error. */
  readonly error: (message: string) => string;
  /** An error within a stream that began well; undefined where the format has none. */
  readonly streamError?: (message: string) => string;
}

function sse(data: object | string, event?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

function chatParts({ texts, isCutByLength = false }: WireAnswer): string[] {
  const chunk = (fields: object): string =>
    sse({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', ...fields });
  const { input_tokens: prompt_tokens, output_tokens: completion_tokens } = TOKENS;
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
  return [
    chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] }),
    ...texts.map((content) => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: isCutByLength ? 'length' : 'stop' }] }),
    chunk({ choices: [], usage }),
    sse('[DONE]'),
  ];
}

function chatError(message: string): string {
  return JSON.stringify({ error: { message, type: 'some_error', param: null, code: null } });
}

const openai: Wire = {
  model: 'openai/gpt-4o-mini',
  type: 'text/event-stream',
  variables: (url, key) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key }),
  path: '/v1/chat/completions',
  parts: chatParts,
  beginning: (text) => chatParts({ texts: [text] }).slice(0, 2),
  error: chatError,
  streamError: (message) => sse(chatError(message)),
};

const compatible: Wire = {
  ...openai,
  model: 'compatible/local',
  variables: (url, key) => ({ COMPATIBLE_BASE_URL: `${url}/v1`, COMPATIBLE_API_KEY: key }),
};

function typed(data: { readonly type: string; readonly [field: string]: unknown }): string {
  return sse(data, data.type);
}

function messageParts({ texts, isCutByLength = false }: WireAnswer): string[] {
  return [
    typed({
      type: 'message_start',
      message: {
        id: 'm1',
        type: 'message',
        role: 'assistant',
        content: [],
        model: 'm',
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: TOKENS.input_tokens, output_tokens: 1 },
      },
    }),
    typed({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...texts.map((text) =>
      typed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ),
    typed({ type: 'content_block_stop', index: 0 }),
    typed({
      type: 'message_delta',
      delta: { stop_reason: isCutByLength ? 'max_tokens' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: TOKENS.output_tokens },
    }),
    typed({ type: 'message_stop' }),
  ];
}

const anthropic: Wire = {
  model: 'anthropic/claude-haiku-4-5',
  type: 'text/event-stream',
  variables: (url, key) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key }),
  path: '/v1/messages',
  parts: messageParts,
  beginning: (text) => messageParts({ texts: [text] }).slice(0, 3),
  error: (message) => JSON.stringify({ type: 'error', error: { type: 'some_error', message } }),
  streamError: (message) => typed({ type: 'error', error: { type: 'overloaded_error', message } }),
};

function lines({ texts, isCutByLength = false }: WireAnswer): string[] {
  const line = (fields: object): string =>
    `${JSON.stringify({ model: 'm', created_at: '2026-01-01T00:00:00.000Z', ...fields })}\n`;
  return [
    ...texts.map((content) => line({ message: { role: 'assistant', content }, done: false })),
    line({
      message: { role: 'assistant', content: '' },
      done: true,
      done_reason: isCutByLength ? 'length' : 'stop',
      total_duration: 1,
      load_duration: 1,
      prompt_eval_count: TOKENS.input_tokens,
      prompt_eval_duration: 1,
      eval_count: TOKENS.output_tokens,
      eval_duration: 1,
    }),
  ];
}

const ollama: Wire = {
  model: 'ollama/llama3.2',
  type: 'application/x-ndjson',
  variables: (url, key) => ({ OLLAMA_HOST: url, OLLAMA_API_KEY: key, OLLAMA_CONTEXT_LENGTH: '8192' }),
  path: '/api/chat',
  parts: lines,
  beginning: (text) => lines({ texts: [text] }).slice(0, 1),
  error: (message) => JSON.stringify({ error: message }),
  streamError: (message) => `${JSON.stringify({ error: message })}\n`,
};

export const WIRES: readonly Wire[] = [openai, anthropic, ollama, compatible];
