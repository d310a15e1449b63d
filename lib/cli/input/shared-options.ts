import { Command, Option } from 'clipanion';
import type { CliContext } from '../context.js';

/** Descriptions of options that several commands have. */
export const TOOLS_OPTION =
  '<FILE> file or package with your own tools; can be repeated; adds to SERVICE_TOOLS';
export const MCP_OPTION =
  '<FILE> JSON file with MCP servers, whose tools tasks call as mcp.SERVER.TOOL; overrides SERVICE_MCP_FILE';
export const INPUTS_OPTION =
  '<JSON> inputs of the pipeline or plan, which override its defaults; @FILE reads them from a file';
export const SESSION_OPTION =
  '<JSON> session values, which templates read as {{session.KEY}}; @FILE reads them from a file';
export const ENV_FILE_OPTION =
  '<FILE> set environment variables from this file; variables that are already set keep their value';

export const VERBOSE_OPTION =
  'print each event on a line of standard error, and of what failed the whole inputs and stack';
export const SERVER_OPTION =
  '<URL> address of the server; overrides WAVETRAIN_SERVER; default http://127.0.0.1:8000';

export const JSON_OPTION =
  'print only the outputs (for a plan, the whole result) as one JSON document; if the run fails, its status, error, failures with their inputs, and the outputs that there are';
export const OUTPUT_OPTION =
  '<TASK> print only the output of this task, whole: a text as it is, anything else as JSON; in a plan SUB_PIPELINE/TASK';
export const PARTIAL_OPTION = 'if the run fails, print the outputs of the tasks that succeeded';
export const EVENTS_OPTION =
  '<FILE> write each event to this file as it happens, one JSON document per line; overwrites the file';
export const RECORD_OPTION =
  '<FILE> record what the actors of the run do, for wavetrain inspect and bug reports; secrets are masked; overwrites the file';
export const INSPECT_OPTION =
  'show what the actors of the run do on a page of this machine, and keep the page after the run until Enter or Ctrl-C; --inspect=wait begins the run when the page is open';
export const ARTIFACTS_OPTION = '<FOLDER> write the files of tools such as export to this folder';
export const MODEL_OPTION =
  '<PROVIDER/MODEL> language model of tasks that name none, such as openai/gpt-4o-mini; default WAVETRAIN_MODEL';
export const QUIET_OPTION = 'show no progress and no warnings';
export const STORE_OPTION =
  '<FOLDER> folder that keeps the runs of the shell; default .wavetrain, in the working directory or above it';
export const NO_STORE_OPTION = 'do not keep this run';

/** Base of the commands that send requests to a server. */
export abstract class ServerCommand extends Command<CliContext> {
  server = Option.String('--server', { description: SERVER_OPTION });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });
}

/** Base of the commands that show runs of the shell, or of a server. */
export abstract class HistoryCommand extends ServerCommand {
  store = Option.String('--store', { description: STORE_OPTION });
}

/** The default of an option that a rerun is not given, as the help describes it. */
export const AS_BEFORE = 'default: as in the earlier run';

/** Base of the commands that give values to a run. */
export abstract class RunValuesCommand extends Command<CliContext> {
  params = Option.String('--params', {
    description: `<JSON> values of the params of a pipeline; ${this.unlessGiven('absent ones keep their default', 'absent ones are as in the earlier run')}; @FILE reads them from a file`,
  });
  inputs = Option.String('--inputs', {
    description: `<JSON> inputs of the pipeline or plan; ${this.unlessGiven('absent ones keep its defaults', 'absent ones are as in the earlier run')}; @FILE reads them from a file`,
  });
  session = Option.String('--session', { description: SESSION_OPTION });
  sessionFile = Option.String('--session-file', {
    description: '<FILE> session values from a JSON file; --session overrides them key by key',
  });
  timeout = Option.String('--timeout', {
    description: `<SECONDS> time limit of each attempt of a task without a timeout; ${this.unlessGiven('by default there is none')}`,
  });
  concurrency = Option.String('--concurrency', {
    description: `<N> maximum number of items in flight of a fan-out without fan_out_concurrency; ${this.unlessGiven('default unlimited')}`,
  });
  noCache = Option.Boolean('--no-cache', false, {
    description: 'call every tool, also of tasks with "cache"',
  });
  planConcurrency = Option.String('--plan-concurrency', {
    description: `<N> maximum number of sub-pipelines that run at once; overrides plan_concurrency of the plan; ${this.unlessGiven('default 1')}`,
  });
  jitter = Option.String('--jitter', {
    description: `<FRACTION> random variation of retry delays, from 0 to 1; ${this.unlessGiven('default 0')}`,
  });
  retryBaseDelay = Option.String('--retry-base-delay', {
    description: `<SECONDS> delay before the first retry of a task without retry_delay; doubles with each further retry; ${this.unlessGiven('default 0.5')}`,
  });
  maxRetryDelay = Option.String('--max-retry-delay', {
    description: `<SECONDS> upper limit of the retry delay of a task without max_retry_delay; ${this.unlessGiven('default 4')}`,
  });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });

  /** Chooses what help says of an option that is not given: in a new run, or in the rerun of an earlier one. */
  protected unlessGiven(inNewRun: string, _inRerun: string = AS_BEFORE): string {
    return inNewRun;
  }
}

/** Base of the commands that start the run of a file, here or on a server. */
export abstract class RunFileCommand extends RunValuesCommand {
  file = Option.String({ name: 'FILE' });
  breakBefore = Option.Array('--break-before', {
    description:
      '<TASK> pause before the wave of this task, to look at the run; in a plan SUB_PIPELINE/TASK; can be repeated',
  });
  breakOnFailure = Option.Boolean('--break-on-failure', false, {
    description: 'pause when a task has failed, before the run fails',
  });
  tenant = Option.String('--tenant', { description: '<ID> namespace on the blackboard; default "default"' });
}
