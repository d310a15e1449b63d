import Type from 'typebox';
import { count, described, list, mapOf, nullable, text, Time, titled } from './shape.js';
import { AUDIT_ACTIONS, AUDIT_OBJECT_KINDS, AUDIT_RESULTS, AUDIT_WHO_KINDS } from './audit-kinds.js';

export const AuditEntrySchema = described(
  'AuditEntry',
  'Who did what to which object, from where, and with which result.',
  {
    id: text('Grows with time, and is never given again.'),
    time: Time,
    who: Type.Object({
      kind: Type.Enum([...AUDIT_WHO_KINDS]),
      name: nullable(
        Type.String(),
        'The name of the key, or the id of the definition with the schedule or webhook; else null.',
      ),
    }),
    action: Type.Enum([...AUDIT_ACTIONS]),
    object: Type.Object({
      kind: Type.Enum([...AUDIT_OBJECT_KINDS]),
      id: nullable(
        Type.String(),
        'The id of a run, a pipeline or a plan; the path of a route; null when there is no single one.',
      ),
    }),
    tenant_id: nullable(
      Type.String(),
      'Null for what belongs to no tenant, such as an attempt without a valid key.',
    ),
    address: nullable(
      Type.String(),
      'The IP address that the request came from, or of many different attempts its network; null without a request.',
    ),
    result: Type.Enum([...AUDIT_RESULTS]),
    status: nullable(Type.Integer(), 'The HTTP status of a request that was not done; else null.'),
    code: nullable(Type.String(), 'The code of its error; else null.'),
    details: mapOf(
      list(Type.String(), 'Names and ids, never values.'),
      'What else is known, such as the names of the secrets that a run was given.',
    ),
    count: count(
      'How many attempts of the same kind the entry stands for; the number of runs that were deleted.',
    ),
  },
);

export const AuditPageSchema = titled('AuditPage', {
  entries: list(
    AuditEntrySchema,
    'The newest first. A page may have fewer than asked for, or none, and be followed by another one.',
  ),
  next_cursor: nullable(text('Send it as `cursor` to get the next page.')),
});
