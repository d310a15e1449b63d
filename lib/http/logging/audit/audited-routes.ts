import type { AuditAction, AuditEntry } from '../../../audit/audit-entry.js';

/** How the requests of a route are audited (D95). */
export interface AuditedRoute {
  readonly action: AuditAction;
  readonly object: AuditEntry['object']['kind'];
  /** Starts runs: an accepted run makes its entry itself, as those of schedules do; the route only of what is refused. */
  readonly startsRun?: true;
}

const START = { action: 'submit', object: 'pipeline', startsRun: true } as const;

/**
 * The audited routes by their ids. Whatever changes something is here, and a spec compares the list with all routes. A refused
 * attempt (401, 403) at any other route is audited as `access`.
 */
export const AUDITED_ROUTES: Readonly<Record<string, AuditedRoute>> = {
  runPipeline: START,
  submitPipeline: START,
  runPlan: START,
  submitPlan: START,
  runNamedPipeline: START,
  submitNamedPipeline: START,
  startByWebhook: START,
  rerunRun: { action: 'rerun', object: 'run', startsRun: true },
  cancelRun: { action: 'cancel', object: 'run' },
  continueRun: { action: 'continue', object: 'run' },
  stepRun: { action: 'continue', object: 'run' },
  deleteRun: { action: 'delete', object: 'run' },
  deleteRuns: { action: 'delete', object: 'runs' },
  savePipelineFile: { action: 'save', object: 'pipeline' },
  pauseSchedule: { action: 'pause', object: 'pipeline' },
  resumeSchedule: { action: 'resume', object: 'pipeline' },
  reloadConfiguration: { action: 'reload', object: 'configuration' },
  backUpStore: { action: 'backup', object: 'store' },
};

/** Routes that change nothing although they do not only read: they check, ask or preview. */
export const UNAUDITED_ROUTES: readonly string[] = [
  'compilePipeline',
  'validatePipeline',
  'validatePlan',
  'drawPipeline',
  'previewRerun',
  'testPipeline',
];
