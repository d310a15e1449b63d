import { MIN_KEY_LENGTH } from '../../common/limits.js';
import type { ModelConfig } from '../../common/config/model-config.js';

/** Matches the parts of a key that providers show: its beginning, signs that hide the rest, and often its end. */
const HIDDEN_KEY = /[\w-]*(?:\*{2,}|\.{3,}|…|•{2,})[\w-]*/g;

/**
 * Creates a function that replaces the configured keys in a text with `***`: whole, in parts of 8 characters and more,
 * and where a provider has hidden only the middle of one. A shorter key is a placeholder, for servers that need none.
 */
export function createKeyScrubber(config: ModelConfig): (text: string) => string {
  const { openai, anthropic, ollama, compatible } = config;
  const configured = [openai, anthropic, ollama, compatible].map(({ apiKey = '' }) => apiKey);
  const keys = configured.filter((key) => key.length >= MIN_KEY_LENGTH);
  return (text) => keys.reduce(scrubKey, text);
}

function scrubKey(text: string, key: string): string {
  return scrubParts(
    text.replace(HIDDEN_KEY, (hidden) => (isHiddenKey(hidden, key) ? '***' : hidden)),
    key,
  );
}

function isHiddenKey(hidden: string, key: string): boolean {
  const [start = '', end = ''] = hidden.split(/(?:\*{2,}|\.{3,}|…|•{2,})/);
  if (start.length < 2 && end.length < 2) return false;
  return key.startsWith(start) && key.endsWith(end);
}

/** Replaces every part that also stands in the key, as long as it goes. */
function scrubParts(text: string, key: string): string {
  let scrubbed = '';
  for (let at = 0; at < text.length; ) {
    let length: number = MIN_KEY_LENGTH;
    if (at + length > text.length || !key.includes(text.slice(at, at + length))) {
      scrubbed += text[at] ?? '';
      at++;
      continue;
    }
    while (at + length < text.length && key.includes(text.slice(at, at + length + 1))) length++;
    scrubbed += '***';
    at += length;
  }
  return scrubbed;
}
