import { runBundled } from '../bundle.mjs';

// `node --cpu-prof bench/http/run.mjs requests` profiles every process.
await runBundled(import.meta.url, ['server', 'floor', 'probe'], [...process.execArgv, '--expose-gc']);
