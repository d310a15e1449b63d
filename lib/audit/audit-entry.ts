import { AUDIT_RESULTS } from '../common/wire/audit-kinds.js';
import type { AuditEntrySchema, AuditPageSchema } from '../common/wire/audit.js';
import type { Shape } from '../common/wire/shape.js';

export interface AuditEntry extends Shape<typeof AuditEntrySchema> {}

export type AuditAction = AuditEntry['action'];

export interface AuditPage extends Shape<typeof AuditPageSchema> {}

const [, REFUSED, FAILED] = AUDIT_RESULTS;

/** Returns the result of an action that was not done. */
export function toUnsuccessfulResult(isFaultOfServer: boolean): AuditEntry['result'] {
  return isFaultOfServer ? FAILED : REFUSED;
}
