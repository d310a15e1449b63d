import { Command, Option } from 'clipanion';
import type { CliContext } from '../context.js';

/** Descriptions of options that several commands have. */
export const TOOLS_OPTION =
  '<FILE> file or package with your own tools; can be repeated; adds to SERVICE_TOOLS';
export const INPUTS_OPTION =
  '<JSON> inputs of the pipeline or plan, which override its defaults; @FILE reads them from a file';
export const SESSION_OPTION =
  '<JSON> session values, which templates read as {{session.KEY}}; @FILE reads them from a file';
export const ENV_FILE_OPTION =
  '<FILE> set environment variables from this file; variables that are already set keep their value';

/** Base of the commands that send requests to a server. */
export abstract class ServerCommand extends Command<CliContext> {
  server = Option.String('--server', {
    description: '<URL> address of the server; overrides WAVETRAIN_SERVER; default http://127.0.0.1:8000',
  });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });
}
