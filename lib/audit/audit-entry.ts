import type { AuditEntrySchema, AuditPageSchema } from '../common/wire/audit.js';
import { AUDIT_RESULTS } from '../common/wire/audit-kinds.js';
import type { Shape } from '../common/wire/shape.js';

export interface AuditEntry extends Shape<typeof AuditEntrySchema> {}

export type AuditAction = AuditEntry['action'];

export interface AuditPage extends Shape<typeof AuditPageSchema> {}

/** Returns the result of an action that was not done. */
export function toUnsuccessfulResult(isFaultOfServer: boolean): (typeof AUDIT_RESULTS)[number] {
  return AUDIT_RESULTS[isFaultOfServer ? 2 : 1];
}
