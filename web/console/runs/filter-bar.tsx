import { formatInteger } from '../../shared/model/format.js';
import { type Period, PERIODS, type RunFilters } from './run-filters.js';
import type { RunPage } from '../../../lib/runs/views/run-listing.js';

const STATUSES = ['queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled'] as const;

const PERIOD_TITLES: Readonly<Record<Period, string>> = {
  any: 'any time',
  hour: 'last hour',
  day: 'last 24 hours',
  week: 'last 7 days',
};

interface FilterBarProps {
  readonly filters: RunFilters;
  /** Numbers of runs by status; undefined until they are known. */
  readonly counts: RunPage['counts'];
  readonly onChange: (changed: Partial<RunFilters>) => void;
}

/** Filters of the list: a button for each status with the number of its runs, a text, a time; and what links have set. */
export function FilterBar({ filters, counts, onChange }: FilterBarProps) {
  return (
    <div class="filters" role="search" aria-label="Filter the runs">
      <div class="statuses" role="group" aria-label="Status">
        <button type="button" aria-pressed={filters.status === ''} onClick={() => onChange({ status: '' })}>
          All
        </button>
        {STATUSES.map((status) => {
          const count = counts?.[status] ?? 0;
          const isOn = filters.status === status;
          return (
            <button
              key={status}
              type="button"
              aria-pressed={isOn}
              class={count === 0 && !isOn ? 'none' : undefined}
              onClick={() => onChange({ status: isOn ? '' : status })}
            >
              {status}{' '}
              <span class={`count${count > 0 && status === 'failed' ? ' failed' : ''}`}>
                {formatInteger(count)}
              </span>
            </button>
          );
        })}
      </div>
      <input
        type="search"
        aria-label="Search in ids, goals, errors and labels"
        placeholder="Search in ids, goals, errors and labels"
        maxLength={200}
        value={filters.text}
        onInput={(event) => onChange({ text: event.currentTarget.value })}
      />
      <PeriodSelect period={filters.period} onChange={onChange} />
      <Chosen name="pipeline" value={filters.pipeline} onClear={() => onChange({ pipeline: '' })} />
      <Chosen name="tenant" value={filters.tenant} onClear={() => onChange({ tenant: '' })} />
      <Chosen name="trigger" value={filters.trigger} onClear={() => onChange({ trigger: '' })} />
      <Chosen name="label" value={filters.label} onClear={() => onChange({ label: '' })} />
      <Chosen name="started by" value={filters.started_by} onClear={() => onChange({ started_by: '' })} />
    </div>
  );
}

interface PeriodSelectProps {
  readonly period: Period;
  readonly onChange: (changed: { readonly period: Period }) => void;
}

/** Selects for how long back a list goes. */
export function PeriodSelect({ period: selected, onChange }: PeriodSelectProps) {
  return (
    <select
      aria-label="Time"
      value={selected}
      onChange={(event) => onChange({ period: event.currentTarget.value as Period })}
    >
      {Object.keys(PERIODS).map((period) => (
        <option key={period} value={period}>
          {PERIOD_TITLES[period as Period]}
        </option>
      ))}
    </select>
  );
}

interface ChosenProps {
  readonly name: string;
  readonly value: string;
  readonly onClear: () => void;
}

/** A filter that was set by a link, and can be taken away. */
export function Chosen({ name, value, onClear }: ChosenProps) {
  if (value === '') return null;
  return (
    <button type="button" class="chosen" aria-label={`Do not filter by ${name}`} onClick={onClear}>
      {name} <bdi>{value}</bdi> ×
    </button>
  );
}
