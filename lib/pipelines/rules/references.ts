import type { Finding } from '../../definition/schema/structure.js';
import { parseTemplate } from '../../definition/template/parser.js';
import type { Draft, DraftTask, PlacedReference } from '../draft.js';
import type { Suggestions } from '../suggestions.js';

/** What references are held against. */
export interface Known {
  readonly draft: Draft;
  /** Keys of `pipeline.inputs` that a run may read: those of the definition and those given for the run (D5). */
  readonly inputs: ReadonlySet<string>;
  readonly inputHint: string;
  readonly suggestions: Suggestions;
}

/** Do all templates resolve to something declared (rule 11)? */
export function referenceFindings(known: Known): Finding[] {
  const { draft } = known;
  return [
    ...draft.goalReferences.flatMap((placed) => goalFindings(placed, known)),
    ...draft.tasks.flatMap((task) => [
      ...task.references.flatMap((placed) => findingsOf(placed, task, known)),
      ...task.overReferences.flatMap((placed) => overFindings(placed, task, known)),
      ...awaitFindings(task, known),
      ...fanOutFindings(task),
    ]),
  ];
}

function findingsOf(placed: PlacedReference, task: DraftTask, known: Known): Finding[] {
  const { reference, source, path } = placed;
  switch (reference.kind) {
    case 'unknown':
      return [
        {
          code: 'unknown_reference',
          message: `{{${source}}}: ${reference.message}`,
          path,
          ...hintOf(reference.hint),
        },
      ];
    case 'task':
      return taskFindings(placed, reference.taskId, reference.omitted, task);
    case 'param':
      return paramFindings(placed, reference.name, known);
    case 'input':
      return inputFindings(placed, reference.key, known);
    case 'item':
      return task.fansOut ? [] : [itemOutside(placed)];
    case 'session':
    case 'goal':
      return [];
  }
}

function taskFindings(
  { source, path }: PlacedReference,
  taskId: string,
  omitted: boolean,
  task: DraftTask,
): Finding[] {
  if (taskId === task.id) {
    return [{ code: 'self_reference', message: `task "${taskId}" reads its own output`, path }];
  }
  if (!omitted) return [];
  const hint = `write {{${source.replace(taskId, `${taskId}.output`)}}}`;
  return [
    { code: 'output_omitted', message: `{{${source}}} leaves out "output"`, path, hint, severity: 'warning' },
  ];
}

function paramFindings(
  { source, path }: PlacedReference,
  name: string,
  { draft, suggestions }: Known,
): Finding[] {
  if (draft.paramNames.has(name)) return [];
  const hint = suggestions.hint(name, draft.paramNames, `declare it under "params"`);
  return [
    { code: 'unknown_reference', message: `{{${source}}}: there is no param "${name}"`, path, ...hint },
  ];
}

function inputFindings(
  { source, path, hasFallback }: PlacedReference,
  key: string,
  { inputs, inputHint, suggestions }: Known,
): Finding[] {
  if (inputs.has(key) || hasFallback) return [];
  const hint = suggestions.hint(key, inputs, inputHint);
  return [{ code: 'unknown_reference', message: `{{${source}}}: there is no input "${key}"`, path, ...hint }];
}

function itemOutside({ source, path }: PlacedReference): Finding {
  const message = `{{${source}}} stands in a task without parallel_over`;
  return {
    code: 'item_outside_fan_out',
    message,
    path,
    hint: 'add parallel_over, with the list to take items from',
  };
}

function goalFindings(placed: PlacedReference, known: Known): Finding[] {
  const { reference, source, path } = placed;
  if (reference.kind === 'param') return paramFindings(placed, reference.name, known);
  const message = `{{${source}}}: the goal may hold params only`;
  return [{ code: 'unknown_reference', message, path, hint: 'write {{params.NAME}}' }];
}

function overFindings(placed: PlacedReference, task: DraftTask, known: Known): Finding[] {
  if (placed.reference.kind !== 'item') return findingsOf(placed, task, known);
  const message = 'parallel_over cannot read the item: it is what items come from';
  return [{ code: 'item_outside_fan_out', message, path: placed.path }];
}

function fanOutFindings(task: DraftTask): Finding[] {
  if (task.over === undefined) return [];
  const findings: Finding[] = [];
  const path = [...task.path, 'parallel_over'];
  if (!isOneTemplate(task)) {
    const hint = 'write "{{TASK.output}}", with nothing around it';
    findings.push({
      code: 'invalid_value',
      message: 'parallel_over must be exactly one template',
      path,
      hint,
    });
  }
  if (!task.references.some(({ reference }) => reference.kind === 'item')) {
    const message = `task "${task.id}" fans out, but its inputs never read {{item}}`;
    findings.push({ code: 'item_unused', message, path, hint: 'use {{item}} in its inputs' });
  }
  return findings;
}

/** What is wrong inside the braces has been reported; here it matters that nothing stands around them. */
function isOneTemplate({ overText }: DraftTask): boolean {
  const parsed = parseTemplate(overText ?? '');
  return parsed !== undefined && (!parsed.ok || parsed.whole);
}

function awaitFindings(task: DraftTask, { draft, suggestions }: Known): Finding[] {
  return task.awaits.flatMap((id, index): Finding[] => {
    const path = [...task.path, 'await', index];
    if (id === task.id) return [{ code: 'self_reference', message: `task "${id}" awaits itself`, path }];
    if (draft.taskIds.has(id)) return [];
    const hint = suggestions.hint(id, draft.taskIds);
    return [{ code: 'unknown_reference', message: `there is no task "${id}" to await`, path, ...hint }];
  });
}

function hintOf(hint: string | undefined): { hint?: string } {
  return hint === undefined ? {} : { hint };
}
