/**
 * The tables behind the architecture spec. A room is `machines`, a folder of `lib`, its file `index.ts`, or a file or
 * folder of `lib/common`.
 */

interface Room {
  /** Rooms that it may import. */
  readonly may: readonly string[];
  /** Rooms of which it may know types. */
  readonly types?: readonly string[];
  readonly reason: string;
}

/** From the ground up. */
export const ROOMS: Readonly<Record<string, Room>> = {
  json: { may: [], reason: 'everything stands on it' },
  errors: { may: [], reason: 'everything may fail' },
  clock: { may: [], reason: 'time is handed to whoever needs it' },
  limits: { may: [], reason: 'they are numbers' },
  machines: { may: [], reason: 'they know when, and reach what happens through functions they are given' },
  'json-schema': { may: ['errors', 'json'], reason: 'JSON Schema knows nothing of pipelines' },
  definition: {
    may: ['errors', 'json', 'json-schema'],
    reason: 'a definition can be read and templates resolved without tools and runs',
  },
  blackboard: { may: [], types: ['json'], reason: 'it keeps values and asks for nothing' },
  tools: {
    may: ['definition', 'errors', 'json', 'limits', 'json-schema'],
    types: ['clock'],
    reason: 'a tool knows nothing of the pipeline that names it and the run that calls it',
  },
  pipelines: {
    may: ['definition', 'errors', 'json', 'limits', 'tools'],
    reason: 'checking a pipeline runs nothing',
  },
  plans: {
    may: ['definition', 'errors', 'json', 'machines', 'pipelines', 'tools'],
    reason: 'checking a plan runs nothing, but asks the machine for its order',
  },
  execution: {
    may: ['blackboard', 'clock', 'definition', 'errors', 'json', 'limits', 'machines', 'tools'],
    types: ['pipelines', 'plans'],
    reason: 'what runs has been checked: only the types of pipelines and plans are known here',
  },
  runs: {
    may: ['clock', 'errors', 'execution', 'machines'],
    reason: 'records are made from runs',
  },
  config: { may: ['errors'], reason: 'the environment is read for everybody, by nobody else' },
  telemetry: {
    may: ['errors'],
    types: ['clock', 'config', 'execution', 'machines', 'runs'],
    reason: 'it listens, and changes nothing',
  },
  http: {
    may: ['definition', 'errors', 'json', 'pipelines', 'plans', 'json-schema', 'runs', 'telemetry'],
    types: ['clock', 'config', 'execution', 'machines', 'tools'],
    reason: 'it reaches runs through the registry (law L2)',
  },
  client: {
    may: ['clock', 'errors'],
    types: ['execution', 'machines', 'pipelines', 'plans', 'runs', 'tools'],
    reason: 'it knows a server by its address, and the wire by its types',
  },
  cli: {
    may: [
      'client',
      'clock',
      'config',
      'definition',
      'errors',
      'http',
      'json',
      'pipelines',
      'plans',
      'runs',
      'telemetry',
      'tools',
    ],
    types: ['execution', 'machines'],
    reason: 'it stands on top and reaches runs through the registry (law L2)',
  },
  testing: {
    may: ['pipelines', 'tools'],
    types: ['blackboard', 'execution'],
    reason: 'suites know contracts, never implementations',
  },
  index: {
    may: ['blackboard', 'clock', 'errors', 'execution', 'pipelines', 'plans', 'runs', 'tools'],
    types: ['definition', 'json', 'machines'],
    reason: 'it is the library: everything but the command line',
  },
};

interface Home {
  readonly rooms: readonly string[];
  /** Rooms that may know its types. */
  readonly types?: readonly string[];
  readonly reason: string;
}

