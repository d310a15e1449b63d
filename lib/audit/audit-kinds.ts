import { STARTED_BY_KINDS } from '../common/wire/started-by.js';

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

/** Whoever starts runs (D75), and `server` for what the process does at the wish of its operator. */
export const AUDIT_WHO_KINDS = [...STARTED_BY_KINDS, 'server'] as const;

export const AUDIT_OBJECT_KINDS = ['run', 'runs', 'pipeline', 'configuration', 'store', 'path'] as const;

/** `ok`: it was done; `refused`: the caller could not have it, or the object was not so; `failed`: the server could not. */
export const AUDIT_RESULTS = ['ok', 'refused', 'failed'] as const;

/** The result of what was not done: by fault of the server, or because it could not be had. */
export function notDone(isFaultOfServer: boolean): (typeof AUDIT_RESULTS)[number] {
  return AUDIT_RESULTS[isFaultOfServer ? 2 : 1];
}
