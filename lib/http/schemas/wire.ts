import Type, { type Static, type TSchema } from 'typebox';
import type { Json } from '../../common/json.js';

/** Without what makes no difference on the wire: who may write a field, and fields that are never there. */
type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T as [T[K]] extends [undefined] ? never : K]: Frozen<T[K]> }
    : T;

/** With every field that may be there: a type without an optional field fits one with it, and says less. */
type Full<T> = T extends readonly (infer E)[]
  ? readonly Full<E>[]
  : T extends object
    ? { readonly [K in keyof T]-?: Full<T[K]> }
    : T;

type Alike<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

type Same<A, B> = Alike<Frozen<A>, Frozen<B>> extends true ? Alike<Full<Frozen<A>>, Full<Frozen<B>>> : false;

/**
 * A schema for a type that is declared elsewhere: the compiler refuses one that says anything else. So the types
 * stay with the code that makes the values, and the schemas cannot drift from them.
 */
export function wire<T>() {
  return <S extends TSchema>(schema: Same<T, Static<S>> extends true ? S : never): S => schema;
}

/** Any JSON value. */
export function json(description: string) {
  return Type.Unsafe<Json>({ description });
}

/** An object with any keys. */
export function jsonObject(description: string) {
  return Type.Unsafe<Record<string, Json>>({ type: 'object', description });
}

export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

export const Time = Type.String({
  description: 'ISO 8601, UTC, with milliseconds.',
  examples: ['2026-01-01T00:00:00.000Z'],
});

export const RunId = Type.String({
  description: 'UUIDv7 in lower case.',
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
});

export const Count = Type.Integer({ minimum: 0 });
