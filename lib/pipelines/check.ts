import type { Path, Problem } from '../definition/problem.js';
import { pointerOf } from '../definition/problem.js';
import type { PipelineDefinition } from '../definition/schema.js';
import { readSource, type Source, sourceOfValue } from '../definition/source.js';
import { type Finding, structureFindings } from '../definition/structure.js';
import type { JsonObject } from '../json.js';
import type { Catalog } from '../tools/catalog.js';
import { type Layering, layer } from '../waves/layering.js';
import { assemble } from './assemble.js';
import { type Draft, draftOf } from './draft.js';
import { upstreamOf } from './order.js';
import { paramFindings } from './param-findings.js';
import type { Pipeline } from './pipeline.js';
import { referenceFindings } from './reference-findings.js';
import { rootOf } from './root.js';
import { sessionFindings } from './session-findings.js';
import { Suggestions } from './suggestions.js';
import { taskFindings } from './task-findings.js';

export interface CheckOptions {
  readonly catalog: Catalog;
  /** Inputs given for the run; reading one that neither they nor the definition provide is an error (D5). */
  readonly inputs?: JsonObject;
  /** Session values given for the run; reading a key that nothing provides is a warning (D9). */
  readonly session?: JsonObject;
}

/** A pipeline that may run, with warnings; or all that keeps it from running. */
export type Check =
  | { readonly ok: true; readonly pipeline: Pipeline; readonly problems: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The one validator (D8): parses YAML or JSON, checks all there is to check, computes the waves, runs nothing (rule 11). */
export function checkPipeline(text: string, options: CheckOptions): Check {
  return checkSource(readSource(text), options);
}

/** The same for a definition that came as an object: problems have no line. */
export function checkDefinition(value: unknown, options: CheckOptions): Check {
  return checkSource(sourceOfValue(value), options);
}

function checkSource(source: Source, options: CheckOptions): Check {
  if (source.value === undefined) return { ok: false, problems: source.problems };
  const root = rootOf(source.value);
  if (!root.ok) return { ok: false, problems: [...source.problems, placed(root.finding, source, [])] };
  const draft = draftOf(root.definition);
  const order = layer(upstreamOf(draft));
  const findings = findingsOf(root.definition, draft, order, options);
  const unquoted = new Set(source.unquoted.map(pointerOf));
  const problems = [
    ...source.problems,
    ...root.findings.map((finding) => placed(finding, source, [])),
    ...findings
      .filter((finding) => !isToldAlready(finding, unquoted, root.path))
      .map((finding) => placed(finding, source, root.path)),
  ].sort(byPosition);
  if (problems.some(({ severity }) => severity === 'error') || !order.ok) return { ok: false, problems };
  const pipeline = assemble(
    root.definition as PipelineDefinition,
    draft,
    order.waves,
    options.catalog,
    problems,
  );
  return { ok: true, pipeline, problems };
}

function findingsOf(definition: unknown, draft: Draft, order: Layering, options: CheckOptions): Finding[] {
  const inputs = new Set([...draft.inputKeys, ...Object.keys(options.inputs ?? {})]);
  const suggestions = new Suggestions();
  return [
    ...structureFindings(definition),
    ...paramFindings(definition),
    ...taskFindings(draft, options.catalog, suggestions),
    ...draft.findings,
    ...referenceFindings({ draft, inputs, suggestions }),
    ...(order.ok
      ? sessionFindings(draft, order.waves, upstreamOf(draft), sessionKeys(options))
      : [cycleFinding(order, draft)]),
  ];
}

function sessionKeys({ session }: CheckOptions): ReadonlySet<string> {
  return new Set(Object.keys(session ?? {}));
}

function cycleFinding({ cycle }: Layering & { ok: false }, draft: Draft): Finding {
  const first = draft.tasks.find(({ id }) => id === cycle[0]);
  return {
    code: 'cycle',
    message: `tasks wait for each other: ${shortened(cycle).join(' -> ')}`,
    path: first?.path ?? ['tasks'],
    hint: 'each needs the next; take one reference or await away',
  };
}

function shortened(cycle: readonly string[]): string[] {
  return cycle.length <= 12 ? [...cycle] : [...cycle.slice(0, 6), '…', ...cycle.slice(-5)];
}

/** What stands at or below an unquoted template has been told already, in better words. */
function isToldAlready({ path }: Finding, unquoted: ReadonlySet<string>, base: Path): boolean {
  const whole = [...base, ...path];
  return unquoted.size > 0 && whole.some((_, depth) => unquoted.has(pointerOf(whole.slice(0, depth + 1))));
}

function placed({ code, message, path, hint, at, severity }: Finding, source: Source, base: Path): Problem {
  const whole = [...base, ...path];
  return {
    code,
    message,
    path: pointerOf(whole),
    severity: severity ?? 'error',
    ...source.positionOf(whole, at),
    ...(hint === undefined ? {} : { hint }),
  };
}

/** Errors first, each kind in the order of the text; a sort keeps the order of what has no line. */
function byPosition(a: Problem, b: Problem): number {
  if (a.severity !== b.severity) return a.severity === 'error' ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}
