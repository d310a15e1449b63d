import { runBundled } from '../../bundle.mjs';

// The thread of the store is the built one.
await runBundled(import.meta.url, [], ['--expose-gc']);
