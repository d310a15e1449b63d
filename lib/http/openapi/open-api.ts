import type { TSchema } from 'typebox';
import { Components, mapValues } from './components.js';
import { documentErrors, listErrorCodes } from './error-responses.js';
import type { ResponseDocument, Route } from '../routing/route.js';

type Schema = Record<string, unknown>;

/** Short, so that the page at `/docs` shows the first operation without scrolling: `docs/http.md` is the guide. */
const DESCRIPTION = [
  'Runs pipelines of tool calls, and plans of several pipelines. `POST /pipelines/run` responds with the result of the',
  'run, `POST /pipelines/run_async` at once with its `run_id`. Bodies are JSON in UTF-8, or a definition alone as YAML;',
  'responses may get further fields: ignore unknown ones. The guide is `docs/http.md` in the package `wavetrain`.',
].join('\n');

/** Groups of operations, with their descriptions. */
const TAGS: Readonly<Record<string, string>> = {
  Pipelines: 'Validate and draw pipelines, and list tools. Nothing is run.',
  Runs: 'Start, inspect, cancel, rerun and delete runs.',
  Library:
    'The pipelines and plans that the server has in its folder: list and run them, start them by webhooks, save their files.',
  Plans:
    'Validate and run plans: pipelines that pass values to each other. Their runs are listed among all runs.',
  Server: 'Health, readiness and metrics, for operators.',
  Documents: 'The OpenAPI document, and JSON Schemas of the definition files.',
};

/** Creates the OpenAPI 3.1 document of all routes except pages. */
export function createOpenApiDocument(routes: readonly Route[], version: string): Record<string, unknown> {
  const documented = routes.filter(({ isPage }) => isPage !== true);
  const components = new Components();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of documented) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: createOperation(route, components),
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
    servers: [{ url: '/', description: 'This server.' }],
    tags: listTags(documented),
    paths,
    components: {
      schemas: components.schemas,
      examples: components.examples,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: API_KEY },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: `${API_KEY} The same key in another header.`,
        },
      },
    },
  };
}

const API_KEY =
  'An API key of the server. It has tenants, whose runs it can see and start, and scopes: `read`, `run`, `edit`, `metrics` and `admin`. By default, a server on a loopback address needs no keys.';

function listTags(routes: readonly Route[]): Schema[] {
  const names = [...new Set(routes.map(({ tag }) => tag))];
  return names.map((name) => ({ name, ...(TAGS[name] !== undefined && { description: TAGS[name] }) }));
}

function createOperation(route: Route, components: Components): Schema {
  const { id, tag, summary, body } = route;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...createDescription(route),
    parameters: createParameters(route, components),
    ...(body !== undefined && { requestBody: createRequestBody(body, components) }),
    responses: {
      ...mapValues(route.responses, (response) => createResponse(response, components)),
      ...documentErrors(listErrorCodes(route), components),
    },
    security: createSecurity(route),
  };
}

function createDescription({ description, access }: Route): { description?: string } {
  const sentences = [
    ...(description === undefined ? [] : [description]),
    ...(access === 'open' ? ['No API key is needed.'] : []),
    ...(access === 'open' || access === 'any' ? [] : [`The API key needs the scope \`${access}\`.`]),
  ];
  return sentences.length === 0 ? {} : { description: sentences.join('\n\n') };
}

/** The empty alternative is for servers without keys. */
function createSecurity({ access }: Route): Schema[] {
  if (access === 'open') return [];
  const roles = access === 'any' ? [] : [access];
  return [{}, { bearer: roles }, { apiKey: roles }];
}

function createParameters({ params, query, headers }: Route, components: Components): Schema[] {
  const locations = [
    ['path', params],
    ['query', query],
    ['header', headers],
  ] as const;
  return locations.flatMap(([location, schema]) =>
    Object.entries(schema?.properties ?? {}).map(([name, property]) => {
      const { description, ...own } = property as TSchema & { description?: string };
      return {
        name: location === 'header' ? capitalizeHeader(name) : name,
        in: location,
        required: new Set<string>(schema?.required ?? []).has(name),
        ...(description !== undefined && { description }),
        schema: components.addSchema('title' in own ? property : own),
      };
    }),
  );
}

/** Routes declare headers in lower case; the document shows `If-None-Match`. */
function capitalizeHeader(header: string): string {
  return header.replaceAll(/\bid\b|\b[a-z]/g, (part) => part.toUpperCase());
}

function createRequestBody(body: NonNullable<Route['body']>, components: Components): Schema {
  const { schema, yaml, required = true, examples } = body;
  const asJson = {
    schema: components.addSchema(schema),
    ...(examples && { examples: mapValues(examples, (value) => ({ value })) }),
  };
  const asYaml = {
    schema: { type: 'string', description: 'The definition alone, like a YAML file.' },
    example: yaml,
  };
  return {
    required,
    content: { 'application/json': asJson, ...(yaml !== undefined && { 'application/yaml': asYaml }) },
  };
}

function createResponse(
  { description, schema, media = {}, headers = {} }: ResponseDocument,
  components: Components,
): Schema {
  const content = {
    ...(schema !== undefined && { 'application/json': { schema: components.addSchema(schema) } }),
    ...mapValues(media, (example) => ({ schema: { type: 'string' }, example })),
  };
  const described = mapValues(headers, (text) => ({ description: text, schema: { type: 'string' } }));
  return {
    description,
    ...(Object.keys(described).length > 0 && { headers: described }),
    ...(Object.keys(content).length > 0 && { content }),
  };
}
