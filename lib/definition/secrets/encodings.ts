import { formatNumber } from '../../common/text.js';
/** A shorter text would be found everywhere, and guessed. */
export const MIN_SECRET_LENGTH = 4;

/** Longer values are no secrets but data. */
const MAX_SECRET_LENGTH = 8192;

/** The forms of longer values in Base64 are unlikely to stand in a text by chance. */
const MIN_BASE64_BYTES = 8;

const TRIVIAL: ReadonlySet<string> = new Set(['true', 'false', 'null', 'none', 'undefined']);
const ONE_CHARACTER = /^(.)\1*$/su;
const HALF_A_CHARACTER = /\p{Cs}/u;

/**
 * Says why a value cannot be a secret, as the end of a sentence that never contains the value: masking it would replace
 * common words, or find it nowhere. Returns undefined for a value that can.
 */
export function findSecretProblem(value: string): string | undefined {
  const text = value.trim();
  if (text.length < MIN_SECRET_LENGTH) return `has fewer than ${MIN_SECRET_LENGTH} characters`;
  if (value.length > MAX_SECRET_LENGTH) return `has more than ${formatNumber(MAX_SECRET_LENGTH)} characters`;
  if (TRIVIAL.has(text.toLowerCase())) return 'is a word that stands everywhere, such as "true" or "null"';
  if (ONE_CHARACTER.test(text)) return 'is one character over and over';
  if (HALF_A_CHARACTER.test(text)) return 'contains half of a character (a lone surrogate)';
  return undefined;
}

/** A shorter one in lower case may be a common word. */
const MIN_LOWER_CASED = 8;

/**
 * Returns a secret as it may stand in a text: as it is, escaped in JSON, once or twice, percent-encoded, escaped in HTML,
 * and in Base64, also in the middle of what was encoded, as `user:password` is. Spaces around it do not count: programs
 * cut them off.
 */
export function encodeSecret(value: string): ReadonlySet<string> {
  const text = value.trim();
  const json = escapeJson(text);
  const withSlashes = json.replaceAll('/', String.raw`\/`);
  const forms = new Set([text, json, escapeJson(json), withSlashes, escapeHtml(text)]);
  for (const form of [json, text]) addAscii(form, forms);
  addPercentEncoded(text, forms);
  addBase64(Buffer.from(text), forms);
  addBase64(Buffer.from(value), forms);
  // As some encoders take letters of Western Europe.
  if (/[\u0080-\u00ff]/.test(text)) addBase64(Buffer.from(text, 'latin1'), forms);
  // As in the name of a host.
  if (text.length >= MIN_LOWER_CASED) forms.add(text.toLowerCase());
  return forms;
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** JSON in which every letter beyond ASCII is escaped, as many languages write it. */
function addAscii(text: string, forms: Set<string>): void {
  const escape = (upper: boolean): string =>
    text.replaceAll(/[\u007f-\uffff]/g, (unit) => {
      const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
      return `\\u${upper ? hex.toUpperCase() : hex}`;
    });
  forms.add(escape(false)).add(escape(true));
}

/** Unlike `escapeMarkup`, as most programs do: control characters stay. */
function escapeHtml(text: string): string {
  const html: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' };
  return text.replaceAll(/[&<>"']/g, (character) => `&${html[character]};`);
}

/** As in a path, in a query and in a form; programs differ in the characters that they leave, and in the case of digits. */
function addPercentEncoded(text: string, forms: Set<string>): void {
  const component = encodeURIComponent(text);
  const toHex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  const strict = component.replaceAll(/[!'()*~]/g, toHex);
  const form = new URLSearchParams([['', text]]).toString().slice(1);
  for (const encoded of [component, strict, form, encodeURI(text), component.replaceAll('%20', '+')]) {
    forms.add(encoded);
    forms.add(encoded.replaceAll(/%[0-9A-F]{2}/g, (digits) => digits.toLowerCase()));
  }
}

/** Characters of Base64 that depend on the bytes before a value that begins one or two bytes after a group of three. */
const PREFIX_LENGTHS = [0, 2, 3] as const;

/** Adds the characters that depend on the value alone, wherever in the encoded bytes it begins. */
function addBase64(bytes: Buffer, forms: Set<string>): void {
  if (bytes.length < MIN_BASE64_BYTES) {
    forms.add(bytes.toString('base64')).add(bytes.toString('base64url'));
    return;
  }
  for (const [shift, prefix] of PREFIX_LENGTHS.entries()) {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes]);
    const whole = Math.floor((shifted.length * 8) / 6);
    for (const encoding of ['base64', 'base64url'] as const) {
      forms.add(shifted.toString(encoding).slice(prefix, whole));
    }
  }
}
