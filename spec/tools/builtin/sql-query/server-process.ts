import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';

/** Finds a port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address === 'object' && address !== null) return address.port;
  throw new Error('the server has no port');
}

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The user that a database server runs as: undefined for this one, and the one of its package where this one is root, which
 * such servers refuse. Returns a sentence when there is none.
 */
export function serverUser(name: string): SystemUser | undefined | string {
  if (process.getuid?.() !== 0) return undefined;
  try {
    const [uid, gid] = ['-u', '-g'].map((flag) =>
      Number(execFileSync('id', [flag, name], { encoding: 'utf8' })),
    );
    return { uid: uid ?? 0, gid: gid ?? 0 };
  } catch {
    return `this process is root, and there is no user "${name}" to run the server as`;
  }
}

/** Skips a suite with a sentence, or fails it in continuous integration, where nothing is skipped. */
export function skipSuite(context: Mocha.Context, sentence: string): never {
  if (process.env['CI'] !== undefined) throw new Error(sentence);
  process.stdout.write(`\n  skipped: ${sentence}\n`);
  return context.skip();
}
