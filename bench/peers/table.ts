import type { ShapeResult } from './measure-shape.js';

const FLOOR = 'floor';

/** A Markdown table: a row for each shape, a column for each candidate, `µs a task (times the floor)`. */
export function table(rows: readonly ShapeResult[], candidates: readonly string[]): string {
  return [
    line(['shape', 'rounds', ...candidates]),
    line(['---', '---', ...candidates.map(() => '---')]),
    ...rows.map(({ shape, ms }) => {
      const floor = ms.get(FLOOR);
      const cells = candidates.map((name) =>
        cell(ms.get(name), name === FLOOR ? undefined : floor, shape.pipeline.tasks.size),
      );
      return line([shape.name, String(shape.rounds), ...cells]);
    }),
  ].join('\n');
}

function cell(ms: number | undefined, floor: number | undefined, tasks: number): string {
  if (ms === undefined) return 'left out';
  const each = `${digits((ms * 1000) / tasks)} µs`;
  return floor === undefined ? each : `${each} (${digits(ms / floor)}x)`;
}

/** No more digits than such a measurement is good for. */
function digits(value: number): string {
  return value < 10 ? value.toFixed(1 + Number(value < 1)) : value.toFixed(0);
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
