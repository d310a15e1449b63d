import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { Command } from 'clipanion';
import { type Config, readConfig, readProviderConfig, VARIABLES } from '../../common/config/config.js';
import { type Environment, type EnvironmentVariable } from '../../common/config/environment.js';
import { readNetworkConfig } from '../../common/config/network-config.js';
import { readServerConfig, readStoreFile } from '../../common/config/server-config.js';
import { errorMessage, WavetrainError } from '../../common/errors.js';
import { describeErrno } from '../../common/files.js';
import { readCommands } from '../../common/config/allowed-commands.js';
import { readModelConfig } from '../../common/config/model-config.js';
import { formatCount, joinFirst } from '../../common/text.js';
import { chooseModel, configuredProviders } from '../../models/choose-model.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readEnvFile } from '../input/flags.js';
import { formatSize } from '../store/store-command.js';
import { loadCatalog } from '../input/load-definition.js';
import { describeConnections } from '../input/connections.js';
import { describeSecrets } from '../input/secrets.js';
import { unknownVariables } from './serve/env-file.js';
import { PROGRAM, readPackageJson } from '../package-info.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal, type Style } from '../render/terminal.js';
import { padToWidth, toSingleLine } from '../render/text.js';
import {
  ENV_FILE_OPTION,
  TOOLS_OPTION,
  flagOption,
  listOption,
  textOption,
} from '../input/shared-options.js';

export class DoctorCommand extends Command<CliContext> {
  static override paths = [['doctor']];
  static override usage = Command.Usage({
    description: 'checks the environment: Node.js, variables, folders, tools and terminal',
    details: `
      Shows what is set, what is missing and what is wrong, with what to do. The exit status is 0 if everything works and 3
      if something is broken.

      docs/reference/settings.md describes all variables, and says which a running server reads again.
    `,
    examples: [
      ['check the environment', '$0 doctor'],
      ['list all variables', '$0 doctor --all'],
      ['check that your own tools load', '$0 doctor --tools tools.ts'],
    ],
  });

  json = flagOption`--json print the findings, all of them, as one JSON document`;
  all = flagOption`--all also list the variables that are not set`;
  tools = listOption`--tools ${TOOLS_OPTION}`;
  envFile = textOption`--env-file ${ENV_FILE_OPTION}`;

  /** Checks everything that Wavetrain needs (D43). Returns `failed` if something is broken. */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    await readEnvFile(this.envFile, context);
    const { config, findings: configFindings } = checkConfig(context.env);
    const variables = checkVariables(context.env);
    const findings: DoctorFinding[] = [
      { name: PROGRAM, state: 'ok', found: readPackageJson().version },
      checkNode(),
      ...configFindings,
      ...checkUnknownVariables(context.env),
      ...variables,
      await checkKeys(context),
      await checkModels(context.env),
      await checkSecrets(context),
      await checkConnections(context),
      checkFileRoots(config, context.cwd),
      await checkTools(config, this.tools, context),
      await checkStore(context),
      await checkPipelines(context),
      await checkCommands(context),
      checkTerminal(context),
      await checkFolder(context.cwd),
    ];
    const areOk = findings.every(({ state }) => state !== 'broken');
    if (this.json) printJson({ ok: areOk, findings }, context);
    else {
      const hidden = this.all ? [] : variables.filter(({ state }) => state === 'missing');
      const shown = findings.filter((finding) => !hidden.includes(finding));
      printFindings(shown, context);
      if (hidden.length > 0) {
        context.stdout.write(
          `\n${hidden.length} variables are not set: ${PROGRAM} doctor --all lists them\n`,
        );
      }
    }
    return areOk ? EXIT.done : EXIT.failed;
  }
}

export interface DoctorFinding {
  readonly name: string;
  /** `missing` is harmless in itself; `broken` keeps something from working. */
  readonly state: 'ok' | 'missing' | 'broken';
  /** The text of the finding. Never a secret. */
  readonly found: string;
  readonly advice?: string;
}

export function checkNode(version: string = process.versions.node): DoctorFinding {
  const [least = ''] = /\d+(\.\d+)*/.exec(readPackageJson().engines.node) ?? [];
  const isOlder = version.localeCompare(least, 'en', { numeric: true }) < 0;
  if (!isOlder) return { name: 'Node.js', ...ok(version) };
  return { name: 'Node.js', state: 'broken', found: version, advice: `install Node.js ${least} or newer` };
}

/** An invalid configuration is a finding; the other checks continue without it. */
function checkConfig(env: Environment): { readonly config: Config; readonly findings: DoctorFinding[] } {
  let config: Config = { fileRoots: [], writeRoots: [], tools: [] };
  const readers = [
    () => void (config = readConfig(env)),
    () => readServerConfig(env, getHeapStatistics().heap_size_limit),
    () => readNetworkConfig(env),
    () => readProviderConfig(env),
  ];
  const problems = new Set(readers.flatMap(findProblem));
  const findings = [...problems].map((found) => ({ name: 'configuration', state: 'broken', found }) as const);
  return { config, findings };
}

