import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import { hintForItems } from '../../definition/schema/value-hints.js';
import { type ChangeHint, type Hint, hintRename } from '../../definition/problems/hint.js';
import { Suggestions } from '../../definition/did-you-mean.js';
import { GOAL_HINT } from '../../definition/template/goal.js';
import { isHandlerMember, type Reference, THIS } from '../../definition/template/reference.js';
import { parseTemplate } from '../../definition/template/parsing/parser.js';
import type { DraftTask, LocatedReference, PipelineDraft } from '../draft.js';

/** How to fix names that a definition other than a pipeline does not have. */
export interface NameHints {
  /** Of a param that is not declared. */
  readonly ofParam: (name: string) => Hint;
  /** Of the first name of a template, which is unknown. */
  readonly ofRoot: (name: string, source: string) => Hint | undefined;
  /** Of an unknown task in `await`. */
  readonly ofAwaited: (id: string) => Hint | undefined;
  /** Templates that are at hand, for a condition that has none. */
  readonly example: string;
}

interface ReferenceContext {
  readonly draft: PipelineDraft;
  /** Keys of `pipeline.inputs` that a run may read: declared ones and those of the run (D5). */
  readonly inputs: ReadonlySet<string>;
  readonly inputHint: string;
  readonly nameHints?: NameHints | undefined;
  readonly suggestions: Suggestions;
}

/** Checks that all templates reference something declared (rule 11). */
export function* checkReferences(context: ReferenceContext): Findings {
  const { draft } = context;
  for (const located of draft.goalReferences) {
    yield* checkGoalReference(located, context);
    if (located.reference.kind === 'param') yield* checkDollar(located);
  }
  for (const task of draft.tasks) {
    yield;
    for (const located of task.references) {
      yield* checkReference(located, task, context);
      yield* checkDollar(located);
    }
    for (const located of task.parallelOverReferences) {
      const { reference, path, at } = located;
      const message = 'parallel_over cannot read the item, because it provides the items';
      if (reference.kind === 'item') yield { code: 'item_outside_fan_out', message, path, at };
      else yield* checkReference(located, task, context);
    }
    for (const located of task.conditions.flatMap(({ references }) => references)) {
      yield* checkReference(located, task, context);
      yield* checkDollar(located);
    }
    for (const located of task.until.flatMap(({ references }) => references)) {
      yield* checkReferenceOfRound(located, task, context);
      yield* checkDollar(located);
    }
    yield* checkAwait(task, context);
    yield* checkFanOut(task);
  }
}

/** Warns of `${{params.x}}`, as other products write it (D9). In `parallel_over`, any text is an error. */
function* checkDollar({ afterDollar, reference, source, path, at }: LocatedReference): Generator<Diagnostic> {
  if (!afterDollar) return;
  const advice = reference.kind === 'unknown' ? 'remove it' : `write {{${source}}}`;
  const hint = `${advice}, unless the text needs the "$"`;
  const message = `the "$" before {{${source}}} stays in the text`;
  yield { code: 'stray_dollar', severity: 'warning', message, path, at, hint };
}

function checkGoalReference(located: LocatedReference, context: ReferenceContext): Diagnostic[] {
  const { reference, source, path, at } = located;
  if (reference.kind === 'param') return checkParam(located, reference.name, context);
  if (reference.kind === 'secret') return [];
  const message = `{{${source}}} stays text: the goal can only read params`;
  return [{ code: 'unknown_reference', message, path, at, hint: GOAL_HINT, severity: 'warning' }];
}

function checkReference(located: LocatedReference, task: DraftTask, context: ReferenceContext): Diagnostic[] {
  const { reference, root, source, path, at } = located;
  switch (reference.kind) {
    case 'unknown': {
      const message = `{{${source}}}: ${reference.message}`;
      const hint = context.nameHints?.ofRoot(root, source) ?? reference.hint;
      return [{ code: 'unknown_reference', message, path, at, hint }];
    }
    case 'task':
      return checkOutput(located, reference, task);
    case 'param':
      return checkParam(located, reference.name, context);
    case 'input':
      return checkInput(located, reference.key, context);
    case 'item': {
      // A task with that id is reported for its id.
      if (task.fansOut || context.draft.taskIds.has('item')) return [];
      const message = `{{${source}}} is used in a task without parallel_over`;
      const hint = 'add parallel_over with the list of items';
      return [{ code: 'item_outside_fan_out', message, path, at, hint }];
    }
    case 'run':
      return checkRunMember(located, reference.member, task);
    case 'this': {
      const message = `{{${source}}}: "this" is the output of a round, which only repeat.until reads`;
      const hint = 'write TASK.output to read the output of another task';
      return [{ code: 'this_outside_repeat', message, path, at, hint }];
    }
    case 'session':
    case 'secret':
    case 'goal':
      return [];
  }
}

/** The end of a run is known to its handlers only (D80). */
function checkRunMember(
  { source, path, at }: LocatedReference,
  member: string,
  { id, list }: DraftTask,
): Diagnostic[] {
  if (list !== 'tasks' || !isHandlerMember(member)) return [];
  const message = `{{${source}}}: task "${id}" runs before the end of the run is known`;
  const hint = 'move the task to "finally", "on_failure", "on_success" or "on_cancel"';
  return [{ code: 'unknown_reference', message, path, at, hint }];
}

/** Checks a reference in `repeat.until` (D83). */
function checkReferenceOfRound(
  located: LocatedReference,
  task: DraftTask,
  context: ReferenceContext,
): Diagnostic[] {
  const { reference, source } = located;
  if (reference.kind === THIS) return checkOmitted(located, THIS, reference);
  const problems = checkReference(located, task, context);
  if (reference.kind !== 'task' || reference.taskId !== task.id) return problems;
  const own = `${THIS}${source.slice(task.id.length)}`;
  return problems.map((problem) => ({ ...problem, hint: hintRename(source, own) }));
}

