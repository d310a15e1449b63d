import { ToolError } from '../../../common/errors.js';
import type { Json, JsonObject } from '../../../common/json/json.js';
import { joinFirst } from '../../../common/text.js';
import { nearest } from '../../../definition/did-you-mean.js';
import { didYouMean } from '../../../definition/problems/hint.js';
import { SQL_LIMITS } from './limits.js';
import { type Dialect, readTokens, type Token } from './tokens.js';

/** A statement whose values are bound by the database, and never part of its text. */
export interface BoundStatement {
  readonly text: string;
  /** In the order of the placeholders. */
  readonly values: readonly Json[];
  /** The tokens of the text as it was written. */
  readonly tokens: readonly Token[];
}

const MAX_LISTED = 10;

/**
 * Binds the params of statements: each `:name` becomes a placeholder of the database, wherever it stands outside of texts, quoted names
 * and comments.
 *
 * @throws ToolError, not retryable, also for a name without a value and for a value without a name
 */
export function bindStatements(
  texts: readonly string[],
  params: JsonObject,
  dialect: Dialect,
): BoundStatement[] {
  const used = new Set<string>();
  const bound = texts.map((text, index) => {
    const place = texts.length === 1 ? 'the query' : `query ${index + 1} of ${texts.length}`;
    return bindOne(text, params, dialect, place, used);
  });
  const unused = Object.keys(params).filter((name) => !used.has(name));
  if (unused.length > 0) {
    const [first = ''] = unused;
    const similar = nearest(first, [...used]);
    const hint =
      similar === undefined ? `write :${first} where its value belongs, or remove it` : didYouMean(similar);
    throw ToolError.nonRetryable(`no query has the param "${joinFirst(unused, MAX_LISTED)}": ${hint}`);
  }
  return bound;
}

function bindOne(
  text: string,
  params: JsonObject,
  dialect: Dialect,
  place: string,
  used: Set<string>,
): BoundStatement {
  const tokens = readTokens(text, dialect, place);
  assertOneStatement(tokens, place);
  const positions = new Map<string, number>();
  const values: Json[] = [];
  let written = '';
  for (const { kind, text: part } of tokens) {
    if (kind !== 'param') {
      written += part;
      continue;
    }
    const name = part.slice(1);
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    if (value === undefined) throw ToolError.nonRetryable(describeMissing(name, params, place));
    used.add(name);
    let position = positions.get(name);
    if (position === undefined || !dialect.numbersParams) {
      position = values.push(value);
      positions.set(name, position);
      if (position > SQL_LIMITS.parameters)
        throw ToolError.nonRetryable(
          `${place} has more than ${SQL_LIMITS.parameters} params: pass a list in one of them`,
        );
    }
    written += dialect.numbersParams ? `${dialect.placeholder}${position}` : dialect.placeholder;
  }
  return { text: written, values, tokens };
}

function assertOneStatement(tokens: readonly Token[], place: string): void {
  const solid = tokens.filter(({ kind }) => kind !== 'blank');
  if (solid.every(({ text }) => text === ';'))
    throw ToolError.nonRetryable(`${place} is empty: write a statement`);
  // The body of a trigger has statements. Every database takes one statement at a time by itself, too.
  if (/^CREATE$/i.test(solid[0]?.text ?? '') && solid.some(({ text }) => /^BEGIN$/i.test(text))) return;
  const end = solid.findIndex(({ text }) => text === ';');
  if (end >= 0 && solid.slice(end).some(({ text }) => text !== ';'))
    throw ToolError.nonRetryable(
      `${place} has several statements: write them as a list in "queries", which runs them in one transaction`,
    );
}

function describeMissing(name: string, params: JsonObject, place: string): string {
  const names = Object.keys(params);
  const similar = nearest(name, names);
  const missing = `${place} has :${name}, and there is no param "${name}"`;
  if (similar !== undefined) return `${missing}: ${didYouMean(similar)}`;
  const hint = `write params: {${name}: …}`;
  return names.length === 0
    ? `${missing}: ${hint}`
    : `${missing}: the params are ${joinFirst(names, MAX_LISTED)}`;
}

const READING = new Set([
  'SELECT',
  'VALUES',
  'TABLE',
  'SHOW',
  'EXPLAIN',
  'DESCRIBE',
  'DESC',
  'FROM',
  'SUMMARIZE',
  'WITH',
]);
const WRITING = /^(?:INSERT|UPDATE|DELETE|MERGE|REPLACE|INTO|ANALYZE|CREATE|DROP|ALTER)$/;

/** Returns true for a statement that only reads, as far as its words show: it is run so that the database refuses writes. */
export function seemsToRead(tokens: readonly Token[]): boolean {
  const words = tokens.flatMap(({ kind, text }) => (kind === 'word' ? [text.toUpperCase()] : []));
  const first = tokens.find(({ kind, text }) => kind !== 'blank' && text !== '(' && text !== ';');
  if (first?.kind !== 'word' || !READING.has(first.text.toUpperCase())) return false;
  // MySQL runs what stands in such a comment.
  if (tokens.some(({ kind, text }) => kind === 'blank' && text.startsWith('/*!'))) return false;
  return !words.some((word) => WRITING.test(word));
}

/** Words before a parenthesis that call nothing, and functions that change nothing of a session. */
const HARMLESS = new Set(
  (
    'ALL AND ANY ARRAY AS BETWEEN BY CASE DISTINCT ELSE END EXCEPT EXISTS FILTER FROM GROUP HAVING IN INTERSECT IS JOIN LATERAL LIKE LIMIT NOT ' +
    'OFFSET ON OR OVER ROW SELECT SOME THEN UNION USING VALUES WHEN WHERE WITH WITHIN MATERIALIZED ' +
    'CHAR DECIMAL NUMERIC TIME TIMESTAMP TIMESTAMPTZ VARCHAR ' +
    'ABS AVG CAST CEIL CEILING COALESCE CONCAT COUNT DATE DATE_TRUNC EXTRACT FLOOR GREATEST IF IFNULL JSON_AGG LEAST LEFT LENGTH LOWER LTRIM MAX ' +
    'MIN MOD NOW NULLIF RANK RIGHT ROUND ROW_NUMBER RTRIM SUBSTR SUBSTRING SUM TO_CHAR TRIM UPPER'
  ).split(' '),
);

/** Returns true for a reading statement that leaves nothing in its session, as far as its words show: no setting, lock or variable. */
export function leavesSession(tokens: readonly Token[]): boolean {
  const solid = tokens.filter(({ kind }) => kind !== 'blank');
  return solid.every(({ kind, text }, index) => {
    if (text === ':=') return false;
    const isCall = solid[index + 1]?.text === '(' && (kind === 'word' || kind === 'quoted');
    return !isCall || (kind === 'word' && HARMLESS.has(text.toUpperCase()));
  });
}
