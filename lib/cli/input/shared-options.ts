import { Command, Option } from 'clipanion';
import type { CliContext } from '../context.js';

/** The flags of a command, as its class declares them. */
export type FlagsOf<C extends Command<CliContext>> = Omit<C, keyof Command<CliContext>>;

/** Declares an option with a value, as help shows it: `--output,-o <FILE> write it to this file`. */
export function textOption(...help: HelpText): string | undefined {
  return Option.String(...readHelp(help));
}

/** As {@link textOption}, for an option that can be repeated. */
export function listOption(...help: HelpText): string[] | undefined {
  return Option.Array(...readHelp(help));
}

/** Declares an option that is on or off: `--quiet show no progress`. */
export function flagOption(...help: HelpText): boolean {
  const [names, description] = readHelp(help);
  return Option.Boolean(names, false, description);
}

type HelpText = [parts: TemplateStringsArray, ...values: unknown[]];

function readHelp([parts, ...values]: HelpText): [names: string, { description: string }] {
  const [names = '', ...words] = String.raw(parts, ...values).split(/\s+/);
  return [names, { description: words.join(' ') }];
}

/** Descriptions of options that commands with different bases have. */
export const TOOLS_OPTION =
  '<FILE> file or package with your own tools; can be repeated; adds to SERVICE_TOOLS';
export const ENV_FILE_OPTION =
  '<FILE> set environment variables from this file; variables that are already set keep their value';
export const VERBOSE_OPTION =
  'print each event on a line of standard error, and of what failed the whole inputs and stack';
export const FULL_OPTION = 'print long outputs, and long lists of files, whole';
export const SERVER_OPTION =
  '<URL> address of the server; overrides WAVETRAIN_SERVER; default http://127.0.0.1:8000';
export const RUN_ID = { name: 'RUN_ID', required: true } as const;

const MCP_OPTION =
  '<FILE> JSON file with MCP servers, whose tools tasks call as mcp.SERVER.TOOL; overrides SERVICE_MCP_FILE';
const SESSION_OPTION =
  '<JSON> session values, which templates read as {{session.KEY}}; @FILE reads them from a file';
const STORE_OPTION =
  '<FOLDER> folder that keeps the runs of the shell; default .wavetrain, in the working directory or above it';

export abstract class CatalogCommand extends Command<CliContext> {
  tools = listOption`--tools ${TOOLS_OPTION}`;
  mcp = textOption`--mcp ${MCP_OPTION}`;
  envFile = textOption`--env-file ${ENV_FILE_OPTION}`;
}

/** Base of the commands that check a definition and run nothing. */
export abstract class DefinitionCommand extends CatalogCommand {
  file = Option.String({ name: 'FILE' });
  inputs = textOption`--inputs <JSON> inputs of the pipeline or plan, which override its defaults; @FILE reads them
    from a file`;
  session = textOption`--session ${SESSION_OPTION}`;
}

/** Base of the commands that ask a server alone. */
export abstract class ServerCommand extends Command<CliContext> {
  server = textOption`--server ${SERVER_OPTION}`;
  envFile = textOption`--env-file ${ENV_FILE_OPTION}`;
}

/** Base of the commands that show runs of the shell, or of a server. */
export abstract class HistoryCommand extends ServerCommand {
  store = textOption`--store ${STORE_OPTION}`;
}

/** The help of a command on the run that it takes. */
export const RUN_ID_DETAILS = `
  RUN_ID is the id of a run, or 4 or more characters of its end or its beginning (ids begin with the time, so their
  beginning is often the same). If the server requires an API key, set WAVETRAIN_API_KEY.
`;

export const HISTORY_DETAILS = `
  Without --server and WAVETRAIN_SERVER, a run that wavetrain run has kept in the folder .wavetrain needs no server.
`;

/** Base of the commands that show one run of the shell, or of a server. */
export abstract class RunIdCommand extends HistoryCommand {
  runId = Option.String(RUN_ID);
}

export abstract class ServerRunCommand extends ServerCommand {
  runId = Option.String(RUN_ID);
}

/** The default of an option that a rerun is not given, as the help describes it. */
export const AS_BEFORE = 'default: as in the earlier run';

