import type { WavetrainClient } from '../../client/client.js';
import { readClientConfig } from '../../common/config.js';
import { type ErrorCode, errorCode, messageOf, WavetrainError } from '../../common/errors.js';
import type { CliContext } from '../context.js';
import { readEnvFile } from '../flags/env-file.js';
import { PROGRAM } from '../program.js';
import { KEPT } from './kept.js';

/** Which server is asked. The key comes from the environment alone: others see command lines. */
export interface ServerFlags {
  readonly server: string | undefined;
  readonly envFile: string | undefined;
}

/** Somebody waits at the keyboard: a server that is not there is told soon. */
const RETRIES = 1;

/** Does something with a server; when that fails for the way to it, the error says what to do. */
export async function ask<T>(
  { server, envFile }: ServerFlags,
  context: CliContext,
  what: (client: WavetrainClient) => Promise<T>,
): Promise<T> {
  await readEnvFile(envFile, context);
  const { WavetrainClient } = await context.services.client();
  const { url, key } = readClientConfig(context.env);
  const client = new WavetrainClient({ url: server ?? url, key, clock: context.clock, retries: RETRIES });
  try {
    return await what(client);
  } catch (thrown) {
    throw withAdvice(thrown);
  }
}

const START = `start one with ${PROGRAM} serve, or name another with --server or WAVETRAIN_SERVER`;
const GIVE_KEY = 'put a key that the server knows into WAVETRAIN_API_KEY';

function withAdvice(thrown: unknown): unknown {
  switch (errorCode(thrown)) {
    case 'server_unreachable':
      return advised('server_unreachable', thrown, START);
    case 'run_not_found':
      return advised('run_not_found', thrown, KEPT);
    case 'unauthorized':
      return advised('unauthorized', thrown, GIVE_KEY);
    default:
      return thrown;
  }
}

function advised(code: ErrorCode, thrown: unknown, advice: string): WavetrainError {
  return new WavetrainError(code, `${messageOf(thrown)}\n  ${advice}`, { cause: thrown });
}
