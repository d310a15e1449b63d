import { isObject, type JsonObject } from '../../common/json/json.js';
import { JsonWriter } from '../../common/json/json-writer.js';
import { MAX_SHOWN_YAML_LENGTH } from '../../common/limits.js';
import type { Steps } from '../../common/scheduling/steps.js';

/** Characters that are written in one step. */
const STEP_LENGTH = 32 * 1024;

/** The time that a line takes besides its characters, as a number of these. */
const LINE_COST = 64;

/** A longer text is tested and written in pieces of about so many characters. */
const PIECE_LENGTH = 8 * 1024;

/** Memory is taken for so many characters at once. */
const CHUNK_LENGTH = 64 * 1024;

/** Memory of a character, in bytes: as it is kept and as it is sent, or in two-byte letters. */
const CHARACTER_BYTES = 2;

const INDENT = '  ';

/** A deeper value is written as JSON in one line: its indents could make it a hundred times as long. */
const MAX_INDENT = 10 * INDENT.length;

/** Longest list in one line, with its brackets, in characters. */
const LINE_LENGTH = 72;

/** YAML reads a longer key only after a question mark. */
const MAX_KEY_LENGTH = 1000;

/** Begins with a letter and has no character that YAML reads in another way. */
const PLAIN = /^[\p{L}_](?:[\p{L}\p{N}_ ./()!?+=%,;'-]*[\p{L}\p{N}_./()!?+=%;'-])?$/u;
const PLAIN_IN_LINE = /^[\p{L}_][\p{L}\p{N}_./-]*$/u;

/** Words that some version of YAML reads as something else than a text. */
const RESERVED = /^(?:null|true|false|yes|no|on|off|y|n|nan|inf)$/i;

/** A text of these begins a block: not a blank line, and no line of blanks only, which a block would lose. */
const BLOCK = /^[^\s\u{feff}]/u;
const BLANK_LINE = /^[ \t]+$/m;
/** The break before a line that has characters. */
const FILLED_LINE = /\n(?=[^\n])/g;
/** The second half of a character that takes two. */
const SECOND_HALF = /[\udc00-\udfff]/;
/** All but line breaks, tabs, and what can be printed. */
const UNPRINTABLE =
  /[^\n\t\u{20}-\u{7e}\u{a0}-\u{2027}\u{202a}-\u{d7ff}\u{e000}-\u{fefe}\u{ff00}-\u{fffd}\u{10000}-\u{10ffff}]/u;
/** `JSON.stringify` escapes the others. */
const UNPRINTABLE_IN_JSON = /[\u{7f}-\u{9f}\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}]/gu;

/**
 * Writes a definition as YAML that people read and change: keys in their order, texts of several lines as blocks, short
 * lists in one line, deep values as JSON. Parsing it gives an equal value. In steps: a definition may have thousands of
 * tasks. Returns null when the text would be longer than `MAX_SHOWN_YAML_LENGTH`.
 *
 * @param hold takes memory for the text while it grows, in bytes
 * @throws what `hold` throws
 */
export function* writeYamlInSteps(definition: JsonObject, hold: Hold): Steps<string | null> {
  const writer = new YamlWriter(hold);
  const keys = listKeys(definition);
  if (keys.length === 0) return '{}\n';
  yield* writer.writeMap(definition, keys, '', '');
  return writer.end();
}

type Hold = (bytes: number) => void;
type YamlMap = Readonly<Record<string, unknown>>;

class YamlWriter {
  readonly #hold: Hold;
  #text = '';
  /** Parts that follow the text, until there are enough of them to be added. */
  #parts: string[] = [];
  #partsLength = 0;
  /** Characters written in this step, with the cost of lines. */
  #stepLength = 0;

  constructor(hold: Hold) {
    this.#hold = hold;
  }

  /** The text; null when it is too long. */
  end(): string | null {
    this.#addParts();
    return this.#isTooLong ? null : this.#text;
  }

