import { STARTED_BY_KINDS } from './started-by.js';

/** The audited actions (D95). `access` is a refused attempt at anything else; `read_secrets` names what a run was given. */
export const AUDIT_ACTIONS = [
  'submit',
  'rerun',
  'cancel',
  'continue',
  'delete',
  'save',
  'pause',
  'resume',
  'read_secrets',
  'reload',
  'backup',
  'access',
] as const;

/** The kinds of callers that start runs (D75), and `server` for actions of the process itself, such as a reload. */
export const AUDIT_WHO_KINDS = [...STARTED_BY_KINDS, 'server'] as const;

export const AUDIT_OBJECT_KINDS = ['run', 'runs', 'pipeline', 'configuration', 'store', 'path'] as const;

/** `refused`: the caller lacks the right, or the state of the object forbids the action. `failed`: the server is at fault. */
export const AUDIT_RESULTS = ['ok', 'refused', 'failed'] as const;
