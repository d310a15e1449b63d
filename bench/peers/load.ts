import type { Peer } from './peer.js';

/** Each of them loaded only when it is asked for: some change how fast everything else in the process is. */
const PEERS: ReadonlyMap<string, () => Promise<Peer>> = new Map([
  ['p-graph', async () => (await import('./p-graph.js')).pGraph],
  ['async', async () => (await import('./async-auto.js')).asyncAuto],
  ['@langchain/langgraph', async () => (await import('./langgraph.js')).langGraph],
  ['@mastra/core', async () => (await import('./mastra.js')).mastra],
]);

/** The peers by the names of their packages, and why some are left out. */
export async function loadPeers(
  packageNames: readonly string[],
): Promise<{ peers: Peer[]; excluded: string[] }> {
  const peers: Peer[] = [];
  const excluded: string[] = [];
  for (const name of packageNames) {
    try {
      const load = PEERS.get(name);
      if (load === undefined) throw new Error('no adapter');
      peers.push(await load());
    } catch (error) {
      excluded.push(`${name} did not load: ${firstLine(error)}`);
    }
  }
  return { peers, excluded };
}

/** Of a message, without the path of the file that could not find a package. */
export function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/ imported from .*|\n.*/gs, '');
}
