import { dirname, resolve } from 'node:path';
import { AssertionError } from 'node:assert';
import { systemClock } from '../../common/clock.js';
import { WavetrainError } from '../../common/errors.js';
import { PIPELINE_TEST_LIMITS } from '../../definition/schema/fields.js';
import type { Problem } from '../../definition/problems/problem.js';
import { formatProblem } from '../../definition/problems/problem.js';
import { detectKind } from '../../definition/schema/root.js';
import { checkToEnd, readSource } from '../../definition/text/source.js';
import { readDefinitionText } from '../../pipelines/load.js';
import { readPipelines } from '../../plans/load.js';
import { builtinCatalog, type Catalog } from '../../tools/catalog.js';
import { createAssert } from '../../tools/builtin/values/assert.js';
import { createTransform } from '../../tools/builtin/values/transform.js';
import { type EvaluateExpression, Evaluator } from '../../tools/expressions/evaluate.js';
import { fileAccess } from '../../tools/files/file-access.js';
import type { CatalogEntry } from '../../tools/tool.js';
import type { ConformanceCase } from '../conformance.js';
import type { TestCoverage } from './coverage.js';
import {
  type CaseReport,
  type CaseResult,
  type DefinitionTests,
  openTests,
  type TestSources,
} from './definition-tests.js';
import { definitionsBeside, findDefinition, findTestFiles } from './find-tests.js';

/** The results of one file of tests. */
export interface TestFileReport {
  readonly file: string;
  /** Null when there is none beside the file. */
  readonly definition: string | null;
  readonly ok: boolean;
  /** Of the file, or of its definition: no case was run then. */
  readonly problems: readonly Problem[];
  readonly cases: readonly CaseReport[];
  /** Null when not every case was run. */
  readonly coverage: TestCoverage | null;
}

/** The results of tests of pipelines (D91). */
export interface TestReport {
  readonly ok: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly duration_ms: number;
  readonly files: readonly TestFileReport[];
}

export interface TestPipelinesOptions {
  /** Tools, functions and schemas besides the built-in ones. */
  readonly tools?: readonly CatalogEntry[];
  /** Runs only the cases whose name contains this text. */
  readonly name?: string | undefined;
}

/** How files of tests are run. */
export interface TestRun {
  readonly catalog: Catalog;
  /** In which tools may read files, besides the folder of each definition. */
  readonly fileRoots: readonly string[];
  /** Of the files that are named. Default: the working directory. */
  readonly cwd?: string | undefined;
  readonly name?: string | undefined;
  readonly onFile?: ((report: TestFileReport) => void) | undefined;
  /** Called after each case that was run. */
  readonly onCase?: ((file: string, result: CaseResult) => void) | undefined;
}

/**
 * Runs the tests of pipelines and plans (D91): those of files, and of all files in folders. No tool reaches the network, and
 * no delay takes time. Rejects with `unreadable_file` when there is nothing at a path, or no test.
 */
export async function testPipelines(
  paths: string | readonly string[] = '.',
  { tools = [], name }: TestPipelinesOptions = {},
): Promise<TestReport> {
  const files = await findTestFiles([paths].flat());
  return runTestFiles(files, { catalog: builtinCatalog().with(tools), fileRoots: [], name });
}

/**
 * The same tests as cases for a test framework, each with a title: in mocha and vitest, `it(title, run)`. A case that fails
 * rejects with an AssertionError that says in words what differs, and on which line of its file.
 */
export async function pipelineSuite(
  paths: string | readonly string[] = '.',
  { tools = [] }: Pick<TestPipelinesOptions, 'tools'> = {},
): Promise<readonly ConformanceCase[]> {
  const run = { catalog: builtinCatalog().with(tools), fileRoots: [] };
  const suites = (await findTestFiles([paths].flat())).map((file) => createSuite(file, run));
  return (await Promise.all(suites)).flat();
}

async function createSuite(file: string, run: TestRun): Promise<ConformanceCase[]> {
  const opened = await openTestFile(file, run);
  if ('problems' in opened)
    return [{ title: `${file} is valid`, run: async () => rejectProblems(opened.problems) }];
  const { tests } = opened;
  const open = new Set(tests.cases.keys());
  return tests.cases.map(({ name }, index) => ({
    title: `${file}: ${name}`,
    run: async () => {
      const { report } = await tests.run(index);
      open.delete(index);
      if (open.size === 0) await tests.close();
      if (report.ok) return;
      const lines = report.problems.map(({ line, message, hint }) =>
        [`line ${line}: ${message}`, ...(hint === undefined ? [] : [`(${hint})`])].join(' '),
      );
      throw new AssertionError({ message: [`${file}: ${name}`, ...lines].join('\n') });
    },
  }));
}

