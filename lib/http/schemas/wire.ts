import Type, { type Static, type TSchema } from 'typebox';
import type { Json } from '../../common/json/json.js';

/** Removes what makes no difference on the wire: mutability, and fields that are always undefined. */
type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T as [T[K]] extends [undefined] ? never : K]: Frozen<T[K]> }
    : T;

/** Makes every field required, because a type that lacks an optional field is assignable to one that has it. */
type Full<T> = T extends readonly (infer E)[]
  ? readonly Full<E>[]
  : T extends object
    ? { readonly [K in keyof T]-?: Full<T[K]> }
    : T;

type IsMutuallyAssignable<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

type IsSame<A, B> =
  IsMutuallyAssignable<Frozen<A>, Frozen<B>> extends true
    ? IsMutuallyAssignable<Full<Frozen<A>>, Full<Frozen<B>>>
    : false;

/**
 * Declares the schema of an existing type; the compiler refuses a schema of any other type. So types stay with the
 * code that creates the values, and schemas cannot drift from them.
 */
export function schemaFor<T>() {
  return <S extends TSchema>(schema: IsSame<T, Static<S>> extends true ? S : never): S => schema;
}

/** The schema of any JSON value. */
export function anyJson(description: string) {
  return Type.Unsafe<Json>({ description });
}

/** The schema of an object with any keys. */
export function anyJsonObject(description: string) {
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
  description: 'A UUIDv7 in lower case.',
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
});

export const Count = Type.Integer({ minimum: 0 });

/** The cost of the use of models. */
export const Cost = Type.Number({
  minimum: 0,
  description: 'In US dollars; only with models whose prices are configured.',
});

export function count(description: string) {
  return Type.Integer({ minimum: 0, description });
}
