import type { Json } from '../../../../../common/json/json.js';
import { toJsonInteger } from '../../database.js';
import type { CellKind } from './csv-encoder.js';

/** A column as PostgreSQL describes it. */
export interface PgField {
  readonly name: string;
  readonly dataTypeID: number;
}

type Convert = (text: string) => Json;

const asText: Convert = (text) => text;

/** JSON has no NaN and no infinity: they stay texts. */
const toFloat: Convert = (text) => {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
};

const toBoolean: Convert = (text) => text === 't';

const SPACE = 32;
const DATE_LENGTH = 10;

/** `2024-05-01 12:00:00.5+00` becomes `2024-05-01T12:00:00.5Z`; infinity and years of other lengths stay as they are. */
const toTime: Convert = (text) => {
  if (text.charCodeAt(DATE_LENGTH) !== SPACE || text.endsWith('BC')) return text;
  const time = `${text.slice(0, DATE_LENGTH)}T${text.slice(DATE_LENGTH + 1)}`;
  return time.endsWith('+00') ? `${time.slice(0, -3)}Z` : time;
};

const toBytes: Convert = (text) => Buffer.from(text.slice(2), 'hex').toString('base64');

interface PgType {
  readonly name: string;
  readonly convert: Convert;
  /** The number of the type of its lists. */
  readonly list?: number;
}

/** By number; any other type is a text. */
const TYPES: ReadonlyMap<number, PgType> = new Map<number, PgType>([
  [16, { name: 'boolean', convert: toBoolean, list: 1000 }],
  [17, { name: 'bytea', convert: toBytes, list: 1001 }],
  [20, { name: 'bigint', convert: toJsonInteger, list: 1016 }],
  [21, { name: 'smallint', convert: toJsonInteger, list: 1005 }],
  [23, { name: 'integer', convert: toJsonInteger, list: 1007 }],
  [26, { name: 'oid', convert: toJsonInteger, list: 1028 }],
  [700, { name: 'real', convert: toFloat, list: 1021 }],
  [701, { name: 'double precision', convert: toFloat, list: 1022 }],
  [1700, { name: 'numeric', convert: asText, list: 1231 }],
  [25, { name: 'text', convert: asText, list: 1009 }],
  [1043, { name: 'varchar', convert: asText, list: 1015 }],
  [1042, { name: 'char', convert: asText, list: 1014 }],
  [19, { name: 'name', convert: asText, list: 1003 }],
  [2950, { name: 'uuid', convert: asText, list: 2951 }],
  [1082, { name: 'date', convert: asText, list: 1182 }],
  [1083, { name: 'time', convert: asText, list: 1183 }],
  [1114, { name: 'timestamp', convert: toTime, list: 1115 }],
  [1184, { name: 'timestamptz', convert: toTime, list: 1185 }],
  [1186, { name: 'interval', convert: asText, list: 1187 }],
  [114, { name: 'json', convert: (text) => JSON.parse(text), list: 199 }],
  [3802, { name: 'jsonb', convert: (text) => JSON.parse(text), list: 3807 }],
]);

const LISTS: ReadonlyMap<number, PgType> = new Map(
  [...TYPES.values()].flatMap((type) =>
    type.list === undefined
      ? []
      : [[type.list, { name: `${type.name}[]`, convert: (text: string) => readList(text, type.convert) }]],
  ),
);

/** The kinds of cells of columns; undefined when one of them is written otherwise than PostgreSQL sends it. */
export function cellKindsOf(fields: readonly PgField[]): CellKind[] | undefined {
  const kinds = fields.map(({ dataTypeID }) => cellKindOf(typeOf(dataTypeID).convert));
  return kinds.every((kind) => kind !== undefined) ? kinds : undefined;
}

function cellKindOf(convert: Convert): CellKind | undefined {
  if (convert === asText) return 'text';
  if (convert === toJsonInteger) return 'plain';
  if (convert === toTime) return 'time';
  return convert === toBoolean ? 'boolean' : undefined;
}

function typeOf(id: number): PgType {
  return TYPES.get(id) ?? LISTS.get(id) ?? { name: 'other', convert: asText };
}

export function pgTypeName(id: number): string {
  return typeOf(id).name;
}

/** Returns how the texts of columns become values, for those columns whose texts do not stay. */
export function convertersOf(fields: readonly PgField[]): [column: number, convert: Convert][] {
  return fields.flatMap(({ dataTypeID }, column) => {
    const { convert } = typeOf(dataTypeID);
    return convert === asText ? [] : [[column, convert]];
  });
}

const LIST_PART = /[{},]|"((?:[^"\\]|\\[^])*)"|[^{},"]+/y;

/** Reads a list as PostgreSQL writes it: `{1,NULL,"a b"}`, also of lists. Bounds, as in `[0:1]={1,2}`, are left out. */
function readList(text: string, convert: Convert): Json {
  const stack: Json[][] = [[]];
  LIST_PART.lastIndex = text.startsWith('[') ? text.indexOf('{') : 0;
  for (let part = LIST_PART.exec(text); part !== null; part = LIST_PART.exec(text)) {
    const [written, quoted] = part;
    const top = stack.at(-1) ?? [];
    if (written === '{') {
      const inner: Json[] = [];
      top.push(inner);
      stack.push(inner);
    } else if (written === '}') stack.pop();
    else if (quoted !== undefined) top.push(convert(quoted.replaceAll(/\\([^])/g, '$1')));
    else if (written !== ',') top.push(written === 'NULL' ? null : convert(written));
  }
  return stack[0]?.[0] ?? text;
}

/** Writes a value as PostgreSQL reads it: a list as `{…}`, an object as JSON. The database knows its type from the statement. */
export function toPgParameter(value: Json): string | null {
  if (value === null) return null;
  if (Array.isArray(value)) return writeList(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function writeList(list: readonly Json[]): string {
  const parts = list.map((value) => {
    if (value === null) return 'NULL';
    if (Array.isArray(value)) return writeList(value);
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  });
  return `{${parts.join(',')}}`;
}
