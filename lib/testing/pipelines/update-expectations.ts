import type { Json } from '../../common/json/json.js';
import { updateYaml, type YamlUpdate } from '../../definition/text/update-yaml.js';
import { findDifferences } from './expectation.js';
import type { CaseResult } from './definition-tests.js';
import type { CaseOutcome } from './run-case.js';

/** The text of a file of tests with what came out, and how many of its cases were changed. */
export interface UpdatedTests {
  readonly text: string;
  readonly cases: number;
}

/**
 * Writes what came out of cases that have failed into their expectations (D91). A case that expects nothing gets all outputs. An
 * expectation that is a schema stays, and so does a case whose run was refused or lacks an answer: a person has to decide.
 */
export function updateExpectations(text: string, results: readonly CaseResult[]): UpdatedTests {
  const updates = results.map(listUpdates);
  const changed = updates.filter((ofCase) => ofCase.length > 0);
  if (changed.length === 0) return { text, cases: 0 };
  return { text: updateYaml(text, changed.flat()), cases: changed.length };
}

function listUpdates({ index, expect, outcome, report }: CaseResult): YamlUpdate[] {
  if (outcome === undefined) return [];
  const path = ['cases', index, 'expect'];
  if (Object.keys(expect).length === 0) return [{ path, value: describeOutcome(outcome) }];
  const byPath = new Map(
    findDifferences(expect, outcome, Number.POSITIVE_INFINITY).flatMap(
      ({ update }): [string, YamlUpdate][] =>
        update === undefined
          ? []
          : [[JSON.stringify(update.path), { path: [...path, ...update.path], value: update.value }]],
    ),
  );
  const failed = report.problems.some(({ path: at }) => at.endsWith('/expect/status'));
  // A run that has failed without being expected to has an error that says why.
  if (failed && outcome.error !== null && expect.error === undefined)
    byPath.set('error', { path: [...path, 'error'], value: outcome.error });
  return [...byPath.values()];
}

function describeOutcome({ status, error, outputs, skipped, failed }: CaseOutcome): Json {
  const failedTasks = [...new Set(failed.map(({ task }) => task))];
  return {
    status,
    ...(error !== null && { error }),
    outputs: Object.fromEntries(outputs),
    ...(skipped.size > 0 && { skipped: [...skipped.keys()] }),
    ...(failedTasks.length > 0 && { failed: failedTasks }),
  };
}
