/*
 * The names of the schema's fields, for hints. They are separate from the schema so that a run does not load the
 * library that builds it; a spec keeps the two equal.
 */

/** The fields with which a definition is started without a request to run it (D70, D71). */
export const START_FIELDS = ['schedule', 'timezone', 'overlap', 'catch_up', 'paused', 'webhook'] as const;

/** The lists of tasks that run after all others, in their order: of the first three, the one that matches the end (D80). */
export const HANDLER_LISTS = ['on_success', 'on_failure', 'on_cancel', 'finally'] as const;

export type HandlerListName = (typeof HANDLER_LISTS)[number];

const HANDLER_FIELDS = [...HANDLER_LISTS, 'handler_timeout'];

const split = (names: string): readonly string[] => names.split(' ');

const COMMON_FIELDS = ['id', 'goal', 'description', 'version'];

export const WEBHOOK_FIELDS = split('secret params inputs replay');

export const KEEP_FIELDS = split('days runs');

export const PIPELINE_FIELDS = [
  ...COMMON_FIELDS,
  'params',
  'inputs',
  'reads',
  'labels',
  ...START_FIELDS,
  'priority',
  'max_running',
  'on_busy',
  'concurrency_key',
  'keep',
  'timeout',
  ...HANDLER_FIELDS,
  'tasks',
];

export const TASK_FIELDS = split(
  'id tool inputs parallel_over fan_out_concurrency on_item_error when on_error await repeat retry retry_delay max_retry_delay cache timeout pool',
);

export const REPEAT_FIELDS = split('until every at_most');

export const PARAM_FIELDS = split('type description default enum minimum maximum pattern items properties');

export const PLAN_FIELDS = [
  ...COMMON_FIELDS,
  'inputs',
  'plan_concurrency',
  'labels',
  ...START_FIELDS,
  'priority',
  'max_running',
  'on_busy',
  'keep',
  'timeout',
  ...HANDLER_FIELDS,
  'sub_pipelines',
];

export const SUB_PIPELINE_FIELDS = split('id goal reads stores when inputs file pipeline');

/** The fields of a file of tests, of a case, of what it expects, and of an answer (D91). */
export const TEST_FIELDS = {
  file: split('description cases'),
  case: split('name params inputs session answers expect'),
  expect: split('status error outputs calls handlers blackboard skipped failed waves'),
  answer: split('output error items'),
};

/** A task has at most so many conditions: each is looked at for every item (D77). */
export const MAX_CONDITIONS = 20;

/** How often a task may call its tool until a condition holds, and how long it waits before it does so again (D83). */
export const REPEAT_LIMITS = { rounds: 10_000, defaultRounds: 20, everyDays: 7, defaultEvery: '30s' };

/** The limits of tests of pipelines (D91). */
export const PIPELINE_TEST_LIMITS = {
  /** Size of a file of tests, in bytes. */
  fileBytes: 2 ** 20,
  /** Cases of one file, and characters of the name of one. */
  cases: 1000,
  nameLength: 200,
  /** Answers to the attempts of one call, and to the items of one fan-out. */
  attempts: 100,
  items: 10_000,
  /** Calls of one task whose inputs are compared, and characters of JSON of those inputs of one case. */
  calls: 1000,
  callsLength: 4 * 2 ** 20,
  /** Time that one case may take, however little of it passes on its own clock. */
  caseMs: 10_000,
  /** Cases that a server runs for one request, and the time that they may take together. */
  serverCases: 200,
  serverMs: 20_000,
  /** Differences that are listed of one case, and characters of a value in one of them. */
  differences: 20,
  shownLength: 200,
} as const;

/** Task ids that would hide a template namespace (D1). */
export const RESERVED_TASK_IDS: readonly string[] = ['pipeline', 'params', 'session', 'item'];
