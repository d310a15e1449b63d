import { resolve } from 'node:path';
import { Option } from 'clipanion';
import { readConfig } from '../../common/config/config.js';
import { WavetrainError } from '../../common/errors.js';
import { describeErrno } from '../../common/files.js';
import { formatCount } from '../../common/text.js';
import type { CaseResult } from '../../testing/pipelines/definition-tests.js';
import type { TestFileReport, TestReport, TestRun } from '../../testing/pipelines/test-pipelines.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readEnvFile } from '../input/flags.js';
import { loadCatalog } from '../input/load-definition.js';
import { untilSignal } from '../input/process-events.js';
import { CatalogCommand, flagOption, textOption } from '../input/shared-options.js';
import { UsageError } from '../input/usage-errors.js';
import { printJson, printOrWrite } from '../render/stdout.js';
import { detectTerminal } from '../render/terminal.js';
import { toSingleLine } from '../render/text.js';
import { updateFile } from '../render/update-file.js';
import { formatTestFile, formatTestTotals } from '../test/test-report.js';

export class TestCommand extends CatalogCommand {
  static override paths = [['test']];
  static override usage = CatalogCommand.Usage({
    description: 'runs the tests of pipelines and plans: NAME.test.yaml beside NAME.yaml',
    details: `
      PATHS are files of tests, definitions that have one beside them, and folders, which are searched with those below
      them; default: this folder. Each case is a run whose tools answer what the case says. Tools that only compute,
      such as transform, run as they are; for all others, a missing answer is an error of the test. No tool reaches the
      network, and delays, retries and repeats take no time.

      The exit status is 0 if all cases pass, 1 if one fails or a file is not valid, and 2 for bad usage.
    `,
    examples: [
      ['all tests of this folder, and of those below it', '$0 test'],
      ['the tests of one pipeline', '$0 test pipeline.yaml'],
      ['cases with these words in their name', '$0 test --case "is refused"'],
      ['again after each change', '$0 test --watch'],
      ['write what came out into the files of tests', '$0 test pipeline.test.yaml --update'],
      ['for continuous integration', '$0 test --junit results.xml'],
    ],
  });

  files = Option.Rest({ name: 'PATHS' });
  case = textOption`--case <TEXT> run only the cases whose name contains this text`;
  json = flagOption`--json print the results as one JSON document`;
  junit = textOption`--junit <FILE> write the results as JUnit XML to this file`;
  update = flagOption`--update write what came out of failed cases into their "expect", and keep comments; an expectation
    that is a schema stays`;
  watch = flagOption`--watch run the tests again that a changed file touches, until Ctrl-C`;

  /** Runs tests of pipelines (D91). Returns `invalid` if a case fails or a file is not valid. */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    if (this.watch && (this.json || this.junit !== undefined))
      throw new UsageError('--watch prints for people', 'leave out --json and --junit, or --watch');
    await readEnvFile(this.envFile, context);
    const config = readConfig(context.env);
    const catalog = await loadCatalog(this.tools, config, context, { file: this.mcp, texts: [] });
    const roots = config.fileRoots.map((root) => resolve(context.cwd, root));
    const run = { catalog, fileRoots: roots, name: this.case };
    if (this.watch) return this.#watch(run);
    const report = await this.#runAll(await this.#find(), run);
    return report.ok ? EXIT.done : EXIT.invalid;
  }

  get #paths(): readonly string[] {
    return this.files.length === 0 ? ['.'] : this.files;
  }

  async #find(): Promise<string[]> {
    const { findTestFiles } = await import('../lazy/testing.js');
    return findTestFiles(this.#paths, this.context.cwd);
  }

  /** Runs files of tests, and prints each as soon as it has ended. */
  async #runAll(files: readonly string[], run: TestRun): Promise<TestReport> {
    const { context, json } = this;
    const { runTestFiles } = await import('../lazy/testing.js');
    const terminal = detectTerminal(context.stdout, context.env);
    const results = new Map<string, CaseResult[]>();
    const print = (lines: readonly string[]): void => void context.stdout.write(`${lines.join('\n')}\n`);
    const report = await runTestFiles(files, {
      ...run,
      cwd: context.cwd,
      onCase: (file, result) => void results.set(file, [...(results.get(file) ?? []), result]),
      onFile: (ofFile: TestFileReport) => json || print(formatTestFile(ofFile, terminal)),
    });
    if (
      run.name !== undefined &&
      !this.watch &&
      report.files.every(({ ok, cases }) => ok && cases.length === 0)
    )
      throw new UsageError(`no case has "${run.name}" in its name`);
    if (json) printJson(report, context);
    else print(formatTestTotals(report, terminal));
    if (this.junit !== undefined) {
      const { writeJunit } = await import('../test/junit.js');
      await printOrWrite(writeJunit(report), this.junit, context);
    }
    if (this.update) for (const [file, ofFile] of results) await updateTestFile(file, ofFile, context);
    return report;
  }

  async #watch(run: TestRun): Promise<ExitStatus> {
    const { context } = this;
    const { FileWatch, touchedTests } = await import('../test/watch-tests.js');
    const tools = new Set((this.tools ?? []).map((file) => resolve(context.cwd, file)));
    // Before the first run: what changes meanwhile counts.
    const watch = await FileWatch.open(this.#paths, context.cwd);
    await this.#runAll(await this.#find(), run);
    context.stderr.write('waiting for changes; Ctrl-C ends\n');
    await untilSignal(context.processEvents, async (signal) => {
      const { clock, cwd } = context;
      for await (const changed of watch.changes(clock, signal)) {
        if (changed.some((file) => tools.has(file)))
          context.stderr.write('a file of tools has changed: start the command again to load it\n');
        const tests = await this.#find().catch(() => []);
        const touched = touchedTests(tests, changed, cwd);
        if (touched.length > 0) await this.#runAll(touched, run);
      }
    });
    return EXIT.done;
  }
}

/** Writes what came out of the cases of a file that were run. Rejects with `unreadable_file` when it cannot be written. */
async function updateTestFile(
  file: string,
  results: readonly CaseResult[],
  context: CliContext,
): Promise<void> {
  const { readTestText, updateExpectations } = await import('../lazy/testing.js');
  const path = resolve(context.cwd, file);
  const updated = updateExpectations(await readTestText(path), results);
  if (updated.cases === 0) return;
  try {
    await updateFile(path, () => updated.text);
  } catch (cause) {
    throw new WavetrainError('unreadable_file', `cannot write ${file}: ${describeErrno(cause)}`, { cause });
  }
  context.stderr.write(`wrote ${formatCount(updated.cases, 'case')} of ${toSingleLine(file)}\n`);
}
