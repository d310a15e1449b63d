import { runBundled } from '../../bundle.mjs';

// The server is the built command.
await runBundled(import.meta.url, [], []);
