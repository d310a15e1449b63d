import { COMPILE_LIMITS } from '../common/limits.js';
import { cutText, joinFirst } from '../common/text.js';
import { formatProblem, type Problem } from '../definition/problems/problem.js';
import { formatErrors } from '../pipelines/report.js';

/** Formats the errors, or the warnings if there are none, one per line. */
export function joinErrors(problems: readonly Problem[]): string {
  const errors = formatErrors(problems);
  return (errors.length > 0 ? errors : problems.map(formatProblem)).join('\n');
}

/** Asks a model to repair an answer: every problem with its line, its path and its cure; after a wrong tool, all names. */
export function createRepairRequest(
  yaml: string,
  problems: readonly Problem[],
  toolNames: readonly string[],
): string {
  const lines = yaml.split('\n');
  const shown = problems.slice(0, COMPILE_LIMITS.problemsSent);
  const hidden = problems.length - shown.length;
  return [
    'The validator finds mistakes in that definition:',
    ...shown.map((problem) => describeForRepair(problem, lines)),
    ...(hidden > 0 ? [`- and ${hidden} more`] : []),
    ...(problems.some(({ code }) => code === 'unknown_tool')
      ? [`The tools are: ${joinFirst(toolNames, COMPILE_LIMITS.toolsNamed)}.`]
      : []),
    'Repair all of this, and return the whole corrected YAML, with nothing around it.',
  ].join('\n');
}

/** Shows the line itself too: models count lines badly. */
function describeForRepair(problem: Problem, lines: readonly string[]): string {
  const { line, path, severity } = problem;
  const code = line === undefined ? '' : (lines[line - 1] ?? '').trim();
  const where = line === undefined || path === '' ? '' : ` [${path}]`;
  const what = severity === 'warning' ? 'warning: ' : '';
  const text = cutText(`${what}${formatProblem(problem)}${where}`, COMPILE_LIMITS.problemLength);
  return `- ${text}${code === '' ? '' : `\n    ${cutText(code, COMPILE_LIMITS.problemLength)}`}`;
}
