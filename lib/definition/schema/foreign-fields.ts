import { isObject } from '../../common/json/json.js';
import { type Hint, hintRename } from '../problems/hint.js';
import {
  PARAM_FIELDS,
  PIPELINE_FIELDS,
  PLAN_FIELDS,
  REPEAT_FIELDS,
  SUB_PIPELINE_FIELDS,
  TASK_FIELDS,
} from './fields.js';
import { hintForHandlerList, hintForHandlerOfTask, hintForHandlers } from './foreign-handlers.js';
import {
  hintForConcurrency,
  hintForCondition,
  hintForLabels,
  hintForTimeout,
  hintForTolerance,
} from './foreign-values.js';
import { type ForeignWord, mapWords, normalizeWord } from './foreign-word.js';
import { guessKeys, joinTexts, WAIT_HINT } from './value-hints.js';

/**
 * Words that other products have where ours has another word, or nothing (docs/other-products.md). They are looked up
 * before similar names are: `if` is no misspelt `id`.
 */
type Hints = ReadonlyMap<string, ForeignHint>;

/** Advice, which a value may make more exact, or the name that the word has here. */
type ForeignHint =
  | string
  | { readonly name: string }
  | { readonly otherwise: string; readonly exact: (foreign: ForeignWord) => Hint | undefined };

const CONDITION_ADVICE =
  'write when: "{{TASK.output}}", or when: {value: "{{params.NAME}}", const: VALUE}; what has to be computed is a task with the tool transform';
const CONDITIONS_OF_TASKS = 'each task has its own "when"';
const STARTS =
  'write schedule: "0 6 * * 1-5" with timezone: ZONE, or webhook: {secret: NAME}; docs/operation/pipelines-folder.md says where they work';
const STARTS_WHOLE = 'a task starts with its pipeline: write "schedule" or "webhook" beside "tasks"';
const TASK_CACHE = 'write cache: true, or cache: {ttl: SECONDS}, in a task';
const NO_SECRETS =
  'secrets are not declared: the inputs of a task read {{secrets.NAME}}, which comes from SECRET_NAME in the environment';
const NO_WAITING = 'no task waits for a person or a signal; the tool sleep waits for some seconds';
const POOL = 'write pool: NAME: each call takes a place of that pool, of which SERVICE_POOLS sets the number';
const POOL_OF_TASK = `max_running: N limits the runs of a file in the folder of a server; for the calls of one task, ${POOL}`;
const NO_WEIGHTS = 'each call takes one place of the "pool" of its task: there are no weights';
const PRIORITY =
  'write priority: N, from -100 to 100: queued runs of a tenant with a higher one begin first; the queue of a server is fair to its tenants';
const WHOLE_PRIORITY =
  'tasks have no priorities; "priority: N" beside "tasks" orders the queued runs of a tenant';
const MAX_RUNNING =
  'write max_running: N, with on_busy: queue, skip or cancel_running, in a file of the folder of a server; for the tasks of a run there is fan_out_concurrency';
const TAGS = 'write labels: {NAME: VALUE}: lists of runs are filtered by them';
const TAGS_OF_TASK = 'tasks have no labels: write labels: {NAME: VALUE} beside "tasks", or a comment after #';
const ALL_SUCCEED =
  'a task runs when none before it has failed, but for those with on_error: continue; tasks under "finally" beside "tasks" run in any case';
const TOLERANCE = 'write on_error: continue, or for the items of a fan-out on_item_error: collect';
const TOLERANCE_OF_TASKS = 'each task has its own "on_error": write on_error: continue there';
const EXACT_TOLERANCE_OF_TASKS = { exact: hintForHandlerList, otherwise: TOLERANCE_OF_TASKS };
const NO_TOLERANCE =
  'a plan tolerates no failed sub-pipeline: write on_error: continue in the tasks of its pipeline that may fail';
const CONDITION_OF_KEYS =
  'write when: "{{session.KEY}}", or when: {value: "{{session.KEY}}", const: VALUE}; what has to be computed is stored by an earlier sub-pipeline';
const TIMEOUT_OF_PIPELINE =
  'write "timeout" in its pipeline, beside "tasks", as in timeout: 10m: it limits each run of that pipeline';
const NO_SHELL =
  'there is no shell, and there are no containers: name a tool under "tool"; docs/tools.md says how to write your own';

const RUN_TIMEOUT =
  'write timeout: SECONDS, or as in timeout: 1h30m: the limit of the whole run; each task has a limit of its own';
