import { cpus } from 'node:os';

/** One row of the table. */
export interface Row {
  readonly measure: string;
  readonly result: string;
  readonly limit: string;
  readonly aim?: string;
  readonly detail: string;
  readonly ok: boolean;
}

/** Collects rows: prints each to standard error when it is added, and all as a table at the end. */
export class Table {
  readonly #rows: Row[] = [];

  add(row: Row): void {
    this.#rows.push(row);
    process.stderr.write(`${row.measure}: ${row.result} (${row.limit}) ${verdict(row)}; ${row.detail}\n`);
  }

  get missed(): number {
    return this.#rows.filter(({ ok }) => !ok).length;
  }

  print(): void {
    const [cpu] = cpus();
    const machine = `Node ${process.version}, ${cpus().length} x ${cpu?.model ?? 'unknown'}, ${new Date().toISOString().slice(0, 10)}`;
    const head =
      '| measure | result | limit | aim | verdict | detail |\n| --- | --- | --- | --- | --- | --- |';
    const lines = this.#rows.map((row) => {
      const { measure, result, limit, aim = '', detail } = row;
      return `| ${[measure, result, limit, aim, verdict(row), detail].join(' | ')} |`;
    });
    process.stdout.write(`${machine}\n\n${[head, ...lines].join('\n')}\n`);
  }
}

function verdict({ ok }: Row): string {
  return ok ? 'ok' : 'missed';
}
