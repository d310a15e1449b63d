import { Command, Option } from 'clipanion';
import type { CliContext } from '../context.js';
import { serve } from '../serve/serve.js';
import { ENV_FILE_OPTION, TOOLS_OPTION } from './options.js';

export class ServeCommand extends Command<CliContext> {
  static override paths = [['serve']];
  static override usage = Command.Usage({
    description: 'serves the HTTP API and its documentation',
    details: `
      Listens on 127.0.0.1:8000 unless told otherwise, and tells where the documentation is. Other machines are let
      in only with keys (SERVICE_API_KEYS_FILE). Every request is told in a line on standard output: for people on a
      terminal, as JSON anywhere else.

      Ctrl-C or SIGTERM shuts down: no run is taken any more, those at work have SERVICE_SHUTDOWN_SECONDS to finish,
      then their tools are told to stop. A second Ctrl-C ends at once. Runs are kept in memory and end with the server.
    `,
    examples: [
      ['on the usual port', '$0 serve'],
      ['on another port', '$0 serve --port 8080'],
      ['with tools of your own', '$0 serve --tools tools.ts'],
      ['reached from other machines', 'SERVICE_API_KEYS_FILE=keys.yaml $0 serve --host 0.0.0.0'],
    ],
  });

  host = Option.String('--host', {
    description: '<ADDRESS> address to listen on, over SERVICE_API_HOST; default 127.0.0.1',
  });
  port = Option.String('--port', {
    description: '<N> port to listen on, over SERVICE_API_PORT; 0 takes any that is free; default 8000',
  });
  tools = Option.Array('--tools', { description: TOOLS_OPTION });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });
  quiet = Option.Boolean('--quiet', false, { description: 'log warnings and errors only' });

  override execute(): Promise<number> {
    return serve(this, this.context);
  }
}