const EXACT_RUN_TIMEOUT = { exact: hintForTimeout, otherwise: RUN_TIMEOUT };
const CONCURRENCY_KEY =
  'write max_running: 1 with concurrency_key: "{{params.NAME}}", which counts the runs of each value by itself';

const CONDITIONS =
  'if unless condition conditions precondition preconditions only_if run_if skip_if switch case else';
const TOLERANCES =
  'continue_on_failure continue_on_error continue_on_fail ignore_errors ignore_failure allow_failure';
const DEPENDENCIES = 'depends_on depends depend dependencies needs requires require after wait_for upstream';
const STEPS = 'steps step jobs stages nodes activities states workflow dag';
const SCHEDULES = 'schedules cron on trigger triggers start_at start_date';
const PAUSES = 'pause suspend suspended is_paused';
const CACHES = 'caching memoize cache_key cache_ttl';
const PRIORITIES = 'priorities priority_class priority_class_name';
const POOLS = 'pools pool_name queue queues resource_group semaphore semaphores mutex synchronization';
const ENVIRONMENT = 'env environment env_from vars variables';
const TIMEOUTS =
  'timeout_sec timeout_secs timeout_seconds timeout_minutes deadline execution_timeout active_deadline_seconds start_to_close_timeout';
const LABELS = 'tags metadata annotations owner owners';

const REPEAT =
  'write repeat: {until: "{{this.output.done}}", every: 30s, at_most: 20}; for the items of a list there is parallel_over';

const REPEATS =
  'until while loop_until do_until do_while repeat_until retry_until repeat_policy repeat_interval poll polling poll_interval sensor sensors poke_interval';

const TASK_HINTS = createHints([
  [CONDITIONS, { exact: hintForCondition, otherwise: CONDITION_ADVICE }],
  [TOLERANCES, { exact: hintForTolerance, otherwise: TOLERANCE }],
  ['continue_on fail_fast', TOLERANCE],
  [
    'loop loops for for_each foreach each items with_items with_param with_sequence map matrix strategy parallel',
    'write parallel_over: "{{TASK.output}}", and {{item}} in the inputs',
  ],
  [REPEATS, REPEAT],
  [
    'with args arguments parameters params input_data kwargs config body',
    'what the tool gets is under "inputs"',
  ],
  [ENVIRONMENT, 'tasks have no environment; pass values under "inputs", such as {{params.NAME}}'],
  [STEPS, 'a task calls one tool; the tool run_pipeline runs a whole pipeline'],
  ['name title key label', 'the name of a task is its "id"'],
  [
    'uses use action type operator function func executor call plugin task template',
    'the name of the tool is under "tool"',
  ],
  [
    'run script scripts command commands cmd shell bash exec container image docker runs_on working_dir working_directory',
    NO_SHELL,
  ],
  [
    'max_retries retry_policy retry_strategy retry_count attempts max_attempts tries backoff',
    'write retry: N, the number of further attempts; retry_delay and max_retry_delay set the delays, in seconds',
  ],
  ['retry_interval retry_delay_seconds retry_backoff', 'write retry_delay: SECONDS'],
  [TIMEOUTS, { exact: hintForTimeout, otherwise: 'write timeout: SECONDS, the limit of each attempt' }],
  [
    'concurrency max_parallel max_concurrency max_concurrent parallelism limit',
    'write fan_out_concurrency: N',
  ],
  [
    'output outputs result results register save_as store_as stores',
    'its output is read as {{ID.output}}; the tool store writes a value to the blackboard',
  ],
  ['secret secrets', NO_SECRETS],
  [`schedule ${SCHEDULES}`, STARTS_WHOLE],
  [CACHES, TASK_CACHE],
  ['suspend pause approval approve wait wait_until signal', NO_WAITING],
  [`priority priority_weight ${PRIORITIES}`, WHOLE_PRIORITY],
  [POOLS, POOL],
  ['weight weights slots pool_slots', NO_WEIGHTS],
  ['trigger_rule trigger_rules', ALL_SUCCEED],
  ['description comment comments note notes', 'write a comment after #'],
  [`labels ${LABELS}`, TAGS_OF_TASK],
]);

