import { formatCount } from '../../common/text.js';
import type { KeyUse, PlanStatistics } from '../../plans/statistics.js';
import type { Style, Terminal } from './terminal.js';
import { displayWidth, padToWidth, toSingleLine, wrapText } from './text.js';

/** A terminal shows at most this many names, waves or keys; a file or pipe gets all. */
const MAX_SHOWN = 50;
/** A narrower last column would be hard to read. */
const MIN_LAST_COLUMN = 16;

interface Limits {
  /** Columns of a line. */
  readonly columns: number;
  /** Names, waves and keys to show. */
  readonly most: number;
}

/** Formats the statistics of a valid plan: its order, its waves, its handlers, and which sub-pipelines store and read each key. */
export function formatPlanStatistics(
  statistics: PlanStatistics,
  { interactive, columns, style }: Terminal,
): string[] {
  const { order, wave_ids, handlers, handler_waves = [], keys } = statistics;
  const limits: Limits = interactive
    ? { columns: columns - 1, most: MAX_SHOWN }
    : { columns: Number.POSITIVE_INFINITY, most: Number.POSITIVE_INFINITY };
  const field = (name: string, value: string | number): string[] =>
    wrapAfter(`  ${style.dim(`${name}:`)} `, name.length + 4, toSingleLine(String(value)), limits.columns);
  return [
    ...field('id', statistics.id),
    ...field('goal', statistics.goal),
    ...field('sub_pipelines', statistics.sub_pipelines),
    ...field('inputs_count', statistics.inputs_count),
    ...field('order', joinNames(order, ' -> ', limits)),
    ...field('waves', statistics.waves),
    ...waveLines(numberWaves(wave_ids, limits), limits, style),
    ...field('plan_concurrency', statistics.plan_concurrency),
    ...field('tasks', statistics.tasks),
    ...(handlers === undefined ? [] : field('handlers', handlers)),
    ...waveLines(
      handler_waves.map(({ list, ids }) => ({ name: list, ids })),
      limits,
      style,
    ),
    ...(keys.length === 0 ? [] : ['', ...keyLines(keys, limits, style)]),
  ];
}

/** A wave of sub-pipelines has a number, one of handlers the name of its list (D80). */
interface NamedWave {
  readonly name: string;
  readonly ids: readonly string[];
}

function numberWaves(waves: PlanStatistics['wave_ids'], { most }: Limits): NamedWave[] {
  const digits = String(Math.min(waves.length, most)).length;
  return waves.map((ids, index) => ({ name: String(index + 1).padStart(digits), ids }));
}

function waveLines(waves: readonly NamedWave[], limits: Limits, style: Style): string[] {
  const { columns, most } = limits;
  const shown = waves
    .slice(0, most)
    .flatMap(({ name, ids }) =>
      wrapAfter(`    ${style.dim(`${name}:`)} `, name.length + 6, joinNames(ids, ', ', limits), columns),
    );
  return [...shown, ...moreLine(waves.length - most, 'wave', style)];
}

type Row = readonly [key: string, storedBy: string, readBy: string];

const HEADINGS: Row = ['key', 'stored by', 'read by'];

/** Formats a table if it fits, otherwise the fields of each key below each other. */
function keyLines(keys: readonly KeyUse[], limits: Limits, style: Style): string[] {
  const { columns, most } = limits;
  const rows = keys
    .slice(0, most)
    .map(
      ({ key, stored_by, read_by }): Row => [
        toSingleLine(key),
        stored_by ?? '(given)',
        read_by.length === 0 ? '-' : joinNames(read_by, ', ', limits),
      ],
    );
  const more = moreLine(keys.length - most, 'key', style);
  const [keyColumns, storedByColumns, readByColumns] = columnWidths([HEADINGS, ...rows]);
  const before = 2 + keyColumns + 2 + storedByColumns + 2;
  if (columns - before < Math.min(MIN_LAST_COLUMN, readByColumns)) {
    return [...rows.flatMap((row) => stackedRow(row, columns, style)), ...more];
  }
  const tableRow = ([key, storedBy, readBy]: Row): string[] =>
    wrapAfter(
      `  ${padToWidth(key, keyColumns)}  ${padToWidth(storedBy, storedByColumns)}  `,
      before,
      readBy,
      columns,
    );
  return [...tableRow(HEADINGS).map(style.dim), ...rows.flatMap(tableRow), ...more];
}

function columnWidths(rows: readonly Row[]): [number, number, number] {
  const widest = (column: 0 | 1 | 2): number =>
    rows.reduce((most, row) => Math.max(most, displayWidth(row[column])), 0);
  return [widest(0), widest(1), widest(2)];
}

function stackedRow([key, storedBy, readBy]: Row, columns: number, style: Style): string[] {
  return [
    `  ${style.cyan(key)}`,
    ...wrapAfter(`    ${style.dim('stored by')} `, 14, storedBy, columns),
    ...wrapAfter(`    ${style.dim('read by')} `, 12, readBy, columns),
  ];
}

/** Puts text after `head`, which takes `headColumns`, and wraps it with an indentation of at most 6. */
function wrapAfter(head: string, headColumns: number, text: string, columns: number): string[] {
  if (!Number.isFinite(columns)) return [`${head}${text}`];
  const indent = Math.min(headColumns, 6);
  const [first = '', ...others] = wrapText(text, Math.max(10, columns - headColumns));
  const rest = wrapText(others.join(' '), Math.max(10, columns - indent));
  return [`${head}${first}`, ...rest.map((line) => ' '.repeat(indent) + line)];
}

function joinNames(names: readonly string[], separator: string, { most }: Limits): string {
  const more = names.length - most;
  return names.slice(0, most).join(separator) + (more > 0 ? `${separator}… ${more} more` : '');
}

function moreLine(count: number, noun: string, style: Style): string[] {
  return count > 0
    ? [`  ${style.dim(`… ${formatCount(count, `more ${noun}`)}; a pipe or --json gets all of them`)}`]
    : [];
}
