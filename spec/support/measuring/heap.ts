import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the heap that `create` keeps by what it returns, in bytes: that in use after a garbage collection. */
export function measureHeap(create: () => unknown): number {
  const before = readHeap();
  const kept = [create()];
  const after = readHeap();
  // Keeps the value until the heap was read.
  kept.length = 0;
  return after - before;
}

function readHeap(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
