import fc from 'fast-check';
import { isObject } from '../../../lib/common/json/json.js';
import type { Operation } from '../../support/http/open-api-document.js';
import { GARBAGE, mutateSome } from './mutation.js';
import type { SchemaArbitrary } from './schema-arbitrary.js';

/** A request as it is sent. */
export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: unknown;
}

/** Generates requests of one operation, named as in `GET /health`: valid ones, and ones with small mistakes. */
export function createRequestArbitrary(
  name: string,
  operation: Operation,
  schemas: SchemaArbitrary,
): fc.Arbitrary<FuzzRequest> {
  const [method = '', template = ''] = name.split(' ');
  const parameters: readonly Parameter[] = operation.parameters;
  const createParameters = (place: string): fc.Arbitrary<Record<string, unknown>> =>
    fc.record(
      Object.fromEntries(
        parameters
          .filter((parameter) => parameter.in === place)
          .map((parameter) => [
            parameter.name,
            rarely(GARBAGE, schemas.of(parameter.schema, parameter.name)),
          ]),
      ),
      place === 'path' ? {} : { requiredKeys: [] },
    );
  return fc
    .record({
      inPath: createParameters('path'),
      query: rarely(fc.dictionary(fc.string(), GARBAGE, { maxKeys: 2 }), createParameters('query')),
      inHeaders: createParameters('header'),
      accept: rarely(
        fc.constantFrom('text/plain', 'text/html', 'x/y;q=0', '*/*;q=', 'application/json;q=0.1'),
      ),
      sent: createBodies(operation, schemas),
    })
    .map(({ inPath, query, inHeaders, accept, sent }) => ({
      method,
      path: formatPath(template, inPath) + formatQuery(query),
      headers: formatHeaders({ ...inHeaders, accept, ...sent.headers }),
      ...(sent.body !== undefined && { body: sent.body }),
    }));
}

function rarely<T>(some: fc.Arbitrary<T>, usual?: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 1, arbitrary: some }, { weight: 6, arbitrary: usual ?? fc.constant(undefined) });
}

interface Sent {
  readonly headers: Record<string, string>;
  readonly body?: string;
}

function createBodies({ requestBody }: Operation, schemas: SchemaArbitrary): fc.Arbitrary<Sent> {
  const json = requestBody?.content['application/json'];
  if (json === undefined) return fc.constant({ headers: {} });
  const values = mutateSome(schemas.of(json.schema).map(withOneDefinition));
  const texts = values.map((value) => JSON.stringify(value) ?? '');
  const broken = fc.tuple(texts, fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1)));
  const typed = (type: string, text: fc.Arbitrary<string>): fc.Arbitrary<Sent> =>
    text.map((body) => ({ headers: { 'content-type': type }, body }));
  return fc.oneof(
    { weight: 12, arbitrary: typed('application/json', texts) },
    typed('application/json', broken),
    typed('application/json', fc.string({ unit: 'binary' })),
    // JSON is YAML. A YAML body is the definition alone.
    typed(
      'application/yaml',
      values.map((value) => JSON.stringify(pickDefinition(value))),
    ),
    typed('application/yaml', fc.string({ unit: 'grapheme' })),
    typed('text/plain', texts),
    fc.constant({ headers: {} }),
  );
}

/** Drops `yaml` from a body that has two definitions. */
function withOneDefinition(value: unknown): unknown {
  if (!isObject(value) || !('yaml' in value) || !('pipeline' in value || 'plan' in value)) return value;
  const { yaml: _, ...rest } = value;
  return rest;
}

function pickDefinition(value: unknown): unknown {
  return isObject(value) ? (value['pipeline'] ?? value['plan'] ?? value) : value;
}

function formatPath(template: string, values: Record<string, unknown>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(toText(values[name])));
}

/** Avoids segments such as `..`, which would change the path. */
function segment(text: string): string {
  return encodeURIComponent(/^\.{0,2}$/.test(text) ? 'none' : text.slice(0, 2000));
}

function formatQuery(values: Record<string, unknown> = {}): string {
  const pairs = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `${encodeURIComponent(wellFormed(name))}=${encodeURIComponent(toText(value).slice(0, 2000))}`,
    );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** Formats headers, replacing the characters that no HTTP client can send. */
function formatHeaders(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [
        name,
        toText(value)
          .replaceAll(/[^\u0020-\u007e\u00a0-\u00ff]/g, '~')
          .slice(0, 2000),
      ]),
  );
}

function toText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return wellFormed(text);
}

/** Half a character cannot be sent. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}