function findProblem(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    return [errorMessage(error)];
  }
}

/** Reports misspelt variables: they have no effect. */
function checkUnknownVariables(env: Environment): DoctorFinding[] {
  return unknownVariables(env).map(({ name, meant }) => ({
    name,
    state: 'broken',
    found: 'unknown: there is no such variable',
    advice:
      meant === undefined
        ? `remove it: ${PROGRAM} doctor --all lists all that there are`
        : `did you mean ${meant}?`,
  }));
}

/** Reads the keys file of a server, and names its keys, which are no secrets (D37). */
function checkKeys({ env, cwd }: CliContext): Promise<DoctorFinding> {
  return check('API keys', 'fix the file that SERVICE_API_KEYS_FILE names, or the variable', async () => {
    const file = env['SERVICE_API_KEYS_FILE']?.trim() ?? '';
    if (file === '') {
      const advice = `optional: \`${PROGRAM} keys new --file keys.yaml\` and SERVICE_API_KEYS_FILE=keys.yaml let other machines in`;
      return missing('none: a server started here serves this machine only', advice);
    }
    const { readKeysFile } = await import('../lazy/keys.js');
    const keys = await readKeysFile(resolve(cwd, file));
    return ok(
      `${formatCount(keys.length, 'key')}: ${joinFirst(
        keys.map(({ name }) => name),
        MAX_NAMED,
      )}`,
    );
  });
}

const MAX_NAMED = 10;

/** Lists which variables are set, without the values of secret ones. */
export function checkVariables(
  env: Environment,
  variables: readonly EnvironmentVariable[] = VARIABLES,
): DoctorFinding[] {
  return variables.map(({ name, description, secret }) => {
    const value = env[name];
    if (value === undefined || value === '') {
      return { name, state: 'missing', found: 'not set', advice: `optional: ${description}` };
    }
    return { name, state: 'ok', found: secret ? 'set' : value };
  });
}

const PURPOSES = ['job', 'select', 'extract', 'ocr', 'compile'] as const;

type Found = Omit<DoctorFinding, 'name'>;

const ok = (found: string): Found => ({ state: 'ok', found });
const missing = (found: string, advice: string): Found => ({ state: 'missing', found, advice });

/** Looks at one thing. An error is a finding. @param advice for that */
async function check(
  name: string,
  advice: string,
  look: () => Found | Promise<Found>,
): Promise<DoctorFinding> {
  try {
    return { name, ...(await look()) };
  } catch (error) {
    return { name, state: 'broken', found: errorMessage(error), advice };
  }
}

/** Says which providers of language models can be asked, and which model a task gets that names none (D50). Asks nobody. */
function checkModels(env: Environment): Promise<DoctorFinding> {
  return check('language models', 'see docs/models/providers.md', () => {
    const config = readModelConfig(env);
    const models = Object.values(config.models).some((model) => model !== undefined);
    const named = `can be named: ${configuredProviders(config)
      .map((provider) => `${provider}/…`)
      .join(', ')}`;
    if (!models && !config.openai.isConfigured && config.anthropic.apiKey === undefined) {
      const advice =
        'optional: tasks that name no model need WAVETRAIN_MODEL, OPENAI_API_KEY or ANTHROPIC_API_KEY';
      return missing(`no default; ${named}`, advice);
    }
    const chosen = PURPOSES.map((purpose) => {
      const { provider, model } = chooseModel(config, purpose);
      return [purpose, `${provider}/${model}`] as const;
    });
    const standard = chosen[0]?.[1];
    const others = chosen.filter(([, model]) => model !== standard).map((other) => other.join(' '));
    return ok(`${[`default ${standard}`, ...others].join(', ')}; ${named}`);
  });
}

/** Lists the names of the secrets, never their values (D61). */
function checkSecrets(context: CliContext): Promise<DoctorFinding> {
  return check('secrets', 'fix the file that SERVICE_SECRETS_FILE names, or the variable', async () => {
    const listed = await describeSecrets(context);
    if (listed === undefined)
      return missing('none', 'optional: {{secrets.NAME}} in the inputs of a task reads SECRET_NAME');
    const { names, problems } = listed;
    const advice = `no run can read all of them: ${problems.join('; ')}`;
    return { ...ok(names), ...(problems.length > 0 && { advice }) };
  });
}

/** Lists the names of the databases and object stores, never their values (D92). Connects to none of them. */
function checkConnections(context: CliContext): Promise<DoctorFinding> {
  return check('connections', 'fix the file that SERVICE_CONNECTIONS names, or the variable', async () => {
    const names = await describeConnections(context);
    if (names !== undefined) return ok(names);
    return missing('none', 'optional: SERVICE_CONNECTIONS=FILE lets tasks name databases and object stores');
  });
}

