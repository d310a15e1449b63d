import { Command, Option } from 'clipanion';
import type { CliContext } from '../context.js';

/** What options that several commands share are for, in the same words everywhere. */
export const TOOLS_OPTION =
  '<FILE> a file or package with tools of your own; may be given several times, and adds to SERVICE_TOOLS';
export const INPUTS_OPTION =
  '<JSON> values for the inputs of the pipeline or plan, over their defaults; @FILE reads them from a file';
export const SESSION_OPTION =
  '<JSON> values readable as {{session.KEY}} from the start; @FILE reads them from a file';
export const ENV_FILE_OPTION =
  '<FILE> sets environment variables from a file; variables that are set already win';

/** What every command has that asks a server. */
export abstract class ServerCommand extends Command<CliContext> {
  server = Option.String('--server', {
    description: '<URL> the server to ask, over WAVETRAIN_SERVER; default http://127.0.0.1:8000',
  });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });
}
