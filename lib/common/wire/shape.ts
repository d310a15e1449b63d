import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import type { Json } from '../json/json.js';

/** The type of what a schema describes. Nobody changes what was made to be sent, so all of it is readonly. */
export type Shape<S extends TSchema> = Frozen<Static<S>>;

/** Leaves JSON values as they are: outputs and inputs belong to the tools. */
type Frozen<T> = Json extends T
  ? T
  : T extends readonly (infer E)[]
    ? readonly Frozen<E>[]
    : T extends object
      ? { readonly [K in keyof T]: Frozen<T[K]> }
      : T;

/**
 * Declares the schema of a type that stands with the code that decides about its values, such as the machines. The compiler
 * refuses a schema of any other type. For types without optional fields: two that differ in one are assignable to each other.
 */
export function schemaFor<T>() {
  return <S extends TSchema>(schema: IsMutuallyAssignable<T, Static<S>> extends true ? S : never): S =>
    schema;
}

type IsMutuallyAssignable<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** The schema of an object that the description of the API calls by its title. */
export const titled = <P extends TProperties>(title: string, properties: P) =>
  Type.Object(properties, { title });

export const described = <P extends TProperties>(title: string, description: string, properties: P) =>
  Type.Object(properties, { title, description });

export const anyJson = (description: string) => Type.Unsafe<Json>({ description });

export const anyJsonObject = (description: string) =>
  Type.Unsafe<Record<string, Json>>({ type: 'object', description });

export const nullable = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

export const Time = Type.String({
  description: 'ISO 8601, UTC, with milliseconds.',
  examples: ['2026-01-01T00:00:00.000Z'],
});

export const RunId = Type.String({
  description: 'A UUIDv7 in lower case.',
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
});

export const Count = Type.Integer({ minimum: 0 });

export const Cost = Type.Number({
  minimum: 0,
  description: 'In US dollars; only with models whose prices are configured.',
});

export const text = (description: string) => Type.String({ description });

export const flag = (description: string) => Type.Boolean({ description });

/** A field that is true or absent. */
export const onlyTrue = (description: string) => Type.Optional(Type.Literal(true, { description }));

export const list = <S extends TSchema>(items: S, description: string) => Type.Array(items, { description });

export const mapOf = <S extends TSchema>(values: S, description: string) =>
  Type.Record(Type.String(), values, { description });

export const count = (description: string) => Type.Integer({ minimum: 0, description });