export const PACKAGES: Readonly<Record<string, Home>> = {
  xstate: { rooms: ['machines', 'execution'], reason: 'machines are made of it, and a run starts one' },
  yaml: { rooms: ['definition'], reason: 'only definitions are YAML' },
  typebox: { rooms: ['definition', 'http'], reason: 'schemas are written with it' },
  'fastest-levenshtein': { rooms: ['definition'], reason: 'one function suggests names' },
  ajv: {
    rooms: ['json-schema'],
    types: ['definition', 'tools'],
    reason: 'it is slow to load, so one place loads it late',
  },
  re2js: {
    rooms: ['json-schema'],
    types: ['tools'],
    reason: 'patterns from callers are compiled in one place',
  },
  'csv-parse': { rooms: ['tools'], reason: 'one tool reads CSV' },
  jsonata: { rooms: ['tools'], reason: 'one tool evaluates it, in a room of its own' },
  jiti: { rooms: ['tools'], reason: 'tool files may be TypeScript' },
  koa: { rooms: ['http'], reason: 'it is the server' },
  '@koa/router': { rooms: ['http'], reason: 'it finds the route' },
  'koa-bodyparser': { rooms: ['http'], reason: 'it reads bodies' },
  'koa2-swagger-ui': { rooms: ['http'], reason: 'it makes the page of documents' },
  pino: { rooms: ['http'], reason: 'only a server logs' },
  'prom-client': { rooms: ['telemetry'], reason: 'only a server has figures' },
  '@opentelemetry/api': { rooms: ['telemetry'], reason: 'spans are made in one place' },
  '@opentelemetry/sdk-trace-base': { rooms: ['telemetry'], reason: 'loaded when traces are asked for' },
  '@opentelemetry/exporter-trace-otlp-http': {
    rooms: ['telemetry'],
    reason: 'loaded when traces are asked for',
  },
  '@opentelemetry/resources': { rooms: ['telemetry'], reason: 'loaded when traces are asked for' },
  'eventsource-parser': { rooms: ['client'], reason: 'a client reads event streams' },
  clipanion: { rooms: ['cli'], reason: 'it is the command line' },
  typanion: { rooms: ['cli'], reason: 'clipanion asks for it' },
  picocolors: { rooms: ['cli', 'http'], reason: 'only terminals have colours' },
  'log-update': { rooms: ['cli'], reason: 'only terminals are redrawn' },
};

interface Surrounding {
  readonly what: string;
  readonly pattern: RegExp;
  /** Files that have it, each with the reason. */
  readonly only: Readonly<Record<string, string>>;
}

export const SURROUNDINGS: readonly Surrounding[] = [
  {
    what: 'the environment',
    pattern: /\bprocess\.env\b/,
    only: { 'lib/common/config.ts': 'handed on from there' },
  },
  {
    what: 'the time',
    pattern: /\bDate\.now\b|\bnew Date\(\)|\bperformance\b/,
    only: {
      'lib/common/clock.ts': 'the default clock',
      'lib/execution/event-loop-budget.ts': 'the budget of the process, which no run sees',
    },
  },
  {
    what: 'timers',
    pattern: /(?<![.\w])set(?:Timeout|Interval)\(/,
    only: {
      'lib/cli/runs/watch.ts': 'a clock that hands its timers on',
      'lib/common/clock.ts': 'the default clock',
    },
  },
  {
    what: 'random numbers',
    pattern: /\bMath\.random\b|\brandom(?:UUID|Bytes|Int)\b/,
    only: {
      'lib/cli/context.ts': 'ids and secrets of commands, which specs replace',
      'lib/execution/prepare/prepare.ts': 'ids of runs',
      'lib/execution/local-executor.ts': 'the default of the jitter',
    },
  },
  {
    what: 'the process',
    pattern: /(?<!-)\bprocess\.(?!env\b)[a-z]+/,
    only: {
      'lib/cli/context.ts': 'the surroundings of a command, which specs replace',
      'lib/cli/doctor/checks.ts': 'a default: the version of Node.js',
      'lib/cli/main.ts': 'the end of the process',
      'lib/cli/render/terminal.ts': 'a default: the platform',
      'lib/execution/events/journal.ts': 'warns the host of a listener that threw',
      'lib/execution/local-executor.ts': 'a default: the working directory',
      'lib/tools/expressions/expression-process.ts':
        'a program of its own, asked by the process that started it',
      'lib/tools/expressions/evaluator.ts': 'the path of Node.js, to start it once more',
    },
  },
];

/** Files that throw without a code: a bug, or caught nearby and given one. */
export const LISTED_THROWS: Readonly<Record<string, string>> = {
  'lib/execution/json-output.ts':
    'caught by LocalExecutor (invalid_inputs) and by Session, which fails the task',
  'lib/execution/plan/sub-runs.ts': 'a bug: a machine asks for a sub-pipeline that does not exist',
  'lib/execution/run/run-work.ts': 'a bug: a machine asks for a task that does not exist',
  'lib/execution/run/task-work.ts': 'caught by RunWork.expand, and fails the task',
  'lib/execution/session/session.ts': 'caught where the session is read, and fails the run or the task',
  'lib/http/routing/endpoint.ts': 'a bug: a response that its own schema rejects',
  'lib/pipelines/suggestions.ts': 'a bug: what the checks proved is missing',
  'lib/tools/documents/csv.ts': 'caught by readCsv, which throws a ToolError with the line',
  'lib/tools/loading/foreign-tool.ts': 'caught by loadTools: bad_tool_file',
  'lib/tools/loading/load.ts': 'caught by loadTools: bad_tool_file',
  'lib/tools/tool.ts': "a bug in the caller's own code: a tool with an impossible name",
  'machines/readiness.ts': 'a bug: a need that is not in the plan',
  'machines/sub-runs.ts': 'a bug: a plan without work',
  'machines/work-binding.ts': 'a bug: a run without work',
};
