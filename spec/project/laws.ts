/**
 * The tables behind the architecture spec. A room is `machines`, a folder of `lib`, `lib/index.ts`, or a file or folder
 * of `lib/common`.
 */

interface Room {
  /** Rooms that this room may import. */
  readonly may: readonly string[];
  /** Rooms whose types this room may import. */
  readonly types?: readonly string[];
  readonly reason: string;
}

/** From the lowest to the highest. */
export const ROOMS: Readonly<Record<string, Room>> = {
  wire: {
    may: ['json', 'text'],
    types: ['machines'],
    reason: 'whatever is sent has one shape, which all who make it and read it share',
  },
  json: { may: ['scheduling', 'text'], reason: 'everything builds on it' },
  errors: { may: ['text'], types: ['wire'], reason: 'any code may fail' },
  files: { may: ['errors'], reason: 'reading a file fails in few words, the same everywhere' },
  text: { may: [], reason: 'texts and lists in messages are cut in one place' },
  warnings: { may: ['errors'], reason: 'nobody waits for what the host is warned of' },
  clock: { may: [], reason: 'time is a parameter' },
  duration: { may: [], reason: 'how long something takes is written, and read, in one way' },
  limits: { may: [], reason: 'limits are numbers' },
  memory: {
    may: ['errors', 'text'],
    reason: 'memory is shared between tenants as every other limit is',
  },
  scheduling: {
    may: ['clock', 'errors', 'memory'],
    reason: 'what tenants wait for is shared in one way',
  },
  requests: {
    may: ['errors', 'text'],
    types: ['clock'],
    reason: 'requests of tools and to models are bounded, and end, alike',
  },
  workers: {
    may: ['errors', 'memory', 'scheduling'],
    types: ['clock'],
    reason: 'it runs programs in processes and knows nothing of what they do',
  },
  machines: { may: [], reason: 'machines decide when, and call the rest through functions passed in' },
  config: {
    may: ['duration', 'errors', 'json', 'requests'],
    reason: 'it reads the environment for all others',
  },
  'json-schema': { may: ['errors', 'json', 'text'], reason: 'JSON Schema is independent of pipelines' },
  definition: {
    may: [
      'duration',
      'errors',
      'files',
      'json',
      'json-schema',
      'limits',
      'memory',
      'scheduling',
      'text',
      'workers',
    ],
    types: ['wire'],
    reason: 'reading and writing a definition and rendering templates needs neither tools nor runs',
  },
  models: {
    may: ['clock', 'config', 'errors', 'json', 'limits', 'memory', 'requests', 'scheduling', 'warnings'],
    types: ['wire'],
    reason: 'it asks language models and knows neither tools nor runs',
  },
  tools: {
    may: [
      'clock',
      'config',
      'definition',
      'errors',
      'files',
      'json',
      'json-schema',
      'limits',
      'memory',
      'models',
      'requests',
      'scheduling',
      'text',
      'workers',
    ],
    types: ['wire'],
    reason: 'a tool is independent of the pipeline that names it and of the run that calls it',
  },
  pipelines: {
    may: [
      'definition',
      'duration',
      'errors',
      'files',
      'json',
      'json-schema',
      'limits',
      'scheduling',
      'text',
      'tools',
    ],
    types: ['models', 'wire'],
    reason: 'checking a pipeline runs nothing',
  },
  plans: {
    may: [
      'definition',
      'errors',
      'files',
      'json',
      'json-schema',
      'machines',
      'pipelines',
      'scheduling',
      'text',
      'tools',
    ],
    types: ['wire'],
    reason: 'checking a plan runs nothing; the machine computes the order',
  },
  compile: {
    may: [
      'clock',
      'definition',
      'errors',
      'limits',
      'machines',
      'models',
      'pipelines',
      'plans',
      'text',
      'tools',
    ],
    types: ['wire'],
    reason: 'it has a model write a definition, checks it, and runs nothing',
  },
  execution: {
    may: [
      'clock',
      'definition',
      'duration',
      'errors',
      'execution',
      'files',
      'json',
      'limits',
      'machines',
      'memory',
      'models',
      'scheduling',
      'text',
      'tools',
      'warnings',
    ],
    types: ['memory', 'pipelines', 'plans', 'scheduling', 'wire'],
    reason: 'whatever runs was checked before, so only the types of pipelines and plans are needed',
  },
  audit: {
    may: ['clock', 'errors', 'files', 'memory', 'scheduling', 'text', 'wire'],
    reason: 'it keeps who did what, and knows nothing of what was done',
  },
  runs: {
    may: [
      'audit',
      'clock',
      'errors',
      'execution',
      'files',
      'json',
      'limits',
      'machines',
      'memory',
      'scheduling',
      'text',
      'tools',
      'warnings',
      'wire',
      'workers',
    ],
    types: ['definition', 'memory', 'scheduling'],
    reason: 'the registry owns the runs and makes their records',
  },
  submission: {
    may: ['definition', 'errors', 'pipelines', 'plans', 'runs'],
    types: ['execution', 'runs', 'scheduling', 'tools', 'wire'],
    reason: 'it checks what is submitted, and hands it to the registry that it is given',
  },
  reports: {
    may: ['json', 'pipelines', 'runs', 'scheduling', 'text', 'wire'],
    types: ['errors', 'execution', 'machines', 'plans'],
    reason: 'it writes what was read of a run as a page, and reads and runs nothing',
  },
  library: {
    may: [
      'clock',
      'definition',
      'errors',
      'files',
      'json',
      'limits',
      'pipelines',
      'plans',
      'scheduling',
      'submission',
      'tools',
    ],
    types: ['runs', 'wire'],
    reason: 'it keeps definitions and makes submissions of them',
  },
  telemetry: {
    may: ['clock', 'config', 'errors', 'limits', 'memory', 'requests', 'scheduling'],
    types: ['execution', 'machines', 'models', 'runs'],
    reason: 'it observes runs and changes nothing',
  },
  http: {
    may: [
      'audit',
      'clock',
      'compile',
      'definition',
      'duration',
      'errors',
      'files',
      'json',
      'json-schema',
      'library',
      'limits',
      'memory',
      'pipelines',
      'plans',
      'reports',
      'requests',
      'runs',
      'scheduling',
      'submission',
      'telemetry',
      'testing',
      'text',
      'wire',
    ],
    types: ['config', 'execution', 'machines', 'models', 'scheduling', 'tools'],
    reason: 'it reaches runs through the registry (law L2)',
  },
  client: {
    may: ['clock', 'errors'],
    types: ['audit', 'compile', 'execution', 'machines', 'pipelines', 'plans', 'runs', 'tools', 'wire'],
    reason: 'it knows a server by its address and the wire format by its types',
  },
  cli: {
    may: [
      'audit',
      'client',
      'clock',
      'compile',
      'config',
      'definition',
      'duration',
      'errors',
      'files',
      'http',
      'json',
      'library',
      'limits',
      'memory',
      'models',
      'pipelines',
      'plans',
      'reports',
      'runs',
      'scheduling',
      'submission',
      'telemetry',
      'testing',
      'text',
      'tools',
      'wire',
      'workers',
    ],
    types: ['execution', 'machines'],
    reason: 'it is the top layer and reaches runs through the registry (law L2)',
  },
  testing: {
    may: [
      'clock',
      'definition',
      'errors',
      'execution',
      'files',
      'json',
      'json-schema',
      'pipelines',
      'plans',
      'scheduling',
      'text',
      'tools',
    ],
    types: ['memory', 'models', 'wire'],
    reason: 'suites test contracts, and tests of pipelines run them with answers in place of tools',
  },
  index: {
    may: ['clock', 'compile', 'errors', 'execution', 'models', 'pipelines', 'plans', 'runs', 'tools'],
    types: ['definition', 'json', 'machines'],
    reason: 'it is the public surface of the library',
  },
};

