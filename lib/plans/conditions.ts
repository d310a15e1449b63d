import type { Steps } from '../common/scheduling/steps.js';
import { nearest } from '../definition/did-you-mean.js';
import type { Diagnostic } from '../definition/problems/diagnostic.js';
import type { Path } from '../definition/problems/problem.js';
import { type Reference, resolveReference } from '../definition/template/reference.js';
import { compileInSteps, pathOfText, type Template } from '../definition/template/template.js';
import { describeSyntaxError } from '../pipelines/draft.js';
import {
  hintForBrokenCondition,
  listConditions,
  type WrittenCondition,
} from '../pipelines/flow/conditions.js';

/** A template in a condition of a sub-pipeline. */
interface PlanReference {
  readonly reference: Reference;
  /** The first name of the expression. */
  readonly root: string;
  /** The text between the braces, for messages. */
  readonly source: string;
  readonly hasFallback: boolean;
  readonly path: Path;
  /** Where the template opens in the text at the path. */
  readonly at: number;
}

/** A condition of a sub-pipeline, with the references of its template (D77). */
export interface PlanCondition extends WrittenCondition {
  readonly template: Template;
  readonly references: readonly PlanReference[];
  /** Memory of the compiled template, in bytes. */
  readonly sizeBytes: number;
  /** Syntax errors of the template. */
  readonly diagnostics: readonly Diagnostic[];
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Reads the conditions in the `when` of a sub-pipeline; the schema reports wrong types. */
export function* readPlanConditions(
  when: unknown,
  path: Path,
  inputs: ReadonlySet<string>,
): Steps<readonly PlanCondition[]> {
  const conditions: PlanCondition[] = [];
  for (const written of listConditions(when, path)) {
    const compiled = yield* compileInSteps(written.value, {});
    const references = compiled.texts.flatMap((text) =>
      text.expressions.map(({ expression, offset }): PlanReference => {
        const reference = resolveReference(expression, NO_NAMES, {
          params: NO_NAMES,
          inputs,
          suggestions: { nearest },
        });
        const { root, source, fallback } = expression;
        const at = [...written.path, ...pathOfText(text)];
        return { reference, root, source, hasFallback: fallback !== undefined, path: at, at: offset };
      }),
    );
    const { template, sizeBytes, problems } = compiled;
    const hint = problems.length === 0 ? undefined : hintForBrokenCondition(written.value);
    const diagnostics = problems.map((problem) =>
      describeSyntaxError(problem, [...written.path, ...problem.path], hint),
    );
    conditions.push({ ...written, template, references, sizeBytes, diagnostics });
  }
  return conditions;
}

/** Lists the session keys that conditions read, with those of which a condition has no default. */
export function listConditionKeys(conditions: readonly PlanCondition[]): {
  readonly all: readonly string[];
  readonly required: readonly string[];
} {
  if (conditions.length === 0) return { all: [], required: [] };
  const reads = conditions.flatMap(({ references }) =>
    references.flatMap(({ reference, hasFallback }) =>
      reference.kind === 'session' ? [{ key: reference.key, hasFallback }] : [],
    ),
  );
  const all = new Set(reads.map(({ key }) => key));
  const required = new Set(reads.filter(({ hasFallback }) => !hasFallback).map(({ key }) => key));
  return { all: [...all], required: [...required] };
}
