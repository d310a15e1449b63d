import type { KeyUse, PlanStatistics } from '../../plans/statistics.js';
import type { Style, Terminal } from './terminal.js';
import { oneLine, padTo, plural, widthOf, wrap } from './text.js';

/** People do not read more; a file or pipe gets all. */
const MOST_SHOWN = 50;
/** A last column that is narrower is hard to read. */
const NARROWEST = 16;

/** A sound plan for people: its order, its waves, and who stores and who reads each key. */
export function planStatisticLines(
  statistics: PlanStatistics,
  { interactive, columns }: Terminal,
  style: Style,
): string[] {
  const { order, wave_ids, keys } = statistics;
  const room = interactive ? columns - 1 : Number.POSITIVE_INFINITY;
  const most = interactive ? MOST_SHOWN : Number.POSITIVE_INFINITY;
  const fact = (name: string, value: string | number): string[] =>
    wrapped(`  ${style.dim(`${name}:`)} `, name.length + 4, oneLine(String(value)), room);
  return [
    ...fact('id', statistics.id),
    ...fact('goal', statistics.goal),
    ...fact('sub_pipelines', statistics.sub_pipelines),
    ...fact('inputs_count', statistics.inputs_count),
    ...fact('order', listed(order, ' -> ', most)),
    ...fact('waves', statistics.waves),
    ...waveLines(wave_ids, { room, most }, style),
    ...fact('plan_concurrency', statistics.plan_concurrency),
    ...fact('tasks', statistics.tasks),
    ...(keys.length === 0 ? [] : ['', ...keyLines(keys, { room, most }, style)]),
  ];
}

interface Limits {
  readonly room: number;
  readonly most: number;
}

function waveLines(waves: PlanStatistics['wave_ids'], { room, most }: Limits, style: Style): string[] {
  const last = String(Math.min(waves.length, most)).length;
  const shown = waves.slice(0, most).flatMap((ids, index) => {
    const number = String(index + 1).padStart(last);
    return wrapped(`    ${style.dim(`${number}:`)} `, last + 6, listed(ids, ', ', most), room);
  });
  return [...shown, ...moreLine(waves.length - most, 'wave', style)];
}

const HEADINGS: Row = ['key', 'stored by', 'read by'];

type Row = readonly [key: string, storedBy: string, readBy: string];

/** A table where it fits, otherwise one key below the other. */
function keyLines(keys: readonly KeyUse[], { room, most }: Limits, style: Style): string[] {
  const rows = keys
    .slice(0, most)
    .map(
      (use): Row => [
        oneLine(use.key),
        use.stored_by ?? '(given)',
        use.read_by.length === 0 ? '-' : listed(use.read_by, ', ', most),
      ],
    );
  const more = moreLine(keys.length - most, 'key', style);
  const [key, storedBy, readBy] = [0, 1, 2].map((column) => widest([HEADINGS, ...rows], column));
  const before = 2 + (key ?? 0) + 2 + (storedBy ?? 0) + 2;
  if (room - before < Math.min(NARROWEST, readBy ?? 0)) {
    return [...rows.flatMap((row) => stacked(row, room, style)), ...more];
  }
  const line = ([name, writer, readers]: Row, paint: (text: string) => string): string[] => {
    const head = `  ${padTo(name, key ?? 0)}  ${padTo(writer, storedBy ?? 0)}  `;
    return wrapped(head, before, readers, room).map(paint);
  };
  return [...line(HEADINGS, style.dim), ...rows.flatMap((row) => line(row, style.plain)), ...more];
}

function stacked([key, storedBy, readBy]: Row, room: number, style: Style): string[] {
  return [
    `  ${style.cyan(key)}`,
    ...wrapped(`    ${style.dim('stored by')} `, 14, storedBy, room),
    ...wrapped(`    ${style.dim('read by')} `, 12, readBy, room),
  ];
}

/** `head` and the text after it, which goes on below itself where it does not fit. */
function wrapped(head: string, columns: number, text: string, room: number): string[] {
  if (!Number.isFinite(room)) return [`${head}${text}`];
  const indent = Math.min(columns, 6);
  const [first = '', ...others] = wrap(text, Math.max(10, room - columns));
  const rest = wrap(others.join(' '), Math.max(10, room - indent));
  return [`${head}${first}`, ...rest.map((line) => ' '.repeat(indent) + line)];
}

function widest(rows: readonly Row[], column: number): number {
  return rows.reduce((most, row) => Math.max(most, widthOf(row[column] ?? '')), 0);
}

function listed(names: readonly string[], separator: string, most: number): string {
  const more = names.length - most;
  return names.slice(0, most).join(separator) + (more > 0 ? `${separator}… ${more} more` : '');
}

function moreLine(count: number, noun: string, style: Style): string[] {
  return count > 0 ? [`  ${style.dim(`… ${plural(count, `more ${noun}`)}; a pipe or --json gets all`)}`] : [];
}
