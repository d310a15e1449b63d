import { expect } from 'chai';
import { isObject } from '../../../lib/common/json/json.js';
import { compileSchema } from '../../../lib/common/json-schema/ajv.js';

export interface Media {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Record<string, { value?: unknown; $ref?: string }>;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Record<string, { description: string }>;
  readonly content?: Record<string, Media>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: string[];
  readonly parameters: { name: string; in: string; description?: string }[];
  readonly requestBody?: { content: Record<string, Media> };
  readonly responses: Record<string, ResponseObject>;
  readonly security: unknown[];
}

export interface OpenApiDocument {
  readonly info: { description: string };
  readonly tags: { name: string; description?: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: {
    schemas: Record<string, { description?: string; examples?: unknown[] }>;
    examples: Record<string, { value: unknown }>;
  };
}

/** Lists the operations of a document, named as in `GET /health`. */
export function listOperations({ paths }: OpenApiDocument): { name: string; operation: Operation }[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
}

/** Lists every `$ref` in a part of a document. */
export function findReferences(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(findReferences);
  if (!isObject(part)) return [];
  const { $ref } = part;
  return [...(typeof $ref === 'string' ? [$ref] : []), ...Object.values(part).flatMap(findReferences)];
}

/** Returns the part of a document that a reference names; undefined when there is none. */
export function resolveReference(document: object, reference: string): Record<string, unknown> | undefined {
  let part: unknown = document;
  for (const key of reference.slice(2).split('/')) part = isObject(part) ? part[key] : undefined;
  return isObject(part) ? part : undefined;
}

/** Asserts that a value is valid against a schema of a document. */
export function expectValid(document: OpenApiDocument, schema: object, value: unknown, name: string): void {
  const within = { $defs: document.components.schemas, allOf: [schema] };
  const text = JSON.stringify(within).replaceAll('#/components/schemas/', '#/$defs/');
  const validate = compileSchema(JSON.parse(text));
  validate(value);
  expect(validate.errors ?? [], name).to.deep.equal([]);
}