const PIPELINE_HINTS = createHints([
  [STEPS, 'the tasks are under "tasks"'],
  ['retry retries retry_policy retry_strategy', 'each task has its own "retry"'],
  ['name title', 'the name of a pipeline is its "id"; "goal" says what it is for'],
  [
    `${ENVIRONMENT} parameters arguments args defaults config with`,
    'typed values are under "params", untyped ones under "inputs"',
  ],
  [
    'parallelism max_parallel max_active_steps max_active_tasks',
    'tasks have fields for this; for all tasks it is one of the options of the run, which wavetrain run --help lists',
  ],
  [`${TIMEOUTS} dagrun_timeout workflow_run_timeout workflow_execution_timeout`, EXACT_RUN_TIMEOUT],
  ['max_active_runs max_concurrent_runs max_runs', { name: 'max_running' }],
  ['concurrency', { exact: hintForConcurrency, otherwise: MAX_RUNNING }],
  ['concurrency_policy cancel_in_progress', MAX_RUNNING],
  ['concurrency_group', CONCURRENCY_KEY],
  ['output outputs result results', 'the outputs of all tasks are the result of the run, by task id'],
  [LABELS, { exact: hintForLabels, otherwise: TAGS }],
  ['secret secrets', NO_SECRETS],
  [`${CONDITIONS} when`, CONDITIONS_OF_TASKS],
  [`${TOLERANCES} continue_on fail_fast`, TOLERANCE_OF_TASKS],
  ['on_error', EXACT_TOLERANCE_OF_TASKS],
  [SCHEDULES, STARTS],
  [PAUSES, { name: 'paused' }],
  [`cache ${CACHES}`, TASK_CACHE],
  [PRIORITIES, PRIORITY],
  ['priority_weight', { name: 'priority' }],
  [`pool ${POOLS}`, POOL_OF_TASK],
  ['weight weights', NO_WEIGHTS],
]);

const REPEAT_HINTS = createHints([
  ['condition conditions when exit_condition stop_when success_condition exit_on', { name: 'until' }],
  ['while repeat', 'write until: with the condition that ends it; a keyword under "not" turns one around'],
  ['interval interval_sec interval_seconds delay wait sleep poll_interval period', { name: 'every' }],
  [
    'limit max_iterations max_attempts attempts times count max max_rounds rounds check_frequency',
    { name: 'at_most' },
  ],
  [`max_duration ${TIMEOUTS} timeout`, `"timeout" of the task limits each attempt; ${WAIT_HINT}`],
  [
    'on_failure on_limit fail_on_max_reached',
    'a task whose condition never holds fails; on_error: continue of the task goes on',
  ],
]);

const PARAM_HINTS = createHints([
  ['required optional nullable', 'a param without "default" is required; default: null makes it optional'],
  ['choices options values allowed one_of', { name: 'enum' }],
  ['min at_least', { name: 'minimum' }],
  ['max at_most', { name: 'maximum' }],
  ['regex regexp match format', { name: 'pattern' }],
  ['value', { name: 'default' }],
  ['name', 'the name of a param is the key above'],
  ['title help label', { name: 'description' }],
]);

const PLAN_HINTS = createHints([
  [`${STEPS} tasks pipelines children`, 'the pipelines are under "sub_pipelines"'],
  ['name title', 'the name of a plan is its "id"'],
  ['concurrency parallelism max_parallel max_concurrency', 'write plan_concurrency: N'],
  [TIMEOUTS, EXACT_RUN_TIMEOUT],
  ['max_active_runs max_concurrent_runs max_runs', { name: 'max_running' }],
  ['concurrency_policy concurrency_group cancel_in_progress', MAX_RUNNING],
  ['concurrency_key', 'a plan has no params: max_running counts all of its runs'],
  [`params parameters ${ENVIRONMENT}`, 'the values of a plan are under "inputs"'],
  [LABELS, { exact: hintForLabels, otherwise: TAGS }],
  [`${CONDITIONS} when`, CONDITIONS_OF_TASKS],
  [`${TOLERANCES} continue_on fail_fast`, TOLERANCE_OF_TASKS],
  ['on_error', EXACT_TOLERANCE_OF_TASKS],
  [SCHEDULES, STARTS],
  [PAUSES, { name: 'paused' }],
  [`cache ${CACHES}`, TASK_CACHE],
  [PRIORITIES, PRIORITY],
  ['priority_weight', { name: 'priority' }],
]);

