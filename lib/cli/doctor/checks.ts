import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Config, type Environment, type Variable, VARIABLES } from '../../common/config.js';
import { messageOf } from '../../common/errors.js';
import type { CliContext } from '../context.js';
import { openToolbox } from '../input/load-definition.js';
import { reasonOf } from '../input/read-file.js';
import { packageFacts, PROGRAM } from '../package-info.js';
import { terminalOf } from '../render/terminal.js';

/** Is this version of Node.js recent enough for the package? */
export function examineNode(version: string = process.versions.node): Finding {
  const [least = ''] = /\d+(\.\d+)*/.exec(packageFacts().engines.node) ?? [];
  if (!isOlder(version, least)) return { name: 'Node.js', state: 'ok', found: version };
  return { name: 'Node.js', state: 'broken', found: version, advice: `install Node.js ${least} or newer` };
}

function isOlder(version: string, least: string): boolean {
  const [have, need] = [version, least].map((text) => text.split('.').map(Number));
  for (const [index, wanted] of (need ?? []).entries()) {
    const part = have?.[index] ?? 0;
    if (part !== wanted) return part < wanted;
  }
  return false;
}

export function examineVersion(): Finding {
  return { name: PROGRAM, state: 'ok', found: packageFacts().version };
}

/** The folders that tools may read from, besides the pipeline's own and the working directory (D51). */
export function examineFileRoots({ fileRoots }: Config, cwd: string): Finding {
  const name = 'file roots';
  const gone = fileRoots.filter((root) => !existsSync(resolve(cwd, root)));
  if (gone.length > 0) {
    const advice = 'make the folder, or take it out of SERVICE_FILE_ROOTS';
    return { name, state: 'broken', found: `there is no ${gone.join(', ')}`, advice };
  }
  const folders = ["the pipeline's folder", cwd, ...fileRoots.map((root) => resolve(cwd, root))];
  return { name, state: 'ok', found: folders.join(', ') };
}

/** Which variables are set; of a secret one only that it is. */
export function examineVariables(env: Environment, variables: readonly Variable[] = VARIABLES): Finding[] {
  return variables.map(({ name, description, secret }) => {
    const value = env[name];
    if (value === undefined || value === '') {
      return { name, state: 'missing', found: 'not set', advice: `if wanted: ${description}` };
    }
    return { name, state: 'ok', found: secret ? 'set' : value };
  });
}

export async function examineTools(
  config: Config,
  named: readonly string[] | undefined,
  context: CliContext,
): Promise<Finding> {
  const name = 'tools';
  try {
    const catalog = await openToolbox(named, config, context);
    const names = catalog.names();
    return { name, state: 'ok', found: `${names.length}: ${names.join(', ')}` };
  } catch (error) {
    return { name, state: 'broken', found: messageOf(error), advice: 'mend the file, or name another' };
  }
}

export function examineTerminal({ stdout, stderr, env }: CliContext): Finding {
  const out = terminalOf(stdout, env);
  const { redraws } = terminalOf(stderr, env);
  const size = out.interactive ? `${out.columns} x ${out.rows}` : 'no terminal';
  const abilities = [
    size,
    `colours ${yesNo(out.colours)}`,
    `Unicode ${yesNo(out.unicode)}`,
    `live progress ${yesNo(redraws)}`,
  ];
  return { name: 'terminal', state: 'ok', found: abilities.join(', ') };
}

export async function examineFolder({ cwd }: CliContext): Promise<Finding> {
  const name = 'working directory';
  try {
    await access(cwd, constants.W_OK);
    return { name, state: 'ok', found: `${cwd} can be written` };
  } catch (error) {
    const advice = 'needed only by init and --events: write elsewhere, or change its permissions';
    return { name, state: 'missing', found: `${cwd} cannot be written: ${reasonOf(error)}`, advice };
  }
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

/** One thing that `doctor` looked at. */
export interface Finding {
  readonly name: string;
  /** `ok`; `missing` is no trouble by itself; `broken` keeps something from working. */
  readonly state: 'ok' | 'missing' | 'broken';
  /** What was found. Never a secret. */
  readonly found: string;
  /** What to do about it. */
  readonly advice?: string;
}
