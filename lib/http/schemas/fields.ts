import Type, {
  type TNumberOptions,
  type TObjectOptions,
  type TProperties,
  type TSchemaOptions,
  type TStringOptions,
} from 'typebox';
import { optionalField } from '../../definition/schema/definition-fields.js';

/** An object that has no other fields. */
export function closedObject<P extends TProperties>(fields: P, options: TObjectOptions = {}) {
  return Type.Object(fields, { ...options, additionalProperties: false });
}

/** The body of a request; the OpenAPI document names it by its title. */
export function bodySchema<P extends TProperties>(title: string, fields: P) {
  return closedObject(fields, { title });
}

// Parameters of queries and headers, which may be left out.

export function optionalText(options: TStringOptions) {
  return Type.Optional(Type.String(options));
}

export function optionalInteger(options: TNumberOptions) {
  return Type.Optional(Type.Integer(options));
}

export function optionalNumber(options: TNumberOptions) {
  return Type.Optional(Type.Number(options));
}

export function optionalBoolean(options: TSchemaOptions) {
  return Type.Optional(Type.Boolean(options));
}

// Fields of bodies, in which null means that the field is left out (D53).

export function nullableText(options: TStringOptions) {
  return optionalField(Type.String(options));
}

export function nullableInteger(options: TNumberOptions) {
  return optionalField(Type.Integer(options));
}

export function nullableBoolean(options: TSchemaOptions) {
  return optionalField(Type.Boolean(options));
}
