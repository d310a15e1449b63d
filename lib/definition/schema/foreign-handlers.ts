import { isObject } from '../../common/json/json.js';
import { type Hint, hintRename } from '../problems/hint.js';
import type { HandlerListName } from './fields.js';
import { type ForeignWord, mapWords, normalizeWord } from './foreign-word.js';

/** Words of other products for tasks that run when a run ends, by the list that has them here (D80). */
const LIST_WORDS: Readonly<Record<HandlerListName, string>> = {
  on_success: 'on_success success on_success_callback if_success notify_on_success',
  on_failure:
    'on_failure failure on_fail on_error errors error catch rescue on_failure_callback if_failure notify_on_failure',
  on_cancel: 'on_cancel cancel on_cancelled cancelled on_abort abort',
  finally:
    'finally always on_exit exit exit_handler on_complete on_completion after_execution ensure cleanup teardown on_finish',
};

/** Words for a map of handlers, or for handlers of any kind. */
const ANY_LIST = new Set(
  'handlers handleron hooks hook notify notifications mailon lifecycle callbacks listeners'.split(' '),
);

/** Words that mean a handler only within a map of handlers, as in `handler_on: {failure: …}`. */
const INNER_WORDS = new Set('success failure error cancel cancelled abort exit cleanup'.split(' '));

const LISTS = mapWords(Object.entries(LIST_WORDS).map(([list, words]) => [words, list] as const));

/** Returns the hint for a field of a task: handlers are those of its pipeline. */
export function hintForHandlerOfTask({ word, value }: ForeignWord): Hint | undefined {
  const found = describeLists(word, value);
  return found && `tasks have no handlers: write ${found} beside "tasks"`;
}

/** Returns the hint for a field of a pipeline, a plan or a sub-pipeline: a list of tasks has only another name. */
export function hintForHandlers({ field, word, value, known }: ForeignWord): Hint | undefined {
  const found = describeLists(word, value);
  if (found === undefined) return undefined;
  if (!known.includes('finally'))
    return `each pipeline of a plan has its own: write ${found} beside its "tasks"`;
  const list = LISTS.get(word);
  if (list !== undefined && Array.isArray(value) && value.length > 0 && value.every(isObject))
    return hintRename(field, list);
  return `write ${found} beside "${known.includes('tasks') ? 'tasks' : 'sub_pipelines'}"`;
}

/** Words that say whether a run goes on after a failure, as in `on_error: continue`. */
const OUTCOMES: ReadonlySet<unknown> = new Set('continue ignore skip resume fail stop abort'.split(' '));

/** As `hintForHandlers`, unless the value is no handler. */
export function hintForHandlerList(foreign: ForeignWord): Hint | undefined {
  const { value } = foreign;
  return OUTCOMES.has(value) || typeof value === 'boolean' ? undefined : hintForHandlers(foreign);
}

/** Names the lists that a word, or the keys of a map under it, mean; undefined for any other word. */
function describeLists(word: string, value: unknown): string | undefined {
  const list = INNER_WORDS.has(word) ? undefined : LISTS.get(word);
  if (list !== undefined) return describe([list]);
  if (!ANY_LIST.has(word)) return undefined;
  const keys = isObject(value) ? Object.keys(value) : [];
  const meant = new Set(keys.flatMap((key) => LISTS.get(normalizeWord(key)) ?? []));
  return meant.size === 0
    ? 'on_success, on_failure, on_cancel or finally, each a list of tasks,'
    : describe([...meant]);
}

function describe(lists: readonly string[]): string {
  const [first = ''] = lists;
  return lists.length === 1
    ? `${first}: [{id: ID, tool: NAME}], a list of tasks,`
    : `${lists.join(' and ')}, each a list of tasks,`;
}
