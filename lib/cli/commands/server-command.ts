import { Command, Option } from 'clipanion';
import type { CliContext } from '../context.js';
import { ENV_FILE_OPTION } from './options.js';

/** What every command has that asks a server. */
export abstract class ServerCommand extends Command<CliContext> {
  server = Option.String('--server', {
    description: '<URL> the server to ask, over WAVETRAIN_SERVER; default http://127.0.0.1:8000',
  });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });
}
