import { formatCount, formatDuration, formatNumber } from '../../common/text.js';
import type { TestCoverage } from '../../testing/pipelines/coverage.js';
import type { CaseProblem, CaseReport } from '../../testing/pipelines/definition-tests.js';
import type { TestFileReport, TestReport } from '../../testing/pipelines/test-pipelines.js';
import type { Terminal } from '../render/terminal.js';
import { toSingleLine, wrapLine } from '../render/text.js';

/** Formats the results of one file: one line if all is well, and every problem with its line. */
export function formatTestFile(report: TestFileReport, terminal: Terminal): string[] {
  const { file, ok, cases, problems } = report;
  const { style } = terminal;
  const mark = ok ? style.green(style.marks.done) : style.red(style.marks.failed);
  const count = cases.length === 0 ? '' : ` ${style.dim(`(${formatCount(cases.length, 'case')})`)}`;
  const failed = cases.filter((each) => !each.ok);
  return [
    ...wrapLine(`${mark} ${toSingleLine(file)}${count}`, terminal),
    ...problems.flatMap((problem) => formatProblem(problem, problem.file, terminal)),
    ...failed.flatMap((each) => formatCase(each, file, terminal)),
  ];
}

function formatCase({ name, problems }: CaseReport, file: string, terminal: Terminal): string[] {
  const { style } = terminal;
  return [
    ...wrapLine(`  ${style.red(style.marks.failed)} ${toSingleLine(name)}`, terminal),
    ...problems.flatMap((problem) => formatProblem(problem, file, terminal)),
  ];
}

type LocatedProblem = Pick<CaseProblem, 'message'> & {
  readonly line?: number | undefined;
  readonly hint?: string | undefined;
};

/** A terminal can open the file at the line. */
function formatProblem(
  { line, message, hint }: LocatedProblem,
  file: string | undefined,
  terminal: Terminal,
): string[] {
  const { style } = terminal;
  const place = [file, line].filter((part) => part !== undefined).join(':');
  const shown = `    ${toSingleLine(message)}`;
  return [
    ...wrapLine(`${shown}${place === '' ? '' : ` ${style.dim(`(${toSingleLine(place)})`)}`}`, terminal),
    ...(hint === undefined ? [] : wrapLine(`    ${style.cyan('hint:')} ${toSingleLine(hint)}`, terminal)),
  ];
}

/** Formats what the cases of all files have in common: how many have passed, and what none of them has reached. */
export function formatTestTotals(
  { files, passed, failed, ok, duration_ms: ms }: TestReport,
  terminal: Terminal,
): string[] {
  const { style } = terminal;
  const total = passed + failed;
  const invalid = files.filter(({ problems }) => problems.length > 0).length;
  const counts = [
    failed === 0
      ? `${formatCount(total, 'case')} passed`
      : `${formatNumber(failed)} of ${formatCount(total, 'case')} failed`,
    ...(invalid === 0 ? [] : [`${formatCount(invalid, 'file')} not valid`]),
  ].join(', ');
  const mark = ok ? style.green(style.marks.done) : style.red(style.marks.failed);
  return [
    ...formatCoverage(files, terminal),
    ...wrapLine(`${mark} ${counts} in ${formatDuration(ms)}, ${formatCount(files.length, 'file')}`, terminal),
  ];
}

/** How many names of one definition are listed. */
const MAX_NEVER = 10;

function formatCoverage(files: readonly TestFileReport[], terminal: Terminal): string[] {
  const counted = files.flatMap(({ definition, coverage }) =>
    definition === null || coverage === null ? [] : [{ definition, coverage }],
  );
  if (counted.length === 0) return [];
  const sum = (part: 'tasks' | 'branches', nouns: readonly [string, string]): readonly string[] => {
    const total = counted.reduce((before, { coverage }) => before + coverage[part].total, 0);
    const never = counted.reduce((before, { coverage }) => before + coverage[part].never.length, 0);
    const noun = nouns[total === 1 ? 0 : 1];
    return total === 0 ? [] : [`${formatNumber(total - never)} of ${formatNumber(total)} ${noun}`];
  };
  const lines = counted.flatMap(({ definition, coverage }) => formatNever(definition, coverage, terminal));
  const totals = [...sum('tasks', ['task', 'tasks']), ...sum('branches', ['branch', 'branches'])];
  return [...wrapLine(`coverage: ${totals.join(', ')}`, terminal), ...lines];
}

function formatNever(definition: string, { tasks, branches }: TestCoverage, terminal: Terminal): string[] {
  const never = [...tasks.never.map((task) => `${task} runs`), ...branches.never];
  if (never.length === 0) return [];
  const shown = never.slice(0, MAX_NEVER).join(', ');
  const more = never.length > MAX_NEVER ? `, and ${never.length - MAX_NEVER} more` : '';
  return wrapLine(
    `  ${terminal.style.yellow('never')} in ${toSingleLine(definition)}: ${shown}${more}`,
    terminal,
  );
}