  get #isTooLong(): boolean {
    return this.#text.length + this.#partsLength > MAX_SHOWN_YAML_LENGTH;
  }

  #write(part: string): void {
    this.#parts.push(part);
    this.#partsLength += part.length;
    this.#stepLength += part.length;
    if (this.#partsLength >= CHUNK_LENGTH) this.#addParts();
  }

  #addParts(): void {
    this.#hold(CHARACTER_BYTES * this.#partsLength);
    this.#text += this.#parts.join('');
    this.#parts = [];
    this.#partsLength = 0;
  }

  /** Counts a line; returns true when enough was written in this step, and begins the next one. */
  #endStep(): boolean {
    this.#stepLength += LINE_COST;
    if (this.#stepLength < STEP_LENGTH) return false;
    this.#stepLength = 0;
    return true;
  }

  /** @param start of the first line: the indent, or the dash of a list */
  *writeMap(map: YamlMap, keys: readonly string[], indent: string, start: string): Steps<void> {
    let lead = start;
    for (const key of keys) {
      if (this.#isTooLong) return;
      if (map[key] === undefined) continue;
      const written = key.length > MAX_KEY_LENGTH || isPlain(key) ? key : quote(key);
      if (written.length > MAX_KEY_LENGTH) {
        yield* this.#writeJson(key, `${lead}?`);
        yield* this.#writeValue(map[key], indent, `${indent}:`);
      } else {
        yield* this.#writeValue(map[key], indent, `${lead}${written}:`);
      }
      lead = indent;
    }
  }

  /** @param indent of the line that has the key. @param lead the key, after which the value follows */
  *#writeValue(value: unknown, indent: string, lead: string): Steps<void> {
    if (this.#endStep()) yield;
    const inner = indent + INDENT;
    if (Array.isArray(value)) {
      const line = toLine(value);
      if (line !== undefined) return this.#write(`${lead} ${line}\n`);
      if (inner.length > MAX_INDENT) return yield* this.#writeJson(value, lead);
      this.#write(`${lead}\n`);
      yield* this.#writeItems(value, inner);
    } else if (isObject(value)) {
      const keys = listKeys(value);
      if (keys.length === 0) return this.#write(`${lead} {}\n`);
      if (inner.length > MAX_INDENT) return yield* this.#writeJson(value, lead);
      this.#write(`${lead}\n`);
      yield* this.writeMap(value, keys, inner, inner);
    } else if (typeof value !== 'string') {
      this.#write(`${lead} ${JSON.stringify(value ?? null)}\n`);
    } else if (yield* this.#isBlock(value)) {
      yield* this.#writeBlock(value, inner, lead);
    } else if (value.length > PIECE_LENGTH) {
      yield* this.#writeJson(value, lead);
    } else {
      this.#write(`${lead} ${isPlain(value) ? value : quote(value)}\n`);
    }
  }

  *#writeItems(items: readonly unknown[], indent: string): Steps<void> {
    for (const item of items) {
      if (this.#isTooLong) return;
      const keys = isObject(item) ? listKeys(item) : [];
      if (isObject(item) && keys.length > 0 && indent.length < MAX_INDENT) {
        if (this.#endStep()) yield;
        yield* this.writeMap(item, keys, indent + INDENT, `${indent}- `);
      } else {
        yield* this.#writeValue(item, indent, `${indent}-`);
      }
    }
  }

  /** Writes any value in one line: JSON is YAML too. */
  *#writeJson(value: unknown, lead: string): Steps<void> {
    this.#write(`${lead} `);
    const writer = new JsonWriter(value, PIECE_LENGTH);
    for (let chunk = writer.next(); chunk !== '' && !this.#isTooLong; chunk = writer.next()) {
      this.#write(escapeUnprintable(chunk));
      if (this.#endStep()) yield;
    }
    this.#write('\n');
  }

  /** Returns true if a text may be a block of lines. */
  *#isBlock(text: string): Steps<boolean> {
    if (!text.includes('\n') || !BLOCK.test(text)) return false;
    for (const piece of cutIntoPieces(text)) {
      if (BLANK_LINE.test(piece) || UNPRINTABLE.test(piece)) return false;
      this.#stepLength += piece.length;
      if (this.#endStep()) yield;
    }
    return true;
  }

  *#writeBlock(text: string, indent: string, lead: string): Steps<void> {
    const body = text.endsWith('\n') ? text.slice(0, -1) : text;
    const chomping = body === text ? '-' : body.endsWith('\n') ? '+' : '';
    this.#write(`${lead} |${chomping}\n`);
    let isLineStart = true;
    for (const piece of cutIntoPieces(body)) {
      if (this.#isTooLong) return;
      if (isLineStart && !piece.startsWith('\n')) this.#write(indent);
      this.#write(piece.replace(FILLED_LINE, `\n${indent}`));
      isLineStart = piece.endsWith('\n');
      if (this.#endStep()) yield;
    }
    this.#write('\n');
  }
}

/** Cuts a text after line breaks, and a long line between characters. */
function* cutIntoPieces(text: string): Iterable<string> {
  for (let start = 0; start < text.length; ) {
    let end = start + PIECE_LENGTH;
    if (end < text.length) {
      const lineEnd = text.lastIndexOf('\n', end - 1) + 1;
      if (lineEnd > start) end = lineEnd;
      else if (SECOND_HALF.test(text.charAt(end))) end--;
    }
    yield text.slice(start, end);
    start = end;
  }
}

/** The keys of a map; none when all its members are undefined, so that JSON has none of them. */
function listKeys(map: YamlMap): readonly string[] {
  const keys = Object.keys(map);
  return keys.some((key) => map[key] !== undefined) ? keys : [];
}

function isPlain(text: string): boolean {
  return PLAIN.test(text) && !RESERVED.test(text);
}

/** A short list of scalars in one line; undefined for any other list that is not empty. */
function toLine(list: readonly unknown[]): string | undefined {
  let length = 2;
  const written: string[] = [];
  for (const item of list) {
    if (typeof item === 'object' && item !== null) return undefined;
    if (typeof item === 'string' && item.length > LINE_LENGTH) return undefined;
    const isBare = typeof item === 'string' && PLAIN_IN_LINE.test(item) && !RESERVED.test(item);
    const text = isBare ? item : escapeUnprintable(JSON.stringify(item ?? null));
    length += text.length + 2;
    if (length > LINE_LENGTH) return undefined;
    written.push(text);
  }
  return `[${written.join(', ')}]`;
}

/** A text as JSON is YAML too. */
function quote(text: string): string {
  return escapeUnprintable(JSON.stringify(text));
}

function escapeUnprintable(json: string): string {
  const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(UNPRINTABLE_IN_JSON, escape);
}
