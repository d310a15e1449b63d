import { pipelineJsonSchema } from '../../definition/json-schema.js';
import { openApi } from '../open-api.js';
import { type Route, route } from '../route.js';
import { jsonObject } from '../schemas/wire.js';

/** What the server says about itself. `routes` answers all of them, these included. */
export function documentRoutes(version: string, routes: () => readonly Route[]): Route[] {
  let document: Record<string, unknown> | undefined;
  return [
    route({
      method: 'GET',
      path: '/openapi.json',
      id: 'getOpenApi',
      tag: 'Documents',
      summary: 'This document',
      access: 'open',
      answers: { 200: { description: 'OpenAPI 3.1.', schema: jsonObject('An OpenAPI document.') } },
      handle: () => {
        document ??= openApi(routes(), version);
        return { body: document };
      },
    }),
    route({
      method: 'GET',
      path: '/schemas/pipeline.json',
      id: 'getPipelineSchema',
      tag: 'Documents',
      summary: 'The JSON Schema of pipeline files, for editors',
      access: 'open',
      answers: { 200: { description: 'JSON Schema.', schema: jsonObject('A JSON Schema.') } },
      handle: () => ({ body: pipelineJsonSchema() }),
    }),
  ];
}
