import { systemClock } from '../../common/clock.js';
import type { TestResultSchema } from '../../common/wire/report.js';
import type { Shape } from '../../common/wire/shape.js';
import { PIPELINE_TEST_LIMITS } from '../../definition/schema/fields.js';
import type { CaseReport } from './definition-tests.js';
import { openTests, type TestSetup, type TestSources } from './definition-tests.js';

/** The results that a server sends. */
export interface TestResult extends Shape<typeof TestResultSchema> {}

/**
 * Runs tests for a request to a server, within its limits (D91): so many cases, and so much time for all of them together.
 * @param signal aborts when nobody waits for the results any more
 */
export async function runRequestedTests(
  sources: TestSources,
  setup: TestSetup,
  signal: AbortSignal,
): Promise<Omit<TestResult, 'file'>> {
  const opened = await openTests(sources, setup);
  if (!opened.ok) {
    const { problems, isDefinition } = opened;
    return { ok: false, problems, in_definition: isDefinition, cases: [], left_out: 0, coverage: null };
  }
  const { tests } = opened;
  const { serverCases, serverMs, caseMs } = PIPELINE_TEST_LIMITS;
  const endMs = systemClock.monotonicNow() + serverMs;
  const cases: CaseReport[] = [];
  try {
    for (const index of tests.cases.keys()) {
      const leftMs = endMs - systemClock.monotonicNow();
      if (index >= serverCases || leftMs <= 0 || signal.aborted) break;
      cases.push((await tests.run(index, Math.min(caseMs, leftMs))).report);
    }
  } finally {
    await tests.close();
  }
  const leftOut = tests.cases.length - cases.length;
  return {
    ok: leftOut === 0 && cases.every(({ ok }) => ok),
    problems: [],
    in_definition: false,
    cases,
    left_out: leftOut,
    coverage: leftOut === 0 ? tests.coverage : null,
  };
}
