import { type Config, readConfig } from '../../common/config.js';
import { messageOf } from '../../common/errors.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readEnvFile } from '../input/flags.js';
import { printJson } from '../render/stdout.js';
import { type Style, styleFor } from '../render/terminal.js';
import { oneLine, padTo } from '../render/text.js';
import {
  examineFileRoots,
  examineFolder,
  examineNode,
  examineTerminal,
  examineTools,
  examineVariables,
  examineVersion,
  type Finding,
} from './checks.js';

interface DoctorFlags {
  readonly json: boolean;
  readonly tools?: string[] | undefined;
  readonly envFile?: string | undefined;
}

/** Looks at everything that Wavetrain needs (D43). Answers `failed` when something of it is broken. */
export async function doctor(flags: DoctorFlags, context: CliContext): Promise<ExitStatus> {
  await readEnvFile(flags.envFile, context);
  const findings = await examine(flags, context);
  const ok = findings.every(({ state }) => state !== 'broken');
  if (flags.json) printJson({ ok, findings }, context);
  else context.stdout.write(`${findingLines(findings, styleFor(context.stdout, context.env)).join('\n')}\n`);
  return ok ? EXIT.done : EXIT.failed;
}

async function examine({ tools }: DoctorFlags, context: CliContext): Promise<Finding[]> {
  const configured = readable(context);
  const config = configured.config ?? { fileRoots: [], tools: [] };
  return [
    examineVersion(),
    examineNode(),
    ...configured.findings,
    ...examineVariables(context.env),
    examineFileRoots(config, context.cwd),
    await examineTools(config, tools, context),
    examineTerminal(context),
    await examineFolder(context),
  ];
}

/** A configuration that cannot be read is a finding, not the end of the examination. */
function readable({ env }: CliContext): { config?: Config; findings: Finding[] } {
  try {
    return { config: readConfig(env), findings: [] };
  } catch (error) {
    return { findings: [{ name: 'configuration', state: 'broken', found: messageOf(error) }] };
  }
}

function findingLines(findings: readonly Finding[], style: Style): string[] {
  const column = findings.reduce((widest, { name }) => Math.max(widest, name.length), 0) + 2;
  return findings.flatMap(({ name, state, found, advice }) => [
    `${markOf(state, style)} ${padTo(name, column)}${oneLine(found)}`,
    ...(advice === undefined ? [] : [`  ${' '.repeat(column)}${style.dim(advice)}`]),
  ]);
}

function markOf(state: Finding['state'], style: Style): string {
  if (state === 'ok') return style.green(style.marks.done);
  return state === 'missing' ? style.dim('-') : style.red(style.marks.failed);
}
