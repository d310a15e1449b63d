import { escapeMarkup } from '../../common/text.js';
import type { CaseReport } from '../../testing/pipelines/definition-tests.js';
import type { TestFileReport, TestReport } from '../../testing/pipelines/test-pipelines.js';

/** Writes results as JUnit XML, which services of continuous integration show: a suite for each file. */
export function writeJunit({ files, passed, failed, duration_ms: ms }: TestReport): string {
  const invalid = files.filter(({ problems }) => problems.length > 0).length;
  const totals = attributes({
    tests: passed + failed + invalid,
    failures: failed,
    errors: invalid,
    time: seconds(ms),
  });
  const suites = files.flatMap(writeSuite);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${totals}>`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function writeSuite({ file, cases, problems }: TestFileReport): string[] {
  const isInvalid = problems.length > 0;
  const ms = cases.reduce((sum, each) => sum + each.duration_ms, 0);
  const counts = {
    name: file,
    tests: cases.length + (isInvalid ? 1 : 0),
    failures: cases.filter(({ ok }) => !ok).length,
    errors: isInvalid ? 1 : 0,
    time: seconds(ms),
  };
  const text = problems.map(({ line, message }) =>
    line === undefined ? message : `line ${line}: ${message}`,
  );
  const ofFile = isInvalid
    ? writeCase({ classname: file, name: 'is valid', time: '0.000' }, 'error', text)
    : [];
  return [
    `  <testsuite${attributes(counts)}>`,
    ...ofFile,
    ...cases.flatMap((each) => writeResult(each, file)),
    '  </testsuite>',
  ];
}

function writeResult({ name, line, duration_ms: ms, problems }: CaseReport, file: string): string[] {
  const named = { classname: file, name, file, line, time: seconds(ms) };
  const text = problems.map((problem) => `${file}:${problem.line}: ${problem.message}`);
  return writeCase(named, 'failure', text);
}

/** @param lines why the case has failed; none for one that has passed */
function writeCase(
  named: Readonly<Record<string, string | number>>,
  kind: 'failure' | 'error',
  lines: readonly string[],
): string[] {
  const [first] = lines;
  const start = `    <testcase${attributes(named)}`;
  if (first === undefined) return [`${start}/>`];
  return [
    `${start}>`,
    `      <${kind}${attributes({ message: first })}>${escapeMarkup(lines.join('\n'))}</${kind}>`,
    '    </testcase>',
  ];
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeMarkup(String(value)).replaceAll('\n', '&#10;')}"`)
    .join('');
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
