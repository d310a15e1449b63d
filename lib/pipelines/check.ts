import { byPosition, firstProblems, notToldAlready, placed } from '../definition/placing.js';
import { PIPELINE_SHAPE } from '../definition/schema/pipeline-shape.js';
import { rootOf } from '../definition/schema/root.js';
import type { PipelineDefinition } from '../definition/schema/schema.js';
import { type Finding, structureFindings } from '../definition/schema/structure.js';
import { readSource, type Source, sourceOfValue } from '../definition/text/source.js';
import type { Catalog } from '../tools/catalog.js';
import { assemble, upstreamOf } from './assemble.js';
import { type Known, knownOf } from './check-context.js';
import { type Draft, draftOf, inputsReadBy } from './draft.js';
import { nestedChecks, nestedPipelines } from './nested-pipelines.js';
import type { Check, CheckAnother, KnownOfRun } from './pipeline.js';
import { paramFindings } from './rules/params.js';
import { callFindings } from './rules/pipeline-calls.js';
import { referenceFindings } from './rules/references.js';
import { sessionFindings } from './rules/sessions.js';
import { taskFindings } from './rules/tasks.js';
import { superfluousInputs } from './rules/unused-inputs.js';
import { shortenedList, Suggestions } from './suggestions.js';
import { layer, type Layering } from './waves.js';

export type { Check } from './pipeline.js';

export interface CheckOptions extends KnownOfRun {
  readonly catalog: Catalog;
}

/** The one validator (D8): parses YAML or JSON, checks all there is to check, computes the waves, runs nothing (rule 11). */
export function checkPipeline(text: string, options: CheckOptions): Check {
  return checkPipelineSource(readSource(text), options);
}

/** The same for a definition that came as an object: problems have no line. */
export function checkDefinition(value: unknown, options: CheckOptions): Check {
  return checkPipelineSource(sourceOfValue(value), options);
}

/** The same for a text that has been read. */
export function checkPipelineSource(source: Source, options: CheckOptions): Check {
  return checkSource(source, knownOf(options, options.catalog));
}

/** The same for a definition that may stand within another one. */
export function checkSource(source: Source, known: Known): Check {
  if (source.value === undefined) return { ok: false, problems: source.problems };
  const root = rootOf(source.value, 'pipeline');
  if (!root.ok) return { ok: false, problems: [...source.problems, placed(root.finding, source, [])] };
  const draft = draftOf(root.definition, known.catalog);
  const order = layer(upstreamOf(draft));
  const findings = findingsOf(root.definition, draft, order, known);
  const nested = nestedChecks(draft, source, root.path, known, checkSource);
  const all = [
    ...source.problems,
    ...root.findings.map((finding) => placed(finding, source, [])),
    ...findings
      .filter(notToldAlready(source, root.path))
      .map((finding) => placed(finding, source, root.path)),
    ...nested.flatMap((check) => check.problems),
    ...superfluousInputs(known.givenInputs, takenBy(draft)),
  ];
  const problems = firstProblems(all.sort(byPosition));
  if (problems.some(({ severity }) => severity === 'error') || !order.ok) return { ok: false, problems };
  const pipeline = assemble({
    definition: root.definition as PipelineDefinition,
    draft,
    waves: order.waves,
    nested: nestedPipelines(nested),
    catalog: known.catalog,
    warnings: problems,
    checkAnother: checkWith(known.catalog),
  });
  return { ok: true, pipeline, problems };
}

function checkWith(catalog: Catalog): CheckAnother {
  return (given, known) => {
    const source = 'text' in given ? readSource(given.text) : sourceOfValue(given.value);
    return checkSource(source, { ...knownOf(known, catalog), givenInputs: [] });
  };
}

function takenBy(draft: Draft): Parameters<typeof superfluousInputs>[1] {
  return {
    inputs: new Set([...draft.inputKeys, ...inputsReadBy(draft)]),
    params: draft.paramNames,
    why: 'the pipeline neither declares nor reads it',
  };
}

function findingsOf(definition: unknown, draft: Draft, order: Layering, known: Known): Finding[] {
  const inputs = new Set([...draft.inputKeys, ...(known.inputs ?? inputsReadBy(draft))]);
  const suggestions = new Suggestions();
  return [
    ...structureFindings(definition, PIPELINE_SHAPE),
    ...paramFindings(definition),
    ...taskFindings(draft, known.catalog, suggestions),
    ...callFindings(draft, known.nesting),
    ...draft.findings,
    ...referenceFindings({ draft, inputs, inputHint: known.inputHint, suggestions }),
    ...(order.ok
      ? sessionFindings(draft, order.waves, upstreamOf(draft), known.session)
      : [cycleFinding(order, draft)]),
  ];
}

function cycleFinding({ cycle }: Layering & { ok: false }, draft: Draft): Finding {
  const first = draft.tasks.find(({ id }) => id === cycle[0]);
  return {
    code: 'cycle',
    message: `tasks wait for each other: ${shortenedList(cycle).join(' -> ')}`,
    path: first?.path ?? ['tasks'],
    hint: 'each needs the next; take one reference or await away',
  };
}
