import { ToolError } from '../../common/errors.js';

/**
 * Reads bytes as UTF-8, with or without a byte order mark.
 *
 * @throws ToolError, not retryable, when they are something else
 */
export function decodeText(bytes: Buffer, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const what = isUtf16(bytes) ? 'it looks like UTF-16' : 'it has bytes that mean nothing in UTF-8';
    throw new ToolError(`"${source}" is no UTF-8 text: ${what}. Save it as UTF-8 first`, {
      retryable: false,
      cause: error,
    });
  }
}

function isUtf16([first, second]: Buffer): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}