/** The code of `lib/runs` that the command line and the HTTP API may use. */
export const RUN_ENTRY_POINTS: readonly string[] = [
  'lib/runs/registry.ts',
  'lib/runs/inspection/recording.ts',
  ...[
    'shell/history-writer',
    'shell/kept-runs',
    'shell/shell-folder',
    'shell/shell-store',
    'sqlite/sqlite-store',
  ].map((store) => `lib/runs/store/${store}.ts`),
  ...['backup-store', 'check-store', 'server-backups', 'store-stats', 'vacuum-store'].map(
    (part) => `lib/runs/store/maintenance/${part}.ts`,
  ),
];

interface Home {
  readonly rooms: readonly string[];
  /** Rooms that may import the types of the package. */
  readonly types?: readonly string[];
  readonly reason: string;
}

export const PACKAGES: Readonly<Record<string, Home>> = {
  xstate: {
    rooms: ['machines', 'execution', 'compile'],
    types: ['runs'],
    reason: 'it defines the machines, and a run or a compilation starts one',
  },
  croner: { rooms: ['definition'], reason: 'one file computes when schedules are due, on demand' },
  yaml: { rooms: ['definition'], reason: 'only definitions are YAML' },
  '@types/node': { rooms: [], reason: 'the types of the package name those of Node.js' },
  typebox: { rooms: ['definition', 'http', 'wire'], reason: 'it declares schemas' },
  'fastest-levenshtein': { rooms: ['definition'], reason: 'one function suggests names' },
  ajv: {
    rooms: ['json-schema'],
    types: ['definition', 'tools'],
    reason: 'it loads slowly, so one place loads it on demand',
  },
  re2js: {
    rooms: ['json-schema'],
    types: ['tools'],
    reason: 'one place compiles the patterns of callers',
  },
  aws4fetch: { rooms: ['tools'], reason: 'one place signs the requests to object stores, on demand' },
  htmlparser2: { rooms: ['tools'], reason: 'HTML, and the answers of object stores, are read on demand' },
  mammoth: { rooms: ['tools'], reason: 'one tool reads DOCX, on demand' },
  'read-excel-file': { rooms: ['tools'], reason: 'one tool reads XLSX, on demand' },
  'write-excel-file': { rooms: ['tools'], reason: 'one tool writes XLSX, in a thread' },
  unpdf: { rooms: ['tools'], reason: 'one tool reads PDF, on demand' },
  'csv-parse': { rooms: ['tools'], reason: 'one tool reads CSV' },
  jsonata: { rooms: ['tools'], reason: 'one tool evaluates expressions, in a folder of its own' },
  libsql: {
    rooms: ['runs', 'tools'],
    reason: 'one thread keeps runs in a file, and one program asks files of callers',
  },
  pg: { rooms: ['tools'], reason: 'one folder asks PostgreSQL' },
  mysql2: { rooms: ['tools'], reason: 'one folder asks MySQL' },
  '@duckdb/node-api': { rooms: ['tools'], reason: 'one program asks DuckDB' },
  undici: {
    rooms: ['tools', 'requests', 'models'],
    reason: 'requests of tools and to models, loaded for the first one',
  },
  'ipaddr.js': { rooms: ['tools'], reason: 'one folder decides which addresses tools may reach' },
  jiti: { rooms: ['tools'], reason: 'tool files may be TypeScript' },
  koa: { rooms: ['http'], reason: 'it is the server' },
  '@koa/router': { rooms: ['http'], reason: 'it finds the route' },
  'koa-bodyparser': { rooms: ['http'], reason: 'it reads bodies' },
  'koa2-swagger-ui': { rooms: ['http'], reason: 'it renders the API documentation' },
  pino: { rooms: ['http'], reason: 'only a server logs' },
  'prom-client': { rooms: ['telemetry'], reason: 'only a server has metrics' },
  '@opentelemetry/api': { rooms: ['telemetry'], reason: 'one folder creates spans' },
  '@opentelemetry/sdk-trace-base': { rooms: ['telemetry'], reason: 'loaded only when tracing is on' },
  '@opentelemetry/exporter-trace-otlp-http': {
    rooms: ['telemetry'],
    reason: 'loaded only when tracing is on',
  },
  '@opentelemetry/resources': { rooms: ['telemetry'], reason: 'loaded only when tracing is on' },
  'eventsource-parser': { rooms: ['client'], reason: 'a client reads event streams' },
  clipanion: { rooms: ['cli'], reason: 'it is the command line' },
  ws: { rooms: ['http'], reason: 'the Stately inspector is told over a WebSocket' },
  typanion: { rooms: ['cli'], reason: 'clipanion requires it' },
  'mime-types': { rooms: ['tools'], reason: 'files of commands have media types' },
  picocolors: { rooms: ['cli', 'http'], reason: 'only terminals have colours' },
  'get-east-asian-width': { rooms: ['cli'], reason: 'only terminals need the width of text' },
  'log-update': { rooms: ['cli'], reason: 'only terminals are redrawn' },
};

