/** Formats the first `most` items and counts the others: `['a', 'b', 'and 7 more']`. */
export function formatFirst<T>(
  items: readonly T[],
  most: number,
  format: (item: T) => string = String,
): string[] {
  const shown = items.slice(0, most).map(format);
  return items.length > most ? [...shown, andMore(items.length - most)] : shown;
}

/** Joins the first `most` names and counts the others: `a, b and 7 more`. */
export function joinFirst(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} ${andMore(names.length - most)}` : shown;
}

/** `and 1,234 more` */
function andMore(count: number): string {
  return `and ${formatNumber(count)} more`;
}

/** Cuts a long text: `abc…`. */
export function ellipsize(text: string, most: number): string {
  return text.length <= most ? text : `${copyText(firstOf(text, most))}…`;
}

/** Cuts a long text, and says at its end how long it was: `abc … (9,000 characters)`. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${copyText(firstOf(text, most))} … (${formatNumber(text.length)} characters)`;
}

/** Returns the first characters, without the first half of one that would be split. */
function firstOf(text: string, most: number): string {
  return text.slice(0, endOfPiece(text, 0, most));
}

/** Returns where a piece of a long text ends that begins at `start`: between two characters, or with the text. @param most from 2 */
export function endOfPiece(text: string, start: number, most: number): number {
  const end = start + most;
  if (end >= text.length) return text.length;
  return splitsCharacter(text, end) ? end - 1 : end;
}

/** Returns true when a text that is cut at `end` would end with the first half of a character. */
export function splitsCharacter(text: string, end: number): boolean {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff;
}

/** V8 copies shorter parts of a text itself. */
const MIN_SHARED_LENGTH = 13;

/** Copies a part of a text: V8 keeps the whole text in memory for as long as a part of it, unless it is copied. */
export function copyText(part: string): string {
  return part.length < MIN_SHARED_LENGTH ? part : Buffer.from(part, 'utf16le').toString('utf16le');
}

/** Shows any value: a text as it is, an error by its message, everything else as JSON or by its name. Never throws. */
export function showValue(value: unknown): string {
  try {
    if (typeof value === 'string') return value;
    if (typeof value === 'bigint' || value instanceof Error) return String(value);
    return JSON.stringify(value) ?? String(value);
  } catch {
    return `a value that cannot be shown, of the type ${typeof value}`;
  }
}

/** Formats a size: `1.5 MiB`. */
export function formatMebibytes(bytes: number): string {
  return `${formatNumber(bytes / 2 ** 20, 1)} MiB`;
}

const SPECIAL: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

/**
 * Matches the characters that markup may not contain as they are: its own, control characters, those that change the
 * direction of the text around them or are invisible, halves of characters, and code points that are no characters.
 */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
  /[&<>"'\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Escapes text of anybody for HTML and XML, as content or within quotes: nothing in it begins a tag, ends an attribute or
 * reorders the line. Control and bidirectional characters become visible, as JSON writes them: `\u202e`.
 */
export function escapeMarkup(text: string): string {
  return text.replace(
    UNSAFE,
    (character) => SPECIAL.get(character) ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * `1,003`, `0.25`: without Intl and `toLocaleString`, which load the data of ICU when they are first used. That takes as
 * long as the four tasks of a short run together.
 *
 * @param digits the most digits after the point
 */
export function formatNumber(value: number, digits = 0): string {
  return String(Number(value.toFixed(digits))).replace(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g, ',');
}

/** `$0.0012`: two digits of what is below a dollar, however little it is. */
export function formatCost(dollars: number): string {
  if (dollars >= 1) return `$${dollars.toFixed(2)}`;
  const digits = Number(dollars.toPrecision(2)).toFixed(10);
  return `$${digits.replace(/\.?0+$/, '')}`;
}

/** A task, or an item of it, with the sub-pipeline in a plan. */
interface NamedCall {
  readonly sub_pipeline?: string | undefined;
  readonly task_id: string;
  readonly item?: number | undefined;
}

/** Names a task or an item as people and commands write it: `write`, `report/write[3]`. */
export function nameCall({ sub_pipeline: part, task_id: taskId, item }: NamedCall): string {
  const task = part === undefined ? taskId : `${part}/${taskId}`;
  return item === undefined ? task : `${task}[${item}]`;
}

/** `wave 2`, or the list of handlers of the wave, as in `on_failure` (D80). @param index from 0 */
export function nameWave(index: number, list?: string | null): string {
  return list ?? `wave ${index + 1}`;
}

/** `1 error`, `2 errors`, `1,003 errors` */
export function formatCount(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `3 ms`, `0.8 s`, `12 s`, `2 min 5 s`, `1 h 3 min`, from 48 hours on `5 d 3 h` */
export function formatDuration(ms: number): string {
  if (ms < 100) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Returns what finds a text in others, in capital or small letters: in the first `most` characters of each. */
export function createTextFinder(text: string, most: number): (texts: readonly string[]) => boolean {
  const pattern = new RegExp(text.replaceAll(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`), 'iu');
  return (texts) => texts.some((one) => pattern.test(one.slice(0, most)));
}
