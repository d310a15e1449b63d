import { fuzzIsolation } from '../spec/tools/expressions/fuzz.js';

// Evaluates random expressions, and probes whether they changed what others compute: npm run fuzz:expressions [COUNT [SEED]]
const [count = 100_000, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);

const startMs = performance.now();
const { evaluated, succeeded, differences } = fuzzIsolation({
  seed,
  count,
  probeEvery: 100,
  timeoutMs: 1000,
});
const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
for (const difference of differences) console.log(`${difference}\n`);
console.log(
  `seed ${seed}: ${evaluated} expressions, ${succeeded} with a result; ${differences.length} differences; ${seconds} s`,
);
process.exitCode = differences.length === 0 ? 0 : 1;
