import { ToolError } from '../common/errors.js';
import { MODEL_LIMITS } from '../common/limits.js';
import type { ModelRequest } from './model.js';

/** The size of the texts and of the images of a request. */
interface RequestSize {
  /** Length of the texts and of the schema, in characters. */
  readonly length: number;
  /** Bytes of the images. */
  readonly imageBytes: number;
}

function measure({ system, messages, schema }: ModelRequest): RequestSize {
  let length = (system ?? '').length + (schema === undefined ? 0 : JSON.stringify(schema).length);
  let imageBytes = 0;
  for (const { content } of messages) {
    if (typeof content === 'string') length += content.length;
    else {
      for (const part of content) {
        if (part.type === 'text') length += part.text.length;
        else imageBytes += part.bytes.byteLength;
      }
    }
  }
  return { length, imageBytes };
}

/** The memory of a request while it waits and is sent, in bytes: its parts, and the body that is made of them. */
export function measureRequest(request: ModelRequest): number {
  const { length, imageBytes } = measure(request);
  return 2 * length + 2 * imageBytes;
}

/** @throws ToolError, not retryable, for a request that is longer than the limits of requests to models */
export function assertRequestSize(request: ModelRequest): void {
  const { length, imageBytes } = measure(request);
  if (length > MODEL_LIMITS.promptLength)
    throw ToolError.nonRetryable(
      `the request to the model has ${length.toLocaleString('en')} characters, and ${MODEL_LIMITS.promptLength / 2 ** 20} Mi ` +
        'characters are allowed: choose pages with select, or ask about each part with parallel_over',
    );
  if (imageBytes > MODEL_LIMITS.imageBytes)
    throw ToolError.nonRetryable(
      `the images of a request to a model may take ${MODEL_LIMITS.imageBytes / 2 ** 20} MiB together, and these take ` +
        `${Math.ceil(imageBytes / 2 ** 20)} MiB: send fewer at once`,
    );
}
