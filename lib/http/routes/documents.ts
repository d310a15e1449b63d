import Type from 'typebox';
import { pipelineJsonSchema, planJsonSchema } from '../../definition/schema/json-schema.js';
import { etagOfText, isKnown } from '../etag.js';
import { openApi } from '../open-api.js';
import { type Route, route } from '../route.js';
import { jsonObject } from '../schemas/wire.js';

/** What the server says about itself. `routes` answers all of them, these included. */
export function documentRoutes(version: string, routes: () => readonly Route[]): Route[] {
  return [
    document('/openapi.json', 'getOpenApi', 'This document', 'An OpenAPI 3.1 document.', () =>
      openApi(routes(), version),
    ),
    document(
      '/schemas/pipeline.json',
      'getPipelineSchema',
      'The JSON Schema of pipeline files, for editors',
      'A JSON Schema.',
      pipelineJsonSchema,
    ),
    document(
      '/schemas/plan.json',
      'getPlanSchema',
      'The JSON Schema of plan files, for editors',
      'A JSON Schema.',
      planJsonSchema,
    ),
  ];
}

/** A document that stays the same as long as the server runs. */
function document(
  path: string,
  id: string,
  summary: string,
  description: string,
  make: () => Record<string, unknown>,
): Route {
  let made: { body: Record<string, unknown>; etag: string } | undefined;
  return route({
    method: 'GET',
    path,
    id,
    tag: 'Documents',
    summary,
    access: 'open',
    headers: CONDITIONAL,
    answers: {
      200: {
        description,
        schema: jsonObject(description),
        headers: { ETag: 'Give it back as If-None-Match.', 'Cache-Control': '`no-cache`: ask again.' },
      },
      304: { description: 'The document is the one that is known already.' },
    },
    handle: ({ headers: { 'if-none-match': known } }) => {
      made ??= withEtag(make());
      const headers = { ETag: made.etag, 'Cache-Control': 'no-cache' };
      return isKnown(made.etag, known) ? { status: 304, headers } : { body: made.body, headers };
    },
  });
}

const CONDITIONAL = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({ description: 'The ETag of the document that is known already.' }),
  ),
});

function withEtag(body: Record<string, unknown>): { body: Record<string, unknown>; etag: string } {
  return { body, etag: etagOfText(JSON.stringify(body)) };
}
