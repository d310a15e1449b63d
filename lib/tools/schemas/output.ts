import type { Json, JsonObject } from '../../common/json/json.js';
import type { ValueShape } from '../../definition/shapes/shape.js';

/** A JSON Schema (2020-12), as TypeScript infers it from a declaration. */
export interface InputSchema {
  readonly [keyword: string]: ReadonlyJson;
}

type ReadonlyJson = null | boolean | number | string | readonly ReadonlyJson[] | InputSchema;

/** Describes the output of a tool (Tool metadata). */
export interface OutputDeclaration {
  readonly name: string;
  readonly description: string;
  readonly type: string;
  /**
   * The JSON Schema (2020-12) of every output. Validation refuses templates that read what it excludes: a field that an object with
   * `additionalProperties: false` does not have, or a field of a number. It gives the type of what the code returns, too.
   */
  readonly schema?: InputSchema;
}

/**
 * Derives the shape of an output from the inputs of a task as they are written; undefined when they say nothing.
 *
 * @param shapeOf gives the shape that a written value has when it is rendered, with those of the outputs that its templates read
 */
export type DeriveOutput<R> = (
  written: JsonObject,
  shapeOf: (value: Json | undefined) => ValueShape,
  registries: R | undefined,
) => ValueShape | undefined;

/** The type of the values that a tool with a declaration returns. */
export type ReturnOf<O> = O extends { readonly schema: infer S extends InputSchema }
  ? OutputOf<S> | Promise<OutputOf<S>>
  : unknown;

/** The type of the values of a schema, for code that makes them: lists may be read-only, and what `undefined` stands for is left out. */
export type OutputOf<S> = S extends { readonly enum: readonly (infer E)[] }
  ? Widened<E>
  : S extends { readonly const: infer C }
    ? Widened<C>
    : S extends { readonly anyOf: readonly (infer A)[] }
      ? OutputOf<A>
      : S extends { readonly type: infer T }
        ? OutputOfType<T extends readonly (infer U)[] ? U : T, S>
        : unknown;

/** TypeScript reads a text of a function whose type it is still looking for as any text. */
type Widened<T> = T extends string ? string : T extends number ? number : T extends boolean ? boolean : T;

type OutputOfType<T, S> = T extends 'string'
  ? string
  : T extends 'integer' | 'number'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'array'
          ? readonly (S extends { readonly items: infer I } ? OutputOf<I> : unknown)[]
          : T extends 'object'
            ? ObjectOf<S>
            : unknown;

type ObjectOf<S> = S extends { readonly properties: infer P }
  ? { readonly [K in keyof P as K extends RequiredOf<S> ? K : never]: OutputOf<P[K]> } & {
      readonly [K in keyof P as K extends RequiredOf<S> ? never : K]?: OutputOf<P[K]> | undefined;
    }
  : object;

type RequiredOf<S> = S extends { readonly required: readonly (infer K)[] } ? K : never;

/** A schema of objects that have these fields, and no others. */
export interface ExactObject<P extends Readonly<Record<string, InputSchema>>, Optional> {
  readonly [keyword: string]: ReadonlyJson;
  readonly type: 'object';
  readonly properties: P;
  readonly required: readonly (Exclude<keyof P, Optional> & string)[];
  readonly additionalProperties: false;
}

/** Creates the schema of objects that have these fields, and no others. @param optional fields that may be missing */
export function exactObject<
  const P extends Readonly<Record<string, InputSchema>>,
  const Optional extends keyof P & string = never,
>(properties: P, optional: readonly Optional[] = []): ExactObject<P, Optional> {
  const isRequired = (name: string): name is Exclude<keyof P, Optional> & string =>
    !optional.some((one) => one === name);
  return {
    type: 'object',
    properties,
    required: Object.keys(properties).filter(isRequired),
    additionalProperties: false,
  };
}

export const TEXT_SCHEMA = { type: 'string' } as const;
export const INTEGER_SCHEMA = { type: 'integer' } as const;
export const FLAG_SCHEMA = { type: 'boolean' } as const;

/** A file of the run, as the tools describe it that write one. */
export const FILE_SCHEMA = exactObject({
  name: TEXT_SCHEMA,
  path: TEXT_SCHEMA,
  media_type: TEXT_SCHEMA,
  size: INTEGER_SCHEMA,
});