interface Surrounding {
  readonly what: string;
  readonly pattern: RegExp;
  /** The files that may use the surrounding, each with the reason. */
  readonly only: Readonly<Record<string, string>>;
}

export const SURROUNDINGS: readonly Surrounding[] = [
  {
    what: 'the environment',
    pattern: /\bprocess\.env\b/,
    only: {
      'lib/common/config/environment.ts': 'the only reader',
      'lib/pipelines/rules/code/scripts.ts': 'words of a hint',
    },
  },
  {
    what: 'the time',
    pattern: /\bDate\.now\b|\bnew Date\(\)|\bperformance\b/,
    only: {
      'lib/common/clock.ts': 'the default clock',
      'lib/common/scheduling/event-loop-slice.ts': 'the slices of the event loop of the process',
    },
  },
  {
    what: 'turns of the event loop',
    pattern: /\bsetImmediate\b/,
    only: {
      'lib/common/scheduling/event-loop-scheduler.ts': 'shares the turns between tenants',
      'lib/common/scheduling/event-loop-slice.ts': 'sees the end of a turn',
      'lib/common/scheduling/turns.ts': 'waits for the next turn, for all others',
      'lib/tools/expressions/expression-process.ts': 'a program of its own',
    },
  },
  {
    what: 'timers',
    pattern: /(?<![.\w])set(?:Timeout|Interval)\(/,
    only: {
      'lib/cli/run/server-backend.ts': 'a clock that passes timers through',
      'lib/common/workers/answer-requests.ts': 'a thread of its own, which looks whether the server is there',
      'lib/common/workers/priority.ts': 'the system refuses a change for a time that no clock of ours knows',
      'lib/common/workers/programs/program-host.ts':
        'a process of its own, which gives programs the time to end when the server has died',
      'lib/common/clock.ts': 'the default clock',
      'lib/testing/pipelines/jump-clock.ts': 'a clock that jumps to its next timer',
      'lib/runs/store/sqlite/thread/cleaner.ts':
        'a thread of its own, which lets others have the disk while it deletes',
    },
  },
  {
    what: 'random numbers',
    pattern: /\bMath\.random\b|\brandom(?:UUID|Bytes|FillSync|Int)\b/,
    only: {
      'lib/cli/context.ts': 'ids and secrets of commands, replaced in specs',
      'lib/execution/prepare/prepare-run.ts': 'ids of runs',
      'lib/definition/secrets/run-secrets.ts': 'the key of digests, which never leave the process',
      'lib/execution/invocation/cache/cache-file-names.ts':
        'the key of a folder, and names of unfinished files',
      'lib/execution/executor-options.ts': 'the default of the jitter',
      'lib/tools/commands/command-ledger.ts': 'the mark by which a command is recognised later',
      'lib/models/models.ts': 'the default of the jitter',
    },
  },
  {
    what: 'the process',
    pattern: /(?<!-)\bprocess\.(?!env\b)[a-z]+/,
    only: {
      'lib/cli/context.ts': 'the context of a command, replaced in specs',
      'lib/cli/commands/doctor.ts': 'default: the version of Node.js',
      'lib/cli/main.ts': 'ends the process',
      'lib/cli/render/terminal.ts': 'default: the platform',
      'lib/common/warnings.ts': "warns the host of what is nobody's failure",
      'lib/execution/invocation/files/own-folder.ts': 'the user who owns the files',
      'lib/execution/executor-options.ts': 'default: the working directory',
      'lib/common/workers/answer-requests.ts': 'a program of its own, started by the server',
      'lib/common/scheduling/event-loop-slice.ts': 'waits until no microtask is left',
      'lib/common/workers/fork-server.ts': 'whether the system is Windows, which needs none',
      'lib/common/workers/fork-server-process.ts': 'a program of its own, started by the server',
      'lib/common/workers/launcher.ts': 'the path of Node.js, to start the process',
      'lib/common/workers/programs/program-launcher.ts':
        'ends a program with what that has started: the process group',
    },
  },
];

/** Files that throw without a code: a bug, or caught nearby and given one. */
export const LISTED_THROWS: Readonly<Record<string, string>> = {
  'lib/common/config/allowed-commands.ts': 'caught by who reads a variable or a flag: bad_usage',
  'lib/common/requests/network-list.ts':
    'caught by who reads the list: bad_usage, and a bug of the program that sets it in code',
  'lib/common/files.ts': 'caught by callers, who name the file: unreadable_file, or a ToolError',
  'lib/execution/invocation/json-output.ts':
    'caught by LocalExecutor (invalid_inputs) and by Session, which fails the task',
  'lib/execution/plan/sub-runs.ts': 'a bug: a machine asks for a sub-pipeline that does not exist',
  'lib/execution/run/run-work.ts':
    'caught by RunWork.expand, and fails the task; or a bug: a task that does not exist',
  'lib/execution/run/input-renderer.ts': 'caught there, and shown in place of the inputs',
  'lib/execution/run/fan-out-work.ts': 'caught by RunWork.expand, and fails the task',
  'lib/execution/session/session.ts': 'caught where the session is read, and fails the run or the task',
  'lib/http/routing/endpoint.ts': 'a bug: a response that its own schema rejects',
  'lib/definition/assert.ts': 'a bug: what the checks proved is missing',
  'lib/runs/store/sqlite/thread/packing.ts': 'answered to SqliteStore, which says what cannot be read',
  'lib/runs/store/sqlite/thread/retention/prune.ts':
    'answered to ArchivePruner, which says once that nothing can be deleted',
  'lib/runs/store/sqlite/thread/schema.ts':
    'answered to SqliteStore, which says what cannot be kept or opened',
  'lib/runs/store/sqlite/thread/store-thread.ts':
    'answered to SqliteStore, which says what cannot be kept or opened',
  'lib/tools/loading/parse-tool.ts': 'caught by loadTools: bad_tool_file',
  'lib/tools/document-formats/csv.ts': 'caught by parseCsv, which throws a ToolError with the line',
  'lib/tools/loading/load-tools.ts': 'caught by loadTools: bad_tool_file',
  'lib/tools/builtin/compute/function.ts':
    "a bug in the caller's own code: a function with an impossible argument",
  'lib/tools/mcp/transports/http-transport.ts': 'caught by McpConnection, which throws a ToolError',
  'lib/tools/mcp/transports/stdio-transport.ts': 'caught by McpConnection, which throws a ToolError',
  'lib/tools/schemas/schema.ts': "a bug in the caller's own code: a schema without a name",
  'lib/tools/builtin/web/fetch-data/source.ts':
    "a bug in the caller's own code: a source with an impossible input",
  'lib/tools/tool.ts': "a bug in the caller's own code: a tool with an impossible name",
  'machines/readiness.ts': 'a bug: a need that is not in the plan',
  'machines/ports.ts': 'a bug: a run or a plan without ports',
  'machines/xstate/flat-machine.ts': 'a bug: a chart that spawns actors while it assigns',
};
