import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

const require = createRequire(import.meta.url);

let re2: typeof import('re2js') | undefined;

/**
 * Compiles a pattern that came from a caller. Matching takes time in proportion to the text, whatever the pattern:
 * the built-in regular expressions can take years. Look-around and back-references do not exist.
 *
 * @throws Error that says what of the pattern is wrong or not supported.
 */
export function linearRegex(pattern: string | RegExp): RE2JS {
  const { RE2JS } = load();
  return RE2JS.compile(RE2JS.translateRegExp(pattern));
}

function load(): typeof import('re2js') {
  const loaded: typeof import('re2js') = re2 ?? require('re2js');
  re2 = loaded;
  return loaded;
}
