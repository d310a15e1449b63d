import type { TSchema } from 'typebox';
import { PipelineDefinition } from '../definition/schema.js';
import type { ErrorCode } from '../errors.js';
import { isObject } from '../json.js';
import { STATUS_OF_CODE } from './error-status.js';
import type { AnswerDocument, Route } from './route.js';
import { ErrorBodySchema } from './schemas/error.js';
import { ExecutionOptionsDocument } from './schemas/request.js';

type Schema = Record<string, unknown>;

/** What stands in the documents for values that code judges, by their titles. */
const IN_PLACE_OF: Readonly<Record<string, TSchema>> = {
  Pipeline: PipelineDefinition,
  ExecutionOptions: ExecutionOptionsDocument,
};

const DESCRIPTION = [
  'Runs pipelines of tool calls in concurrent waves.',
  '',
  'Submit a pipeline with `POST /pipelines/run` and wait for its result, or with `POST /pipelines/run_async` and poll',
  '`GET /pipelines/runs/{run_id}` until `settled` is true. Every error has the body `{"detail": {"code", "message"}}`.',
].join('\n');

/** The OpenAPI 3.1 document of a route table. */
export function openApi(routes: readonly Route[], version: string): Record<string, unknown> {
  const components = new Components();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operationOf(route, components),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Wavetrain',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components.schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
    },
  };
}

/** Schemas with a title stand in one place, and are referred to from everywhere else. */
class Components {
  readonly schemas: Record<string, unknown> = {};

  of(schema: TSchema): Schema {
    return this.#refer(JSON.parse(JSON.stringify(schema))) as Schema;
  }

  #refer(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((part) => this.#refer(part));
    if (!isObject(schema)) return schema;
    const { title } = schema;
    if (typeof title !== 'string') return this.#within(schema);
    if (this.schemas[title] === undefined) {
      this.schemas[title] = {};
      this.schemas[title] = this.#within(definitionOf(title, schema));
    }
    return { $ref: `#/components/schemas/${title}` };
  }

  #within(schema: Schema): Schema {
    return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, this.#refer(part)]));
  }
}

function definitionOf(title: string, { title: _, ...schema }: Schema): Schema {
  const other = IN_PLACE_OF[title];
  return other === undefined ? schema : (JSON.parse(JSON.stringify(other)) as Schema);
}

function operationOf(route: Route, components: Components): Record<string, unknown> {
  const { id, tag, summary, description, body, access } = route;
  const errors = errorsOf(route);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    parameters: parametersOf(route, components),
    ...(body !== undefined && { requestBody: requestBodyOf(body, components) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, answer]) => [status, responseOf(answer, components)]),
      ),
      ...errorResponses(errors, components),
    },
    security: access === 'open' ? [] : [{}, { bearer: [] }, { apiKey: [] }],
  };
}

function parametersOf({ params, query, headers }: Route, components: Components): unknown[] {
  const places = [
    ['path', params],
    ['query', query],
    ['header', headers],
  ] as const;
  return places.flatMap(([place, schema]) =>
    Object.entries(schema?.properties ?? {}).map(([name, property]) => {
      const { description, ...rest } = components.of(property as TSchema);
      const required = new Set<string>(schema?.required ?? []).has(name);
      return { name, in: place, required, ...(description !== undefined && { description }), schema: rest };
    }),
  );
}

function requestBodyOf(body: NonNullable<Route['body']>, components: Components): Schema {
  const { schema, yaml = false, required = true, examples } = body;
  const asJson = {
    schema: components.of(schema),
    ...(examples && {
      examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
    }),
  };
  const asYaml = {
    schema: { type: 'string', description: 'The definition itself, as a YAML file holds it.' },
  };
  return { required, content: { 'application/json': asJson, ...(yaml && { 'application/yaml': asYaml }) } };
}

function responseOf(
  { description, schema, media = {}, headers = {} }: AnswerDocument,
  components: Components,
): Schema {
  const content = {
    ...(schema !== undefined && { 'application/json': { schema: components.of(schema) } }),
    ...Object.fromEntries(
      Object.entries(media).map(([type, example]) => [type, { schema: { type: 'string' }, example }]),
    ),
  };
  const documented = Object.entries(headers).map(([name, about]) => [
    name,
    { description: about, schema: { type: 'string' } },
  ]);
  return {
    description,
    ...(documented.length > 0 && { headers: Object.fromEntries(documented) }),
    ...(Object.keys(content).length > 0 && { content }),
  };
}

/** Every error code that a route can answer with. */
export function errorsOf({ access, body, query, params, errors = [] }: Route): ErrorCode[] {
  const asksFor = access === 'open' ? [] : (['unauthorized', 'forbidden'] as const);
  const ofBody =
    body === undefined ? [] : (['request_timeout', 'body_too_large', 'unsupported_media_type'] as const);
  const ofText = body || query || params ? (['invalid_request'] as const) : [];
  const always = ['foreign_host', 'foreign_origin', 'not_acceptable', 'internal'] as const;
  return [...new Set([...errors, ...ofText, ...asksFor, ...ofBody, ...always])];
}

function errorResponses(codes: readonly ErrorCode[], components: Components): Schema {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes)
    byStatus.set(STATUS_OF_CODE[code], [...(byStatus.get(STATUS_OF_CODE[code]) ?? []), code]);
  const schema = components.of(ErrorBodySchema);
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => [
      status,
      {
        description: all.map((code) => `\`${code}\``).join(', '),
        content: { 'application/json': { schema } },
      },
    ]),
  );
}
