import { runBundled } from '../bundle.mjs';

// The server is the built command, and the browser a process of its own.
await runBundled(import.meta.url, [], []);
