/** Nothing that is sent is meant to be nested deeper; everything that walks a body can walk this far. */
export const DEEPEST_BODY = 1000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_LIST, OPEN_OBJECT] = [0x5b, 0x7b];
const [CLOSED_LIST, CLOSED_OBJECT] = [0x5d, 0x7d];

/** Is JSON nested deeper than `most` levels? Asked of the text, for whatever walks the value may not come back. */
export function isDeeperThan(json: string, most: number): boolean {
  let depth = 0;
  let inText = false;
  for (let i = 0; i < json.length; i++) {
    const character = json.charCodeAt(i);
    if (inText) {
      if (character === BACKSLASH) i++;
      else if (character === QUOTE) inText = false;
    } else if (character === QUOTE) inText = true;
    else if (character === OPEN_LIST || character === OPEN_OBJECT) {
      if (++depth > most) return true;
    } else if (character === CLOSED_LIST || character === CLOSED_OBJECT) depth--;
  }
  return false;
}
