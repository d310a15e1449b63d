import Type from 'typebox';
import { pipelineNotFound, RESERVED_IDS } from '../../../library/read-definition.js';
import { canUseTenant, type Caller, resolveTenant } from '../../auth/authenticate.js';
import { TenantId } from '../../schemas/request.js';
import type { HttpServices, LibraryServices } from '../../services.js';
import { closedObject } from '../../schemas/fields.js';

/** The path of one pipeline or plan of the folder; runs and tools are found beside them. */
export const NAMED_PATH = {
  path: '/pipelines/{id}',
  reserved: RESERVED_IDS,
  params: Type.Object({
    id: Type.String({ description: 'The id of the pipeline or the plan, as in its file.' }),
  }),
} as const;

/** @throws WavetrainError `pipeline_not_found` when the server has no folder */
export function requireLibrary({ library }: HttpServices, id: string): LibraryServices {
  if (library === undefined) throw pipelineNotFound(id);
  return library;
}

/** The query of requests that have no body for the tenant. */
export const TenantQuery = closedObject({ tenant_id: Type.Optional(TenantId) });

/** The tenant of a request; pipelines of other tenants are reported as not found (D37). */
export function findTenant(caller: Caller, requested: string | undefined, id: string): string {
  if (requested !== undefined && !canUseTenant(caller, requested)) throw pipelineNotFound(id);
  return resolveTenant(caller, requested);
}
