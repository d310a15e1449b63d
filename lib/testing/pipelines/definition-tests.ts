import { systemClock } from '../../common/clock.js';
import { type Json, toJsonPointer } from '../../common/json/json.js';
import { estimateLength } from '../../common/json/json-writer.js';
import type { MemoryPool } from '../../common/memory/memory-pool.js';
import type { Shape } from '../../common/wire/shape.js';
import type { CaseProblemSchema, CaseReportSchema } from '../../common/wire/report.js';
import { PIPELINE_TEST_LIMITS } from '../../definition/schema/fields.js';
import type { Path, Problem } from '../../definition/problems/problem.js';
import type { TestCaseDefinition, TestExpectation } from '../../definition/schema/test-schema.js';
import { type CheckSteps, requestSource, type Source } from '../../definition/text/source.js';
import type { Catalog } from '../../tools/catalog.js';
import type { FileAccess } from '../../tools/files/access.js';
import { AnsweringTools } from './answers.js';
import { CoverageCount, type TestCoverage } from './coverage.js';
import { type Difference, findDifferences } from './expectation.js';
import { JumpClock } from './jump-clock.js';
import { type CaseOutcome, CaseRunner } from './run-case.js';
import { checkTestFile, valuesOfCases } from './test-file.js';
import { checkTestedInSteps, type DefinitionSources, readDefinitionValues } from './tested-definition.js';

/** A reason why a case has failed, with its place in the file of tests. */
export interface CaseProblem extends Shape<typeof CaseProblemSchema> {}

/** The result of one case. */
export interface CaseReport extends Shape<typeof CaseReportSchema> {}

/** The text of a file of tests, and the definition that it is about. */
export interface TestSources {
  readonly text: string;
  readonly definition: DefinitionSources;
}

export interface TestSetup {
  readonly catalog: Catalog;
  readonly files: FileAccess;
  readonly tenantId?: string;
  /** The memory that all runs of a server share. */
  readonly memory?: MemoryPool;
  /** Does the steps of checks, in this process or beside others. */
  readonly check: <T>(steps: CheckSteps<T>) => Promise<T>;
}

/** The tests of a definition, ready to run; or the problems of the file of tests or of its definition. */
export type OpenedTests =
  | { readonly ok: true; readonly tests: DefinitionTests }
  | {
      readonly ok: false;
      readonly problems: readonly Problem[];
      /** The file that the problems are in. */
      readonly isDefinition: boolean;
    };

/** Checks a file of tests and its definition. */
export async function openTests({ text, definition }: TestSources, setup: TestSetup): Promise<OpenedTests> {
  const { catalog, files, tenantId = 'default', memory, check } = setup;
  const source = await check(requestSource(text));
  const own = checkTestFile(source, undefined);
  if (!own.ok) return { ok: false, problems: own.problems, isDefinition: false };
  const clock = new JumpClock();
  const tools = new AnsweringTools(clock);
  const answering = tools.replaceIn(catalog, await check(readDefinitionValues(definition)));
  const checked = await check(checkTestedInSteps(definition, answering, valuesOfCases(own.cases)));
  if (!checked.ok) return { ok: false, problems: checked.problems, isDefinition: true };
  const { tested } = checked;
  const named = checkTestFile(source, tested);
  if (!named.ok) return { ok: false, problems: named.problems, isDefinition: false };
  const runner = new CaseRunner({ tested, tools, clock, files, tenantId, memory });
  return { ok: true, tests: new DefinitionTests(named.cases, source, runner, new CoverageCount(tested)) };
}

/** The result of a case. */
export interface CaseResult {
  readonly index: number;
  readonly expect: TestExpectation;
  readonly report: CaseReport;
  /** Undefined when there is nothing to compare: the run was refused, or an answer was missing. */
  readonly outcome: CaseOutcome | undefined;
}

/** The cases of one file, to be run one after another. */
export class DefinitionTests {
  readonly cases: readonly TestCaseDefinition[];
  readonly #source: Source;
  readonly #runner: CaseRunner;
  readonly #count: CoverageCount;

  constructor(
    cases: readonly TestCaseDefinition[],
    source: Source,
    runner: CaseRunner,
    count: CoverageCount,
  ) {
    this.cases = cases;
    this.#source = source;
    this.#runner = runner;
    this.#count = count;
  }

  get coverage(): TestCoverage {
    return this.#count.coverage;
  }

  /** @param limitMs time that the case may take */
  async run(index: number, limitMs?: number): Promise<CaseResult> {
    const each = this.cases[index] ?? { name: '' };
    const begunMs = systemClock.monotonicNow();
    const run = await this.#runner.run(each, limitMs);
    const outcome = 'outcome' in run ? run.outcome : undefined;
    if (outcome !== undefined) this.#count.add(outcome);
    const failure =
      'refusal' in run ? [this.#refused(index, run.refusal)] : this.#findFailures(index, run.outcome);
    const isComparable = outcome !== undefined && failure.length === 0;
    const expect = each.expect ?? {};
    const differences = isComparable ? findDifferences(expect, outcome) : [];
    const problems = [...failure, ...differences.map((difference) => this.#locate(index, difference))];
    return {
      index,
      expect,
      outcome: isComparable ? outcome : undefined,
      report: {
        name: each.name,
        ok: problems.length === 0,
        line: this.#lineOf(['cases', index]).line,
        duration_ms: Math.round(systemClock.monotonicNow() - begunMs),
        problems,
      },
    };
  }

  /** Removes what the runs have written. */
  async close(): Promise<void> {
    await this.#runner.close();
  }

  #refused(index: number, refusal: string): CaseProblem {
    return this.#problem(['cases', index], { message: `the run was refused: ${refusal}` });
  }

  /** Finds what makes an outcome worthless: answers that are missing, and a case that does not end. */
  #findFailures(index: number, { missing, isOverdue }: CaseOutcome): CaseProblem[] {
    const path = ['cases', index, 'answers'];
    const found = missing.map(({ task, message }) =>
      this.#problem([...path, task], {
        message: `the answer of task "${task}" is missing: ${message}`,
        hint: `write under "answers", as in ${task}: { output: VALUE }`,
      }),
    );
    if (!isOverdue) return found;
    const message = `the case took longer than ${PIPELINE_TEST_LIMITS.caseMs / 1000} s and was stopped`;
    return [...found, this.#problem(['cases', index], { message })];
  }

  #locate(index: number, { path, message, expected, received }: Difference): CaseProblem {
    return this.#problem(['cases', index, 'expect', ...path], {
      message,
      ...(isShown(expected) && { expected }),
      ...(isShown(received) && { received }),
    });
  }

  #problem(path: Path, rest: Pick<CaseProblem, 'message' | 'expected' | 'received' | 'hint'>): CaseProblem {
    return { ...rest, ...this.#lineOf(path), path: toJsonPointer(path) };
  }

  /** Of what contains it, when the file does not have it. */
  #lineOf(path: Path): { readonly line: number; readonly column: number } {
    return this.#source.positionOf(path) ?? { line: 1, column: 1 };
  }
}

/** A longer value is left out of reports; the message has its beginning. */
const MAX_VALUE_LENGTH = 4096;

function isShown(value: Json | undefined): value is Json {
  return value !== undefined && estimateLength(value, MAX_VALUE_LENGTH + 1) <= MAX_VALUE_LENGTH;
}
