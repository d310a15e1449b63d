import { Lexer } from 'yaml';
import { DEEPEST_NESTING } from './limits.js';

/**
 * Is a text nested deeper than a definition may be? Asked before the YAML parser sees it, because that one recurses:
 * megabytes of brackets would keep it busy for many seconds before its stack ends. Linear in the length of the text.
 */
export function isNestedTooDeeply(text: string): boolean {
  return hasLineOfIndicators(text) || (mayNestTooDeeply(text) && flowDepthExceeds(text));
}

// `- - - -` and `? ? ? ?` open a level with every two characters.
const LINE_OF_INDICATORS = new RegExp(`^ *(?:[-?:] +){${DEEPEST_NESTING}}`, 'm');

function hasLineOfIndicators(text: string): boolean {
  return LINE_OF_INDICATORS.test(text);
}

/** Counts every bracket, also those in quotes and comments: if even that stays low, there is nothing to look at. */
function mayNestTooDeeply(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (character === 0x5b || character === 0x7b) depth++;
    else if ((character === 0x5d || character === 0x7d) && depth > 0) depth--;
    if (depth > DEEPEST_NESTING) return true;
  }
  return false;
}

function flowDepthExceeds(text: string): boolean {
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') depth++;
    else if (token === ']' || token === '}') depth--;
    if (depth > DEEPEST_NESTING) return true;
  }
  return false;
}
