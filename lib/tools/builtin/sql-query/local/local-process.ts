import { errorMessage, ToolError } from '../../../../common/errors.js';
import { answerRequests } from '../../../../common/workers/answer-requests.js';
import { cutIntoPieces } from '../../../../common/workers/message-socket.js';
import { SQL_LIMITS } from '../limits.js';
import type { LocalEngine, LocalRequest, LocalResponse, OpenRequest } from './messages.js';

let engine: LocalEngine | undefined;

/** The program of the process that has a file of SQLite or DuckDB open, for one task at a time. */
answerRequests(
  async (request: LocalRequest): Promise<LocalResponse> => {
    try {
      if (request.kind === 'open') {
        engine?.close();
        engine = undefined;
        engine = await openEngine(request);
        return { ok: true };
      }
      if (engine === undefined) throw ToolError.nonRetryable('no database is open');
      return await answer(engine, request);
    } catch (error) {
      return {
        ok: false,
        error: errorMessage(error),
        isPassing: engine?.isPassing(error) ?? /could not set lock/i.test(errorMessage(error)),
      };
    }
  },
  { maxIdleMiB: SQL_LIMITS.processMiB / 2 },
);

async function openEngine(request: OpenRequest): Promise<LocalEngine> {
  if (request.engine === 'sqlite') {
    const { openSqlite } = await import('./sqlite-engine.js');
    return await openSqlite(request);
  }
  const { openDuckdb } = await import('./duckdb-engine.js');
  return await openDuckdb(request);
}

async function answer(
  opened: LocalEngine,
  request: Exclude<LocalRequest, OpenRequest>,
): Promise<LocalResponse> {
  switch (request.kind) {
    case 'run':
      return { ok: true, columns: await opened.run(request.text, request.values, request.rowLimit) };
    case 'next': {
      const rows = await opened.next();
      if (rows.length === 0) return { ok: true, changed: opened.changed };
      return { ok: true, rows: cutIntoPieces(JSON.stringify(rows)) };
    }
    case 'control':
      await opened.control(request.verb);
      return { ok: true };
  }
}
