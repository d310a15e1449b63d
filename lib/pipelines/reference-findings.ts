import type { Finding } from '../definition/structure.js';
import { nearest } from '../definition/suggest.js';
import type { Draft, DraftTask, PlacedReference } from './draft.js';

/** Keys of `pipeline.inputs` that a run may read: those of the definition and those given for the run (D5). */
export type KnownInputs = ReadonlySet<string>;

/** Do all templates resolve to something declared (rule 11)? */
export function referenceFindings(draft: Draft, inputs: KnownInputs): Finding[] {
  return [
    ...draft.goalReferences.flatMap((placed) => goalFindings(placed, draft)),
    ...draft.tasks.flatMap((task) => [
      ...task.references.flatMap((placed) => findingsOf(placed, task, draft, inputs)),
      ...task.overReferences.flatMap((placed) => overFindings(placed, task, draft, inputs)),
      ...awaitFindings(task, draft),
      ...fanOutFindings(task),
    ]),
  ];
}

function findingsOf(placed: PlacedReference, task: DraftTask, draft: Draft, inputs: KnownInputs): Finding[] {
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
      return paramFindings(placed, reference.name, draft);
    case 'input':
      return inputFindings(placed, reference.key, inputs);
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

function paramFindings({ source, path }: PlacedReference, name: string, draft: Draft): Finding[] {
  if (draft.paramNames.has(name)) return [];
  const hint = suggestion(name, draft.paramNames, `declare it under "params"`);
  return [
    { code: 'unknown_reference', message: `{{${source}}}: there is no param "${name}"`, path, ...hint },
  ];
}

function inputFindings(
  { source, path, hasFallback }: PlacedReference,
  key: string,
  inputs: KnownInputs,
): Finding[] {
  if (inputs.has(key) || hasFallback) return [];
  const hint = suggestion(key, inputs, `give it a default under "inputs", or pass it with --inputs`);
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

function goalFindings(placed: PlacedReference, draft: Draft): Finding[] {
  const { reference, source, path } = placed;
  if (reference.kind === 'param') return paramFindings(placed, reference.name, draft);
  const message = `{{${source}}}: the goal may hold params only`;
  return [{ code: 'unknown_reference', message, path, hint: 'write {{params.NAME}}' }];
}

function overFindings(
  placed: PlacedReference,
  task: DraftTask,
  draft: Draft,
  inputs: KnownInputs,
): Finding[] {
  if (placed.reference.kind !== 'item') return findingsOf(placed, task, draft, inputs);
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

/** Nothing stands around the braces; what is wrong inside of them has been reported. */
function isOneTemplate({ overText, overReferences }: DraftTask): boolean {
  const text = overText ?? '';
  return text.startsWith('{{') && text.endsWith('}}') && overReferences.length <= 1;
}

function awaitFindings(task: DraftTask, draft: Draft): Finding[] {
  return task.awaits.flatMap((id, index): Finding[] => {
    const path = [...task.path, 'await', index];
    if (id === task.id) return [{ code: 'self_reference', message: `task "${id}" awaits itself`, path }];
    if (draft.taskIds.has(id)) return [];
    const hint = suggestion(id, draft.taskIds);
    return [{ code: 'unknown_reference', message: `there is no task "${id}" to await`, path, ...hint }];
  });
}

function suggestion(name: string, known: Iterable<string>, otherwise?: string): { hint?: string } {
  const near = nearest(name, known);
  return hintOf(near === undefined ? otherwise : `did you mean "${near}"?`);
}

function hintOf(hint: string | undefined): { hint?: string } {
  return hint === undefined ? {} : { hint };
}
