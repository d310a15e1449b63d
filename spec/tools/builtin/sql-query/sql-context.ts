import { systemClock } from '../../../../lib/common/clock.js';
import type { JsonObject } from '../../../../lib/common/json/json.js';
import { SessionPool } from '../../../../lib/tools/builtin/sql-query/session-pool.js';
import { createSqlQuery } from '../../../../lib/tools/builtin/sql-query/sql-query.js';
import { fileAccess } from '../../../../lib/tools/files/file-access.js';
import { type NetworkOptions, networkAccess } from '../../../../lib/tools/fetching/network.js';
import type { ToolContext } from '../../../../lib/tools/tool.js';
import { type TestContext, type TestContextOptions, toolContext } from '../../../support/tool-context.js';

/** The result of one statement, or of several, as a task gets it. */
interface SqlOutput {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly JsonObject[];
  readonly row_count: number;
  readonly truncated: boolean;
  readonly changed: number | null;
  readonly artifact: { readonly name: string; readonly size: number } | null;
  readonly results: readonly Omit<SqlOutput, 'results'>[];
}

/** With the time of the machine, which the processes and servers of databases have, too. */
type SqlContext = Omit<TestContext, 'clock'> & Pick<ToolContext, 'clock'>;

/** A task of `sql_query` in a spec. */
export interface SqlTask {
  readonly context: SqlContext;
  readonly output: Promise<SqlOutput>;
}

interface SqlTools {
  readonly pool: SessionPool;
  /** Runs the tool with the defaults of its inputs. */
  readonly start: (inputs: JsonObject, options?: TestContextOptions) => SqlTask;
  readonly query: (inputs: JsonObject, options?: TestContextOptions) => Promise<SqlOutput>;
}

/** Creates the tool with a network and with folders. Default: this machine's own address, and no folder. */
export function createSqlTools(
  network: NetworkOptions = { allows: (address) => address === '127.0.0.1' },
  roots: readonly string[] = [],
): SqlTools {
  const pool = new SessionPool();
  const tool = createSqlQuery({ pool });
  const access = networkAccess(network);
  const start: SqlTools['start'] = (inputs, options = {}) => {
    const created = toolContext({ files: fileAccess(roots), ...options });
    const caller = { tenantId: created.tenant_id, clock: systemClock, signal: created.signal };
    const context: SqlContext = {
      ...created,
      clock: systemClock,
      authorities: access.authorities,
      connect: (host, port) => access.connect(host, port, caller),
    };
    const given = { params: {}, max_rows: 1000, files: {}, ...inputs };
    // A call that fails at once rejects, too.
    const output = (async () => (await tool.run(given, context)) as SqlOutput)();
    output.catch(() => undefined);
    return { context, output };
  };
  return { pool, start, query: (inputs, options) => start(inputs, options).output };
}
