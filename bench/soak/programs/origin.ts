import { setPriority } from 'node:os';
import { startOrigin } from '../origin.js';

/**
 * The server that attackers let tools and models ask: `origin.mjs`. Prints its URL. It would have a machine of its own:
 * here it may not take the processor from the attacked server.
 */
setPriority(19);
process.stdout.write(`${(await startOrigin()).url}\n`);
