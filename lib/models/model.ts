import type { JsonObject } from '../common/json/json.js';
import type { ModelUsageSchema, TokenCountsSchema } from '../common/wire/model.js';
import type { Shape } from '../common/wire/shape.js';

/** A part of a message: text, or an image for models that can see. */
export type MessagePart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly bytes: Uint8Array; readonly media_type: string };

export interface ModelMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly MessagePart[];
}

/** The purpose of a request to a model; each has a default model of its own (D50). */
export type ModelPurpose = 'job' | 'select' | 'extract' | 'ocr' | 'compile';

/** A question to a language model. */
export interface ModelRequest {
  /** `provider/model`, such as `openai/gpt-4o-mini` (D50). Default: the model that is configured for the purpose. */
  readonly model?: string | undefined;
  /** Default: `job`. */
  readonly purpose?: ModelPurpose;
  readonly system?: string | undefined;
  readonly messages: readonly ModelMessage[];
  /** Sent only when given. */
  readonly max_tokens?: number | undefined;
  /** Sent only when given. */
  readonly temperature?: number | undefined;
  /** The JSON Schema of the answer. Sent to providers that support structured output. Validate the answer anyway. */
  readonly schema?: JsonObject | undefined;
  /** Receives the text of the answer as it arrives. */
  readonly onText?: ((text: string) => void) | undefined;
}

/** Tokens of one answer, or of many; 0 where the provider does not say; and what they cost. */
export interface TokenCounts extends Shape<typeof TokenCountsSchema> {}

/** The tokens of one model. */
export interface ModelUsage extends Shape<typeof ModelUsageSchema> {}

/** Why an answer has ended: it was complete, its length was limited, or the provider withheld the rest. */
export type FinishReason = 'stop' | 'length' | 'filter' | 'other';

export interface ModelAnswer {
  readonly text: string;
  /** `provider/model`. */
  readonly model: string;
  readonly finish: FinishReason;
  readonly usage: TokenCounts;
}

/** The models that tools may ask (D48). */
export interface ToolModels {
  /**
   * Asks a model and resolves with its whole answer. Ends with the attempt; waits for its turn with the provider, and
   * again when the provider asks it to.
   *
   * Rejects with a ToolError: not retryable when the request itself is wrong or the provider is not configured.
   */
  readonly generate: (request: ModelRequest) => Promise<ModelAnswer>;
}

/** A request for one provider: its model is chosen, and has no prefix any more. */
export interface ProviderRequest extends Omit<ModelRequest, 'model' | 'purpose' | 'onText'> {
  readonly model: string;
  /** The tenant that asks: facts remembered of one tenant say nothing about others. */
  readonly tenant_id: string;
}

/** A part of the answer of a provider. The last part is the end. */
export type AnswerPart =
  | { readonly type: 'text'; readonly text: string }
  /** Nothing yet, but the model is at work. */
  | { readonly type: 'progress' }
  /** The tokens until now, which count when the answer is cut; those of the end are all of them. */
  | { readonly type: 'usage'; readonly usage: TokenCounts }
  | { readonly type: 'end'; readonly finish: FinishReason; readonly usage: TokenCounts };

/** Somebody who runs language models. */
export interface ModelProvider {
  readonly name: string;
  /** Throws a {@link ModelError}. */
  stream(request: ProviderRequest, signal: AbortSignal): AsyncIterable<AnswerPart>;
}

/** The kind of failure of a provider. */
export type ModelErrorKind =
  | 'misconfigured'
  | 'bad_request'
  | 'rate_limit'
  | 'overloaded'
  | 'server'
  | 'network'
  | 'timeout'
  | 'protocol';

/** A provider did not answer as it should. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly kind: ModelErrorKind;
  /** The HTTP status, where there is one. */
  readonly status: number | undefined;
  /** Milliseconds for which the provider wants no further request. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ModelErrorKind,
    message: string,
    options: { status?: number | undefined; retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Unlike `instanceof`, also for one that the bundle with the providers has thrown: it has a class of its own. */
  static is(error: unknown): error is ModelError {
    return error instanceof Error && error.name === 'ModelError';
  }

  /** True when the same request may succeed later. */
  get isTemporary(): boolean {
    return this.kind !== 'misconfigured' && this.kind !== 'bad_request';
  }
}