function checkOutput(
  located: LocatedReference,
  reference: Reference & { kind: 'task' },
  task: DraftTask,
): Diagnostic[] {
  const { path, at } = located;
  const { taskId } = reference;
  if (taskId === task.id) {
    return [{ code: 'self_reference', message: `task "${taskId}" reads its own output`, path, at }];
  }
  const problems = checkOmitted(located, taskId, reference);
  const [, member] = STATE.exec(located.source.slice(taskId.length)) ?? [];
  if (member === undefined) return problems;
  const hint = `write {{${taskId}.output.${member}}} for a field of the output; only tasks with "when" or "on_error: continue" have {{ID.${member}}} of their own, and a handler reads {{run.${member}}}`;
  return problems.map((problem) => ({ ...problem, hint }));
}

/** The path to the state of a task, which only some tasks have (D79). */
const STATE = /^\s*\.\s*(error|status)\s*(?:\?\?|$)/;

/** Warns of a path that leaves out `output` (D11). */
function checkOmitted(
  { source, path, at }: LocatedReference,
  root: string,
  { omitted, meant }: { readonly omitted: boolean; readonly meant?: string },
): Diagnostic[] {
  if (!omitted) return [];
  const full = `write {{${source.replace(root, `${root}.output`)}}}`;
  const hint: ChangeHint =
    meant === undefined
      ? { ...hintRename(root, `${root}.output`), text: full }
      : { ...hintRename(source, meant), text: `did you mean {{${meant}}}? Otherwise ${full}` };
  const message = `{{${source}}} leaves out "output"`;
  return [{ code: 'output_omitted', message, path, at, hint, severity: 'warning' }];
}

function checkParam(
  { source, path, at }: LocatedReference,
  name: string,
  { draft, nameHints, suggestions }: ReferenceContext,
): Diagnostic[] {
  if (draft.paramNames.has(name)) return [];
  const change = { kind: 'set', path: ['params', name], value: { type: 'string' } } as const;
  const hint = draft.inputKeys.has(name)
    ? hintRename(`params.${name}`, `pipeline.inputs.${name}`)
    : (nameHints?.ofParam(name) ??
      suggestions.hint(name, draft.paramNames, { text: 'declare it under "params"', change }, 'params.'));
  const message = `{{${source}}}: there is no param "${name}"`;
  return [{ code: 'unknown_reference', message, path, at, hint }];
}

function checkInput(
  { source, path, at, hasFallback }: LocatedReference,
  key: string,
  { draft, inputs, inputHint, suggestions }: ReferenceContext,
): Diagnostic[] {
  if (inputs.has(key) || hasFallback) return [];
  const hint = draft.paramNames.has(key)
    ? hintRename(`pipeline.inputs.${key}`, `params.${key}`)
    : suggestions.hint(key, inputs, inputHint, 'pipeline.inputs.');
  const message = `{{${source}}}: there is no input "${key}"`;
  return [{ code: 'unknown_reference', message, path, at, hint }];
}

function* checkAwait(
  task: DraftTask,
  { draft, nameHints, suggestions }: ReferenceContext,
): Generator<Diagnostic> {
  for (const [index, id] of task.awaits.entries()) {
    const path = [...task.path, 'await', index];
    if (id === task.id) yield { code: 'self_reference', message: `task "${id}" awaits itself`, path };
    else if (!draft.taskIds.has(id)) {
      const hint = nameHints?.ofAwaited(id) ?? suggestions.hint(id, draft.taskIds);
      yield { code: 'unknown_reference', message: `there is no task "${id}" to await`, path, hint };
    }
  }
}

function checkFanOut(task: DraftTask): Diagnostic[] {
  if (task.parallelOver === undefined) return [];
  const diagnostics: Diagnostic[] = [];
  const path = [...task.path, 'parallel_over'];
  if (!isSingleTemplate(task)) {
    const message = 'parallel_over must be exactly one template';
    const hint = hintForItems(task.parallelOverText);
    diagnostics.push({ code: 'invalid_value', message, path, hint });
  }
  if (!task.references.some(({ reference }) => reference.kind === 'item')) {
    const message = `task "${task.id}" fans out, but its inputs never read {{item}}`;
    diagnostics.push({ code: 'item_unused', message, path, hint: 'use {{item}} in its inputs' });
  }
  return diagnostics;
}

/** Ignores errors within the braces, which are reported elsewhere; checks only that nothing is around them. */
function isSingleTemplate({ parallelOverText }: DraftTask): boolean {
  const parsed = parseTemplate(parallelOverText ?? '');
  return parsed !== undefined && (!parsed.ok || parsed.whole);
}

/** The inputs of a run that a definition uses. */
interface UsedInputs {
  readonly inputs: ReadonlySet<string>;
  /** Names of params, which a caller may confuse with inputs (D4). */
  readonly params?: ReadonlySet<string>;
  /** Why another input is not used: `the pipeline neither …`. */
  readonly reason: string;
}

/**
 * Warns of inputs of a run that nothing uses, which are mostly typing mistakes (D5). They are no part of the
 * definition, so they have no path.
 */
export function* checkUnusedInputs(supplied: Iterable<string>, used: UsedInputs): Findings {
  const { inputs, params, reason } = used;
  const suggestions = new Suggestions();
  for (const key of supplied) {
    if (inputs.has(key)) continue;
    const message = `the input "${key}" of the run is not used: ${reason}`;
    const isParam = params?.has(key) === true;
    const hint = isParam ? `"${key}" is a param: pass it with --params` : suggestions.hint(key, inputs);
    yield { code: 'unknown_input', message, path: [], severity: 'warning', hint };
  }
}