function rejectProblems(problems: readonly Problem[]): never {
  throw new AssertionError({ message: problems.map(formatProblem).join('\n') });
}

/** Runs the cases of files, one after another. */
export async function runTestFiles(files: readonly string[], run: TestRun): Promise<TestReport> {
  const begunMs = systemClock.monotonicNow();
  const reports: TestFileReport[] = [];
  for (const file of files) {
    const report = await runTestFile(file, run);
    run.onFile?.(report);
    reports.push(report);
  }
  const cases = reports.flatMap((report) => report.cases);
  const passed = cases.filter(({ ok }) => ok).length;
  return {
    ok: reports.every(({ ok }) => ok),
    passed,
    failed: cases.length - passed,
    duration_ms: Math.round(systemClock.monotonicNow() - begunMs),
    files: reports,
  };
}

async function runTestFile(file: string, run: TestRun): Promise<TestFileReport> {
  const opened = await openTestFile(file, run);
  const { definition } = opened;
  if ('problems' in opened)
    return { file, definition, ok: false, problems: opened.problems, cases: [], coverage: null };
  const { tests } = opened;
  const cases: CaseReport[] = [];
  try {
    for (const [index, { name }] of tests.cases.entries()) {
      if (run.name !== undefined && !name.includes(run.name)) continue;
      const result = await tests.run(index);
      run.onCase?.(file, result);
      cases.push(result.report);
    }
  } finally {
    await tests.close();
  }
  const coverage = cases.length === tests.cases.length ? tests.coverage : null;
  return { file, definition, ok: cases.every(({ ok }) => ok), problems: [], cases, coverage };
}

type OpenedFile = { readonly definition: string | null } & (
  | { readonly tests: DefinitionTests }
  | { readonly problems: readonly Problem[] }
);

/** Reads and checks a file of tests, with the definition beside it. */
async function openTestFile(file: string, { catalog, fileRoots, cwd = '.' }: TestRun): Promise<OpenedFile> {
  const definition = (await findDefinition(file, cwd)) ?? null;
  if (definition === null) return { definition, problems: [noDefinition(file)] };
  try {
    const sources = await readSources(resolve(cwd, file), resolve(cwd, definition));
    const folder = dirname(resolve(cwd, definition));
    const opened = await openTests(sources, {
      catalog: withSharedSandbox(catalog),
      files: fileAccess([folder, ...fileRoots]),
      check: async (steps) => checkToEnd(steps),
    });
    if (opened.ok) return { definition, tests: opened.tests };
    const within = opened.isDefinition ? definition : file;
    // A problem of a pipeline of a plan says its file itself, beside the plan.
    return { definition, problems: opened.problems.map((problem) => ({ file: within, ...problem })) };
  } catch (error) {
    if (!(error instanceof WavetrainError)) throw error;
    return { definition, problems: [fileProblem('unreadable_file', error.message, file)] };
  }
}

/**
 * Evaluates the expressions of all cases of a file in one sandbox, which takes longer to create than most cases to run. They are
 * those of one definition, and all that outlives an evaluation is frozen.
 */
function withSharedSandbox(catalog: Catalog): Catalog {
  const evaluator = new Evaluator();
  const evaluate: EvaluateExpression = (source, input, bindings) =>
    evaluator.evaluate(source, input, bindings, 'tests');
  return catalog.withVariant(createTransform(evaluate)).withVariant(createAssert(evaluate));
}

/** Reads a file of tests. Rejects with `unreadable_file`. */
export async function readTestText(file: string): Promise<string> {
  const text = await readDefinitionText(file);
  if (Buffer.byteLength(text) > PIPELINE_TEST_LIMITS.fileBytes) {
    const limit = `${PIPELINE_TEST_LIMITS.fileBytes / 2 ** 20} MiB`;
    throw new WavetrainError('unreadable_file', `"${file}" is longer than ${limit}: split it`);
  }
  return text;
}

async function readSources(file: string, definition: string): Promise<TestSources> {
  const text = await readTestText(file);
  const source = readSource(await readDefinitionText(definition));
  const isPlan = detectKind(source.value) === 'plan';
  const pipelines = isPlan ? await readPipelines(source, dirname(definition), definition) : new Map();
  return { text, definition: { source, pipelines } };
}

function noDefinition(file: string): Problem {
  const [first, ...others] = definitionsBeside(file);
  const message = `there is no definition beside it: ${first}, or the same with ${others.map((name) => name.slice(name.lastIndexOf('.'))).join(' or ')}`;
  return fileProblem('unreadable_file', message, file);
}

function fileProblem(code: Problem['code'], message: string, file: string): Problem {
  return { code, message, path: '', severity: 'error', file };
}