export abstract class RunValuesCommand extends Command<CliContext> {
  params = textOption`--params <JSON> values of the params of a pipeline;
    ${this.unlessGiven('absent ones keep their default', 'absent ones are as in the earlier run')}; @FILE reads them
    from a file`;
  param = listOption`-p,--param <NAME=VALUE> value of one param, a list or an object as JSON; overrides --params; can be
    repeated`;
  inputs = textOption`--inputs <JSON> inputs of the pipeline or plan;
    ${this.unlessGiven('absent ones keep its defaults', 'absent ones are as in the earlier run')}; @FILE reads them
    from a file`;
  session = textOption`--session ${SESSION_OPTION}`;
  sessionFile = textOption`--session-file <FILE> session values from a JSON file; --session overrides them key by key`;
  label = listOption`--label <NAME=VALUE> label of the run, by which lists of runs are filtered; overrides a label of the
    definition${this.unlessGiven('', ', or of the earlier run')}; can be repeated`;
  timeout = textOption`--timeout <DURATION> time limit of each attempt of a task without a timeout;
    ${this.unlessGiven('by default there is none')}`;
  concurrency = textOption`--concurrency <N> maximum number of items in flight of a fan-out without
    fan_out_concurrency; ${this.unlessGiven('default unlimited')}`;
  noCache = flagOption`--no-cache call every tool, also of tasks with "cache"`;
  planConcurrency = textOption`--plan-concurrency <N> maximum number of sub-pipelines that run at once; overrides
    plan_concurrency of the plan; ${this.unlessGiven('default 1')}`;
  jitter = textOption`--jitter <FRACTION> random variation of retry delays, from 0 to 1;
    ${this.unlessGiven('default 0')}`;
  retryBaseDelay = textOption`--retry-base-delay <DURATION> delay before the first retry of a task without
    retry_delay; doubles with each further retry; ${this.unlessGiven('default 0.5')}`;
  maxRetryDelay = textOption`--max-retry-delay <DURATION> upper limit of the retry delay of a task without
    max_retry_delay; ${this.unlessGiven('default 4')}`;
  envFile = textOption`--env-file ${ENV_FILE_OPTION}`;

  /** Chooses what help says of an option that is not given: in a new run, or in the rerun of an earlier one. */
  protected unlessGiven(inNewRun: string, _inRerun: string = AS_BEFORE): string {
    return inNewRun;
  }
}

/** Base of the commands that run a definition in the shell, and print its result. */
export abstract class ShellRunCommand extends RunValuesCommand {
  json = flagOption`--json print only the outputs (for a plan, the whole result) as one JSON document; if the run
    fails, its status, error, failures with their inputs, and the outputs that there are`;
  full = flagOption`--full ${FULL_OPTION}`;
  output = textOption`--output <TASK> print only the output of this task, whole: a text as it is, anything else as
    JSON; in a plan SUB_PIPELINE/TASK`;
  partial = flagOption`--partial if the run fails, print the outputs of the tasks that succeeded`;
  tools = listOption`--tools ${this.#orAsBefore(TOOLS_OPTION)}`;
  mcp = textOption`--mcp ${this.#orAsBefore(MCP_OPTION)}`;
  events = textOption`--events <FILE> write each event to this file as it happens, one JSON document per line;
    overwrites the file`;
  record = textOption`--record <FILE> record what the actors of the run do, for wavetrain inspect and bug reports;
    secrets are masked; overwrites the file`;
  inspect = Option.String('--inspect', {
    tolerateBoolean: true,
    description:
      'show what the actors of the run do on a page of this machine, and keep the page after the run until Enter or Ctrl-C; --inspect=wait begins the run when the page is open',
  });
  artifacts = textOption`--artifacts <FOLDER> write the files of tools such as export to this folder;
    ${this.unlessGiven('default outputs; with --server, download them to this folder (without it, they stay on the server)')}`;
  allowCommands = Option.String('--allow-commands', {
    tolerateBoolean: true,
    description:
      'let the tool command start programs on this machine: those of a list, as in --allow-commands=git, or all',
  });
  store = textOption`--store ${STORE_OPTION}`;
  model = textOption`--model
    ${this.#orAsBefore('<PROVIDER/MODEL> language model of tasks that name none, such as openai/gpt-4o-mini; default WAVETRAIN_MODEL')}`;
  verbose = flagOption`--verbose ${VERBOSE_OPTION}`;
  quiet = flagOption`--quiet show no progress and no warnings`;

  #orAsBefore(description: string): string {
    return [description, this.unlessGiven('')].filter((part) => part !== '').join('; ');
  }
}

/** Descriptions of the options with which a file is run, here or on a server. */
export const BREAK_BEFORE_OPTION =
  '<TASK> pause before the wave of this task, to look at the run; in a plan SUB_PIPELINE/TASK; can be repeated';
export const BREAK_ON_FAILURE_OPTION = 'pause when a task has failed, before the run fails';
export const TENANT_OPTION = '<ID> namespace on the blackboard; default "default"';
