import type { AuditEntry } from '../../../lib/audit/audit-entry.js';
import { pathOfRun } from '../../../lib/common/wire/run-summary.js';
import { formatStartedBy } from '../../../lib/common/wire/started-by.js';
import { formatInteger, formatTime } from '../../shared/model/format.js';
import type { AuditFilters } from './audit-filters.js';

interface EntryTableProps {
  readonly entries: readonly AuditEntry[];
  readonly onFilter: (changed: Partial<AuditFilters>) => void;
}

/** The entries as a table, whose buttons show only entries of the same kind. */
export function EntryTable({ entries, onFilter }: EntryTableProps) {
  const hasTenants = entries.some(({ tenant_id }) => tenant_id !== entries[0]?.tenant_id);
  return (
    <div class="wide">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Who</th>
            <th scope="col">Action</th>
            <th scope="col">Object</th>
            <th scope="col">Result</th>
            {hasTenants && <th scope="col">Tenant</th>}
            <th scope="col">Address</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <AuditRow key={entry.id} entry={entry} hasTenants={hasTenants} onFilter={onFilter} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface AuditRowProps extends Pick<EntryTableProps, 'onFilter'> {
  readonly entry: AuditEntry;
  readonly hasTenants: boolean;
}

function AuditRow({ entry, hasTenants, onFilter }: AuditRowProps) {
  const { time, who, action, object, result, status, code, tenant_id: tenant, address, count } = entry;
  return (
    <tr>
      <td class="number">
        <time dateTime={time}>{formatTime(time)}</time>
      </td>
      <td>
        <FilterButton
          text={formatStartedBy(who)}
          onClick={() => onFilter({ who: who.name === null ? who.kind : `${who.kind}:${who.name}` })}
        />
      </td>
      <td>
        <FilterButton text={action} onClick={() => onFilter({ action })} />
      </td>
      <td class="audit-object">
        <AuditObject object={object} onFilter={onFilter} />
        <AuditDetails entry={entry} />
      </td>
      <td>
        <span class={`badge ${TONES[result]}`} title={code ?? undefined}>
          {result}
          {status !== null && ` ${status}`}
        </span>
        {result !== 'ok' && count > 1 && <span class="src"> × {formatInteger(count)}</span>}
      </td>
      {hasTenants && (
        <td>{tenant !== null && <FilterButton text={tenant} onClick={() => onFilter({ tenant })} />}</td>
      )}
      <td class="number">{address}</td>
    </tr>
  );
}

const TONES = { ok: 'succeeded', refused: 'paused', failed: 'failed' } as const;

function FilterButton({ text, onClick }: { readonly text: string; readonly onClick: () => void }) {
  return (
    <button type="button" class="link" title="Show only such entries" onClick={onClick}>
      <bdi>{text}</bdi>
    </button>
  );
}

/** A run leads to its page; another object shows its entries. */
function AuditObject({
  object: { kind, id },
  onFilter,
}: Pick<AuditEntry, 'object'> & Pick<EntryTableProps, 'onFilter'>) {
  if (id === null) return <span>{kind}</span>;
  const show = (): void => onFilter({ object: `${kind}:${id}` });
  if (kind !== 'run') return <FilterButton text={`${kind} ${id}`} onClick={show} />;
  return (
    <>
      <a href={pathOfRun(id)} title={id}>
        run <code>{id.slice(-12)}</code>
      </a>{' '}
      <FilterButton text="entries" onClick={show} />
    </>
  );
}

/** Names of secrets, filters, versions, and the like. */
function AuditDetails({ entry: { details, action, count, object } }: { readonly entry: AuditEntry }) {
  const facts = Object.entries(details).map(
    ([name, values]) => `${name.replaceAll('_', ' ')}: ${values.join(', ')}`,
  );
  if (action === 'delete' && object.kind === 'runs') facts.unshift(`${formatInteger(count)} deleted`);
  if (facts.length === 0) return null;
  return (
    <span class="audit-details">
      <bdi>{facts.join(' · ')}</bdi>
    </span>
  );
}
