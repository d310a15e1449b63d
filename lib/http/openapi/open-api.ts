import type { TSchema } from 'typebox';
import { apiDescription } from './api-description.js';
import { Components } from './components.js';
import { errorResponses, errorsOf } from './error-responses.js';
import type { AnswerDocument, Route } from '../routing/route.js';

type Schema = Record<string, unknown>;

/** What belongs together, and what it is. */
const TAGS: Readonly<Record<string, string>> = {
  Pipelines: 'What can be asked about a definition without running it.',
  Runs: 'Starting runs, looking at them, and what can be done with them.',
  Plans: 'Pipelines that pass values on to each other. Their runs are among the others.',
  Server: 'For those who operate the server.',
  Documents: 'What the server says about itself.',
};

/** The OpenAPI 3.1 document of a route table, its pages left out. */
export function openApi(routes: readonly Route[], version: string): Record<string, unknown> {
  const documented = routes.filter(({ isPage }) => isPage !== true);
  const components = new Components();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of documented) {
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
      description: apiDescription(),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This server.' }],
    tags: tagsOf(documented),
    paths,
    components: {
      schemas: components.schemas,
      examples: components.examples,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A key that the server knows.' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'The same in another header.',
        },
      },
    },
  };
}

function tagsOf(routes: readonly Route[]): Schema[] {
  const names = [...new Set(routes.map(({ tag }) => tag))];
  return names.map((name) => ({ name, ...(TAGS[name] !== undefined && { description: TAGS[name] }) }));
}

function operationOf(route: Route, components: Components): Schema {
  const { id, tag, summary, body } = route;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...descriptionOf(route),
    parameters: parametersOf(route, components),
    ...(body !== undefined && { requestBody: requestBodyOf(body, components) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, answer]) => [status, responseOf(answer, components)]),
      ),
      ...errorResponses(errorsOf(route), components),
    },
    security: securityOf(route),
  };
}

function descriptionOf({ description, access }: Route): { description?: string } {
  const told = [
    ...(description === undefined ? [] : [description]),
    ...(access === 'open' ? ['Needs no key.'] : []),
    ...(access === 'open' || access === 'any' ? [] : [`A key needs the scope \`${access}\`.`]),
  ];
  return told.length === 0 ? {} : { description: told.join('\n\n') };
}

/** Without keys in use everybody may; which is why nothing is among the choices. */
function securityOf({ access }: Route): Schema[] {
  if (access === 'open') return [];
  const roles = access === 'any' ? [] : [access];
  return [{}, { bearer: roles }, { apiKey: roles }];
}

function parametersOf({ params, query, headers }: Route, components: Components): Schema[] {
  const places = [
    ['path', params],
    ['query', query],
    ['header', headers],
  ] as const;
  return places.flatMap(([place, schema]) =>
    Object.entries(schema?.properties ?? {}).map(([name, property]) => {
      const { description, ...own } = property as TSchema & { description?: string };
      return {
        name: place === 'header' ? canonical(name) : name,
        in: place,
        required: new Set<string>(schema?.required ?? []).has(name),
        ...(description !== undefined && { description }),
        schema: components.of('title' in own ? property : own),
      };
    }),
  );
}

/** Routes declare headers in lower case, as they come; people write `If-None-Match`. */
function canonical(header: string): string {
  return header.replaceAll(/\bid\b|\b[a-z]/g, (part) => part.toUpperCase());
}

function requestBodyOf(body: NonNullable<Route['body']>, components: Components): Schema {
  const { schema, yaml, required = true, examples } = body;
  const asJson = {
    schema: components.of(schema),
    ...(examples && {
      examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
    }),
  };
  const asYaml = {
    schema: { type: 'string', description: 'The definition itself, as a YAML file holds it.' },
    example: yaml,
  };
  return {
    required,
    content: { 'application/json': asJson, ...(yaml !== undefined && { 'application/yaml': asYaml }) },
  };
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
