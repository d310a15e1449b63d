import { PROGRAM } from '../program.js';

/** Why a run may be gone (D26). */
export const KEPT = [
  'runs live in the memory of the server: they are gone when it ends, and settled ones are kept for a while only',
  '(SERVICE_RUN_TTL seconds, usually a day, and SERVICE_RUN_KEEP runs, usually 1000, the oldest go first);',
  `${PROGRAM} runs list shows those that are there`,
].join(' ');
