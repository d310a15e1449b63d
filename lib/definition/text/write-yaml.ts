import { isObject, type JsonObject } from '../../common/json.js';
import type { Steps } from '../../common/steps.js';

/** Nodes that are written in one step. */
const NODES_PER_STEP = 500;

const INDENT = '  ';

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
/** All but line breaks, tabs, and what can be printed. */
const UNPRINTABLE =
  /[^\n\t\u{20}-\u{7e}\u{a0}-\u{2027}\u{202a}-\u{d7ff}\u{e000}-\u{fefe}\u{ff00}-\u{fffd}\u{10000}-\u{10ffff}]/u;
/** `JSON.stringify` escapes the others. */
const UNPRINTABLE_IN_JSON = /[\u{7f}-\u{9f}\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}]/gu;

/**
 * Writes a definition as YAML that people read and change: keys in their order, texts of several lines as blocks, short
 * lists in one line. Parsing it gives an equal value. In steps: a definition may have thousands of tasks.
 */
export function* writeYamlInSteps(definition: JsonObject): Steps<string> {
  const writer = new YamlWriter();
  if (Object.keys(definition).length === 0) return '{}\n';
  yield* writer.writeMap(definition, '', '');
  return writer.lines.join('\n').concat('\n');
}

class YamlWriter {
  readonly lines: string[] = [];
  #nodes = 0;

  /** @param start of the first line: the indent, or the dash of a list */
  *writeMap(map: Readonly<Record<string, unknown>>, indent: string, start: string): Steps<void> {
    let lead = start;
    for (const [key, value] of Object.entries(map)) {
      if (value === undefined) continue;
      const written = PLAIN.test(key) && !RESERVED.test(key) ? key : quote(key);
      if (written.length > MAX_KEY_LENGTH) {
        this.lines.push(`${lead}? ${written}`);
        yield* this.#writeValue(value, indent, `${indent}:`);
      } else {
        yield* this.#writeValue(value, indent, `${lead}${written}:`);
      }
      lead = indent;
    }
  }

  /** @param indent of the line that has the key. @param lead the key, after which the value follows */
  *#writeValue(value: unknown, indent: string, lead: string): Steps<void> {
    if (++this.#nodes % NODES_PER_STEP === 0) yield;
    const inner = indent + INDENT;
    if (Array.isArray(value)) {
      const line = toLine(value);
      if (line !== undefined) return void this.lines.push(`${lead} ${line}`);
      this.lines.push(lead);
      for (const item of value) yield* this.#writeItem(item, inner);
    } else if (isObject(value)) {
      if (isEmpty(value)) return void this.lines.push(`${lead} {}`);
      this.lines.push(lead);
      yield* this.writeMap(value, inner, inner);
    } else if (typeof value === 'string' && isBlock(value)) {
      this.#writeBlock(value, inner, lead);
    } else {
      this.lines.push(`${lead} ${toScalar(value)}`);
    }
  }

  *#writeItem(item: unknown, indent: string): Steps<void> {
    if (isObject(item) && !isEmpty(item)) {
      if (++this.#nodes % NODES_PER_STEP === 0) yield;
      return yield* this.writeMap(item, indent + INDENT, `${indent}- `);
    }
    yield* this.#writeValue(item, indent, `${indent}-`);
  }

  #writeBlock(text: string, indent: string, lead: string): void {
    const body = text.replace(/\n$/, '');
    const chomping = body === text ? '-' : body.endsWith('\n') ? '+' : '';
    this.lines.push(`${lead} |${chomping}`);
    for (const line of body.split('\n')) this.lines.push(line === '' ? '' : indent + line);
  }
}

function isEmpty(value: object): boolean {
  return Object.values(value).every((member) => member === undefined);
}

function isBlock(text: string): boolean {
  return text.includes('\n') && BLOCK.test(text) && !BLANK_LINE.test(text) && !UNPRINTABLE.test(text);
}

/** A short list of scalars in one line; undefined for any other list that is not empty. */
function toLine(list: readonly unknown[]): string | undefined {
  let length = 2;
  const written: string[] = [];
  for (const item of list) {
    if (typeof item === 'object' && item !== null) return undefined;
    if (typeof item === 'string' && item.length > LINE_LENGTH) return undefined;
    const isPlain = typeof item === 'string' && PLAIN_IN_LINE.test(item) && !RESERVED.test(item);
    const text = isPlain ? item : typeof item === 'string' ? quote(item) : toScalar(item);
    length += text.length + 2;
    if (length > LINE_LENGTH) return undefined;
    written.push(text);
  }
  return `[${written.join(', ')}]`;
}

function toScalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value ?? null);
  return PLAIN.test(value) && !RESERVED.test(value) ? value : quote(value);
}

/** A text as JSON is YAML too, but for characters that cannot be printed. */
function quote(text: string): string {
  return JSON.stringify(text).replace(UNPRINTABLE_IN_JSON, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
