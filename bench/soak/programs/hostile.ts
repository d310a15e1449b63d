import { setPriority } from 'node:os';
import { Api, sleep } from '../api.js';
import { ATTACKS } from '../attacks.js';

/** A tenant that attacks: `hostile.mjs URL KEY SECONDS SEED ORIGIN [ATTACK…]`. Prints how often each attack ended and failed. */
const [url = '', key = '', seconds = '0', seed = '1', originUrl = '', ...chosen] = process.argv.slice(2);
const names = chosen.length > 0 ? chosen : Object.keys(ATTACKS);
const endAt = Date.now() + Number(seconds) * 1000;
const attacker = { random: createRandom(Number(seed)), patienceMs: 5000, workbooks: 4, originUrl };
const counts: Record<string, { ended: number; failed: number }> = {};

// Attackers would have machines of their own: here they may not take the processor from the server.
setPriority(19);

/** Attacks at the same time: each waits for its requests. */
const WORKERS = 4;

await Promise.all(Array.from({ length: WORKERS }, attackUntilEnd));
process.stdout.write(JSON.stringify(counts));
process.exit();

async function attackUntilEnd(): Promise<void> {
  const api = new Api(url, key, 30_000);
  while (Date.now() < endAt) {
    const name = names[Math.floor(attacker.random() * names.length)] ?? '';
    const count = (counts[name] ??= { ended: 0, failed: 0 });
    try {
      await ATTACKS[name]?.(api, attacker);
      count.ended++;
    } catch {
      // The server may close a connection or answer too late: the honest tenant decides whether that is wrong.
      count.failed++;
      await sleep(100);
    }
  }
  api.close();
}

/** A repeatable sequence of numbers from 0 to 1 (mulberry32). */
function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