/** Checks the folders that tools may read, besides the pipeline's own and the working directory (D51). */
function checkFileRoots({ fileRoots }: Config, cwd: string): DoctorFinding {
  const name = 'file roots';
  const missing = fileRoots.filter((root) => !existsSync(resolve(cwd, root)));
  if (missing.length > 0) {
    const advice = 'create the folder or remove it from SERVICE_FILE_ROOTS';
    return { name, state: 'broken', found: `${missing.join(', ')} does not exist`, advice };
  }
  const folders = ["the pipeline's folder", cwd, ...fileRoots.map((root) => resolve(cwd, root))];
  return { name, ...ok(folders.join(', ')) };
}

function checkTools(
  config: Config,
  specifiers: readonly string[] | undefined,
  context: CliContext,
): Promise<DoctorFinding> {
  return check('tools', 'fix the file or name another one', async () => {
    const names = (await loadCatalog(specifiers, config, context)).names();
    return ok(`${names.length}: ${names.join(', ')}`);
  });
}

/** Says where a server started here keeps its runs, and whether it can (D68). */
function checkStore({ env, cwd }: CliContext): Promise<DoctorFinding> {
  const file = readStoreFile(env);
  return check('store of runs', 'see docs/operation/durable-runs.md', async () => {
    if (file === undefined) {
      const advice = 'optional: SERVICE_STORE=wavetrain.db keeps the runs of a server when it ends';
      return missing('memory', advice);
    }
    const { readStoreStats } = await import('../../runs/store/maintenance/store-stats.js');
    const stats = await readStoreStats(resolve(cwd, file));
    if (stats === undefined) return ok(`${file}: a server will create it`);
    const holder = stats.is_open ? ', a server has it open' : '';
    const size = formatSize(stats.bytes + stats.wal_bytes);
    return ok(`${file}: ${size}, ${formatCount(stats.runs, 'run')}${holder}`);
  });
}

/** Says which programs the tool "command" may start (D88). */
function checkCommands({ env }: CliContext): Promise<DoctorFinding> {
  return check('commands', 'list programs in SERVICE_COMMANDS, as in git,python3', () => {
    const allowed = readCommands(env);
    const shell = 'a run in the shell asks, or takes --allow-commands';
    if (allowed.isEmpty)
      return missing(`none on a server; ${shell}`, 'optional: SERVICE_COMMANDS=git,python3 allows them');
    return ok(`${allowed.describe()} on a server started here; ${shell}`);
  });
}

/** Says how many files a server started here finds in its folder of pipelines (D69). It checks them when it starts. */
async function checkPipelines({ env, cwd }: CliContext): Promise<DoctorFinding> {
  const folder = env['SERVICE_PIPELINES']?.trim() ?? '';
  const advice = 'create the folder, or name another one in SERVICE_PIPELINES';
  return check('pipelines', advice, async () => {
    if (folder === '') {
      const why =
        'optional: SERVICE_PIPELINES=FOLDER lets a server know pipelines by id, and start them on schedules';
      return missing('no folder', why);
    }
    const { countDefinitionFiles } = await import('../../library/list-files.js');
    const { files, skipped } = await countDefinitionFiles(resolve(cwd, folder)).catch((error: unknown) => {
      throw new WavetrainError('unreadable_file', `${folder}: ${describeErrno(error)}`);
    });
    const left = skipped === 0 ? '' : `, ${skipped} left out`;
    return ok(`${folder}: ${formatCount(files, 'file')}${left}`);
  });
}

function checkTerminal({ stdout, stderr, env }: CliContext): DoctorFinding {
  const terminal = detectTerminal(stdout, env);
  const { canRedraw } = detectTerminal(stderr, env);
  const size = terminal.interactive ? `${terminal.columns} x ${terminal.rows}` : 'no terminal';
  const features = [
    size,
    `colours ${yesOrNo(terminal.colours)}`,
    `Unicode ${yesOrNo(terminal.unicode)}`,
    `live progress ${yesOrNo(canRedraw)}`,
  ];
  return { name: 'terminal', state: 'ok', found: features.join(', ') };
}

function yesOrNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

async function checkFolder(cwd: string): Promise<DoctorFinding> {
  const name = 'working directory';
  try {
    await access(cwd, constants.W_OK);
    return { name, state: 'ok', found: `${cwd} is writable` };
  } catch (error) {
    const advice = 'only init and --events write there: use another folder or change its permissions';
    return { name, state: 'missing', found: `${cwd} is not writable: ${describeErrno(error)}`, advice };
  }
}

function printFindings(findings: readonly DoctorFinding[], { stdout, env }: CliContext): void {
  const { style } = detectTerminal(stdout, env);
  const nameColumns = findings.reduce((widest, { name }) => Math.max(widest, name.length), 0) + 2;
  const lines = findings.flatMap(({ name, state, found, advice }) => [
    `${formatState(state, style)} ${padToWidth(name, nameColumns)}${toSingleLine(found)}`,
    ...(advice === undefined ? [] : [`  ${' '.repeat(nameColumns)}${style.dim(advice)}`]),
  ]);
  stdout.write(`${lines.join('\n')}\n`);
}

function formatState(state: DoctorFinding['state'], style: Style): string {
  if (state === 'ok') return style.green(style.marks.done);
  return state === 'missing' ? style.dim('-') : style.red(style.marks.failed);
}
