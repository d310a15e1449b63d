import { toUnsuccessfulResult } from '../../../audit/audit-entry.js';
import type { AuditEvent } from '../../../audit/audit-store.js';
import { AuditTrail } from '../../../audit/audit-trail.js';
import { MemoryAuditStore } from '../../../audit/memory-audit-store.js';
import { UNKNOWN_TENANT } from '../../../common/scheduling/event-loop-scheduler.js';
import type { LastDue } from '../../../library/named-pipeline.js';
import type { SubmissionObserver, RequestedSubmission } from '../../../runs/registry-options.js';
import type { Reload } from '../../reload.js';
import type { ServerOptions } from '../../server-options.js';

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
}: RequestedSubmission): Omit<AuditEvent, 'action'> {
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
      result: toUnsuccessfulResult(outcome === 'failed'),
      details: { outcome: [outcome] },
    });
  };
}

/** Makes the entries of an attempt to read the configuration again: one for each kind that has changed, or one that it failed. */
export function auditReload(audit: AuditTrail, { cause, error, changes }: Reload): void {
  const event = { who: { kind: 'server', name: null }, action: 'reload', tenantId: UNKNOWN_TENANT } as const;
  if (error !== null) {
    const object = { kind: 'configuration', id: null } as const;
    audit.record({ ...event, object, result: toUnsuccessfulResult(true), details: { cause: [cause] } });
    return;
  }
  for (const { kind, ...names } of changes) {
    const object = { kind: 'configuration', id: kind } as const;
    const changed = Object.entries(names).filter(([, list]) => list.length > 0);
    audit.record({
      ...event,
      object,
      result: 'ok',
      details: { cause: [cause], ...Object.fromEntries(changed) },
    });
  }
}
