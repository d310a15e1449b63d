import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../lib/common/clock.js';
import { TextParser } from '../../lib/definition/parsing/text-parser.js';
import { createLog } from '../../lib/http/logging/log.js';
import { startServer } from '../../lib/http/server.js';
import { readServerConfig } from '../../lib/common/config/server-config.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { fileAccess } from '../../lib/tools/files/file-access.js';
import { heapInUse } from '../measure.js';
import { serveParent } from './ipc.js';

/** The API as `wavetrain serve` opens it, logging every request to a stream that is discarded. */
const env = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>;
const program = fileURLToPath(new URL('../parsing-process.cjs', import.meta.url));
const texts = TextParser.start({ file: program, parallelism: 1, tenantShare: 10, clock: systemClock });
const { url, registry } = await startServer({
  config: readServerConfig({ SERVICE_API_PORT: '0', ...env }),
  catalog: builtinCatalog(),
  files: fileAccess([]),
  parseText: (text, tenantId) => texts.parse(text, tenantId),
  keys: undefined,
  log: createLog({
    stream: process.stdout,
    interactive: false,
    colours: false,
    level: 'info',
    clock: systemClock,
  }),
  clock: systemClock,
  newId: randomUUID,
  version: '0.0.0-bench',
});

const gaps = monitorEventLoopDelay({ resolution: 1 });

serveParent(url, {
  cpu: () => process.cpuUsage(),
  heap: heapInUse,
  load: () => registry.queries.load,
  statuses: async () => Object.fromEntries(await registry.queries.countByStatus()),
  /** How long each run took, in milliseconds. */
  durations: () =>
    runs().map(({ started_at, finished_at }) => Date.parse(finished_at ?? '') - Date.parse(started_at ?? '')),
  /** How many events each run had. */
  events: () => runs().map(({ run_id }) => registry.queries.events(run_id).lastSeq),
  forget: () => {
    for (const { run_id } of runs()) registry.forget(run_id);
  },
  watchGaps: () => {
    gaps.reset();
    gaps.enable();
  },
  longestGap: () => {
    gaps.disable();
    return gaps.max / 1e6;
  },
});

function runs() {
  return registry.list({ limit: Number.POSITIVE_INFINITY }).runs;
}
