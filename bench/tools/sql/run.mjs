import { runBundled } from '../../bundle.mjs';

await runBundled(import.meta.url, [], []);