const SUB_PIPELINE_HINTS = createHints([
  [
    `${DEPENDENCIES} await`,
    'the order follows from the keys under "reads" and "stores": a reader runs after those that store what it reads',
  ],
  ['writes write outputs output provides produces', { name: 'stores' }],
  ['path uses use ref source import include', { name: 'file' }],
  ['name title', { name: 'id' }],
  ['definition spec template', { name: 'pipeline' }],
  ['params parameters with args arguments', { name: 'inputs' }],
  [CONDITIONS, { exact: hintForCondition, otherwise: CONDITION_OF_KEYS }],
  [`${TOLERANCES} continue_on fail_fast`, NO_TOLERANCE],
  ['on_error', { exact: hintForHandlerList, otherwise: NO_TOLERANCE }],
  [`${TIMEOUTS} timeout`, TIMEOUT_OF_PIPELINE],
  ['retry retries max_retries retry_policy retry_strategy', 'each task of its pipeline has its own "retry"'],
]);

const HINTS = new Map<readonly string[], () => Hints>([
  [TASK_FIELDS, TASK_HINTS],
  [PIPELINE_FIELDS, PIPELINE_HINTS],
  [PARAM_FIELDS, PARAM_HINTS],
  [REPEAT_FIELDS, REPEAT_HINTS],
  [PLAN_FIELDS, PLAN_HINTS],
  [SUB_PIPELINE_FIELDS, SUB_PIPELINE_HINTS],
]);

/**
 * Returns the hint for an unknown field that other products have; undefined for any other word.
 *
 * @param known the fields that the owner of the field may have: one of the lists in fields.ts
 */
export function hintForForeignField(
  field: string,
  known: readonly string[],
  owner: unknown,
): Hint | undefined {
  if (known.includes(field)) return undefined;
  const word = normalizeWord(field);
  const map = isObject(owner) ? owner : {};
  const isOfTask = known === TASK_FIELDS;
  if (isOfTask && DEPENDENCIES.split(' ').some((other) => normalizeWord(other) === word)) {
    return hintForDependencies(field, map);
  }
  const foreign = { field, word, value: map[field], owner: map, known };
  return toHint(HINTS.get(known)?.().get(word), foreign) ?? hintForHandlersOf(foreign);
}

function toHint(hint: ForeignHint | undefined, foreign: ForeignWord): Hint | undefined {
  if (typeof hint !== 'object') return hint;
  return 'name' in hint ? hintRename(foreign.field, hint.name) : (hint.exact(foreign) ?? hint.otherwise);
}

/** Handlers of runs (D80): those of a task are tasks of its pipeline. */
function hintForHandlersOf(foreign: ForeignWord): Hint | undefined {
  const { known } = foreign;
  if (known === TASK_FIELDS) return hintForHandlerOfTask(foreign);
  const hasHandlers = known === PIPELINE_FIELDS || known === PLAN_FIELDS || known === SUB_PIPELINE_FIELDS;
  return hasHandlers ? hintForHandlers(foreign) : undefined;
}

/** More would not help. */
const MAX_LISTED = 12;

function hintForDependencies(field: string, task: Record<string, unknown>): Hint {
  const { [field]: value, inputs, parallel_over } = task;
  const ids: readonly unknown[] = Array.isArray(value) ? value : guessKeys(value);
  if (ids.length === 0 || ids.length > MAX_LISTED || !ids.every((id) => typeof id === 'string')) {
    return 'write await: [ID, …]; a task waits anyway for the outputs that it reads';
  }
  const texts = joinTexts([inputs, parallel_over]);
  const isRead = (id: string): boolean => {
    const escaped = id.replaceAll(/[^\w]/g, String.raw`\$&`);
    return new RegExp(`\\{\\{\\s*${escaped}\\s*[.[}?]`).test(texts);
  };
  const others = ids.filter((id) => !isRead(id));
  if (others.length === ids.length) {
    const text = `write await: [${ids.join(', ')}]`;
    return Array.isArray(value) ? { ...hintRename(field, 'await'), text } : text;
  }
  const outputs = ids.filter(isRead).map((id) => `{{${id}.output}}`);
  const reads = `the task reads ${outputs.join(' and ')}`;
  return others.length === 0
    ? { text: `remove it: ${reads}, so it waits already`, change: { kind: 'remove' } }
    : `write await: [${others.join(', ')}]; ${reads}, so it waits for that already`;
}

/** Returns the hints of words, which most definitions never need: they are sorted when the first one is asked for. */
function createHints(groups: readonly (readonly [words: string, hint: ForeignHint])[]): () => Hints {
  let hints: Hints | undefined;
  return () => (hints ??= mapWords(groups));
}
