import { nearest } from '../definition/suggest.js';
import { isObject, kindOf } from '../common/json.js';
import { SCOPES } from './caller.js';
import { TENANT_ID } from './tenant-id.js';

/** Stands in `tenants`, alone, for every tenant. */
export const EVERY_TENANT = '*';

/** Says what is wrong with a field of a key; undefined when nothing is. It never repeats what may be a secret. */
type Fault = (value: unknown) => string | undefined;

const LONGEST_NAME = 128;
const HASH = /^[0-9a-f]{64}$/i;
const TENANT = new RegExp(TENANT_ID);
// Control characters, and those that turn a line of the log around.
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

const nameFault: Fault = (value) => {
  if (typeof value !== 'string') return `name must be text, not ${described(value)}`;
  if (value.trim() === '') return 'name must not be empty';
  if (value.length > LONGEST_NAME) return `name is longer than ${LONGEST_NAME} characters`;
  return UNPRINTABLE.test(value) ? 'name holds a character that cannot be printed' : undefined;
};

const hashFault: Fault = (value) =>
  typeof value === 'string' && HASH.test(value)
    ? undefined
    : 'sha256 must be the SHA-256 of the key in 64 hexadecimal digits, in quotes';

const tenantsFault: Fault = (value) => {
  const fault = listFault('tenants', value);
  if (fault !== undefined || !Array.isArray(value)) return fault;
  if (value.includes(EVERY_TENANT) && value.length > 1) return '"*" is every tenant, and stands alone';
  const wrong: unknown = value.find(
    (tenant) => tenant !== EVERY_TENANT && !(typeof tenant === 'string' && TENANT.test(tenant)),
  );
  return wrong === undefined ? undefined : `${described(wrong)} is no tenant: it must match ${TENANT_ID}`;
};

const scopesFault: Fault = (value) => {
  const fault = listFault('scopes', value);
  if (fault !== undefined || !Array.isArray(value)) return fault;
  const wrong: unknown = value.find((scope) => !SCOPES.some((known) => known === scope));
  if (wrong === undefined) return undefined;
  const meant = typeof wrong === 'string' ? nearest(wrong, SCOPES) : undefined;
  const hint = meant === undefined ? `the scopes are ${SCOPES.join(', ')}` : `did you mean ${meant}?`;
  return `there is no scope ${described(wrong)}: ${hint}`;
};

/** Every field that a key has. */
export const KEY_FAULTS = {
  name: nameFault,
  sha256: hashFault,
  tenants: tenantsFault,
  scopes: scopesFault,
} satisfies Record<string, Fault>;

export const KEY_FIELDS = ['name', 'sha256', 'tenants', 'scopes'] as const;

function listFault(name: string, value: unknown): string | undefined {
  if (!Array.isArray(value)) return `${name} must be a list, not ${described(value)}`;
  return value.length === 0 ? `${name} must not be empty` : undefined;
}

function described(value: unknown): string {
  if (isObject(value) || Array.isArray(value) || value === null) return kindOf(value);
  return JSON.stringify(value) ?? 'nothing';
}
