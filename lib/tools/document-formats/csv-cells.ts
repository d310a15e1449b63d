import { isObject, type Json } from '../../common/json/json.js';
import { nearest } from '../../definition/did-you-mean.js';
import type { FormatProblem } from '../tool.js';
import type { DocumentCell } from '../documents/document.js';

/** The types that a column of a table may have. */
const CELL_TYPES = ['string', 'integer', 'number', 'boolean', 'date'] as const;
type CellType = (typeof CELL_TYPES)[number];
export type CellTypes = Readonly<Record<string, CellType>>;

/** Finds what is wrong with the types of columns. */
export function* findTypeProblems(columns: Json): Generator<FormatProblem> {
  for (const [column, type] of Object.entries(isObject(columns) ? columns : {})) {
    if (CELL_TYPES.some((name) => name === type)) continue;
    const meant = typeof type === 'string' ? nearest(type, CELL_TYPES) : undefined;
    const hint = meant === undefined ? `use ${CELL_TYPES.join(', ')}` : `did you mean "${meant}"?`;
    yield { path: [column], message: `the type ${JSON.stringify(type).slice(0, 100)}`, hint };
  }
}

const TRUE = new Set(['true', 'yes', 'y', '1']);
const FALSE = new Set(['false', 'no', 'n', '0']);
/** Hours are 00 to 23, minutes and seconds 00 to 59; isDate checks the day. */
const DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/;

/**
 * Converts a cell to the type of its column. An empty cell is null, but for a text. Returns undefined for a cell that
 * is something else.
 *
 * @param decimal of numbers; the other of the two signs, a space or an apostrophe may stand between groups of digits
 */
export function convertCell(cell: string, type: CellType, decimal: '.' | ','): DocumentCell | undefined {
  if (type === 'string') return cell;
  const text = cell.trim();
  if (text === '') return null;
  if (type === 'date') return isDate(text) ? text : undefined;
  if (type === 'boolean') {
    const word = text.toLowerCase();
    return TRUE.has(word) || (FALSE.has(word) ? false : undefined);
  }
  const number = parseNumber(text, decimal);
  return type === 'integer' && !Number.isSafeInteger(number) ? undefined : number;
}

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

/** A longer text is no number that anybody wrote, and patterns take their time with it. */
const MAX_NUMBER_LENGTH = 100;
const CURRENCY = /^(?:[$€£¥]|[A-Z]{3}\b)\s*|\s*(?:[$€£¥]|\b[A-Z]{3})$/g;
const GROUPED = {
  '.': /^\d{1,3}(?:[,\s'’]\d{2,3})*[,\s'’]\d{3}(?:\.\d*)?$/,
  ',': /^\d{1,3}(?:[.\s'’]\d{2,3})*[.\s'’]\d{3}(?:,\d*)?$/,
} as const;
const PLAIN = {
  '.': /^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i,
  ',': /^(?:\d+,?\d*|,\d+)(?:e[+-]?\d+)?$/i,
} as const;

/** Reads `1.234,50`, `$ 1,200.00`, `-5 €` and `(300)`, which is negative; undefined for anything else. */
function parseNumber(text: string, decimal: '.' | ','): number | undefined {
  if (text.length > MAX_NUMBER_LENGTH) return undefined;
  const { rest: bare, negative } = takeSign(text);
  const { rest: digits, negative: negativeInside } = takeSign(bare.replaceAll(CURRENCY, ''));
  if (!PLAIN[decimal].test(digits) && !GROUPED[decimal].test(digits)) return undefined;
  const number = Number(
    decimal === ',' ? digits.replaceAll(/[.\s'’]/g, '').replace(',', '.') : digits.replaceAll(/[,\s'’]/g, ''),
  );
  if (!Number.isFinite(number) || (negative && negativeInside)) return undefined;
  return negative || negativeInside ? -number : number;
}

function takeSign(text: string): { rest: string; negative: boolean } {
  const inner = /^\((.*)\)$/.exec(text)?.[1];
  if (inner !== undefined) return { rest: inner.trim(), negative: true };
  const [, sign, rest] = /^([-+−]?)\s*(.*)$/s.exec(text) ?? [];
  return { rest: rest ?? '', negative: sign === '-' || sign === '−' };
}
