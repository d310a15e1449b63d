import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, Socket } from 'node:net';
import { join } from 'node:path';

/** Two ends of a connection. Neither has been read from, so that each can be given to another process. */
export interface SocketPair {
  /** Can be sent to the process that has forked this one. */
  readonly near: Socket;
  /** Can be a standard stream of a child. */
  readonly far: Socket;
}

/**
 * Connects pairs of sockets. Node.js reads from all pipes to a child that it makes itself but for one, and would keep what
 * is meant for the server; so they are connections to this process itself. The folder of their address is there for a
 * moment, and only for this user.
 *
 * @param folder for the folder of their address
 */
export async function connectPairs(count: number, folder: string): Promise<SocketPair[]> {
  const ownFolder = await mkdtemp(join(folder, 'wavetrain-'));
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true });
  const pairs: SocketPair[] = [];
  try {
    const address = join(ownFolder, 's');
    await once(server.listen(address), 'listening');
    while (pairs.length < count) pairs.push(await connectPair(server, address));
    return pairs;
  } catch (error) {
    destroyPairs(pairs);
    throw error;
  } finally {
    server.close();
    await rm(ownFolder, { recursive: true, force: true });
  }
}

/** Closes what has not been given to another process. */
export function destroyPairs(pairs: readonly SocketPair[]): void {
  for (const { near, far } of pairs) {
    near.destroy();
    far.destroy();
  }
}

/** The end that connects is the near one: of an end that a server has accepted, Node.js keeps a list in both processes. */
async function connectPair(server: Server, address: string): Promise<SocketPair> {
  const near = new Socket({ allowHalfOpen: true });
  // A socket that is paused before it connects reads nothing.
  near.pause();
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const [[far]] = await Promise.all([accepted, once(near.connect(address), 'connect')]);
  for (const socket of [near, far]) socket.on('error', () => undefined);
  return { near, far };
}
