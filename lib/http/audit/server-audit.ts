import type { AuditEvent } from '../../audit/audit-trail.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import { MemoryAuditStore } from '../../audit/memory-audit-store.js';
import type { LastDue } from '../../library/named-pipeline.js';
import type { SubmissionObserver, SubmittedRun } from '../../runs/registry-options.js';
import type { ServerOptions } from '../server-options.js';

/** Opens the audit of a server, in its store if there is one (D95). Rejects when the store cannot be read. */
export async function openAudit({ config, clock, store, auditLines }: ServerOptions): Promise<AuditTrail> {
  const { audit: limits } = config;
  return new AuditTrail({
    store: (await store?.openAudit?.(limits)) ?? new MemoryAuditStore(limits),
    limits,
    clock,
    onEntry: auditLines && ((entry) => auditLines.write(entry)),
  });
}

/** Makes the entries of runs that are accepted, whatever starts them, and of the names of the secrets that they are given. */
export function auditSubmissions(audit: AuditTrail): SubmissionObserver {
  return {
    onSubmitted: (run) => {
      const { rerun_of: earlier, pipeline_id: pipeline } = run;
      const details = { pipeline: [pipeline], ...(earlier !== null && { rerun_of: [earlier] }) };
      audit.record({ ...eventOf(run), action: earlier === null ? 'submit' : 'rerun', details });
    },
    onSecrets: (run, names) => {
      const details = { pipeline: [run.pipeline_id], secrets: names };
      audit.record({ ...eventOf(run), action: 'read_secrets', details });
    },
  };
}

function eventOf({
  run_id: id,
  tenant_id: tenantId,
  started_by: who,
  address,
}: SubmittedRun): Omit<AuditEvent, 'action'> {
  return { who, object: { kind: 'run', id }, tenantId, address, result: 'ok' };
}

/** Makes an entry of a time at which a schedule was due and started nothing; the run that it starts has an entry. */
export function auditSchedules(audit: AuditTrail): (tenantId: string, id: string, end: LastDue) => void {
  return (tenantId, id, { outcome }) => {
    if (outcome !== 'failed' && outcome !== 'skipped') return;
    audit.record({
      who: { kind: 'schedule', name: id },
      action: 'submit',
      object: { kind: 'pipeline', id },
      tenantId,
      result: outcome === 'failed' ? 'failed' : 'refused',
      code: outcome,
    });
  };
}
