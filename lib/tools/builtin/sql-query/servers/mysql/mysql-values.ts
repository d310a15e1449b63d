import type { Json } from '../../../../../common/json/json.js';
import { toJsonInteger } from '../../database.js';

/** The types of columns by the numbers of the protocol. */
const TYPES: ReadonlyMap<number, string> = new Map([
  [0, 'decimal'],
  [1, 'tinyint'],
  [2, 'smallint'],
  [3, 'int'],
  [4, 'float'],
  [5, 'double'],
  [7, 'timestamp'],
  [8, 'bigint'],
  [9, 'mediumint'],
  [10, 'date'],
  [11, 'time'],
  [12, 'datetime'],
  [13, 'year'],
  [15, 'varchar'],
  [16, 'bit'],
  [245, 'json'],
  [246, 'decimal'],
  [249, 'blob'],
  [250, 'blob'],
  [251, 'blob'],
  [252, 'blob'],
  [253, 'varchar'],
  [254, 'char'],
]);

const TIMESTAMP = 7;
const DATETIME = 12;

export function mysqlTypeName(type: number | undefined): string {
  return TYPES.get(type ?? -1) ?? 'other';
}

/** Times become ISO texts; those of the type TIMESTAMP are in UTC, as the session is. */
export function toValue(value: unknown, type: number | undefined): Json {
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  switch (typeof value) {
    case 'string':
      if (type === TIMESTAMP) return `${value.replace(' ', 'T')}Z`;
      return type === DATETIME ? value.replace(' ', 'T') : value;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return toJsonInteger(value);
    case 'boolean':
      return value;
    default:
      // Of the types JSON and GEOMETRY.
      return JSON.parse(JSON.stringify(value));
  }
}

/** Lists and objects are JSON: MySQL has no other type for them. */
export function toMysqlParameter(value: Json): string | number | boolean | null {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}
