import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { systemClock } from '../../common/clock.js';
import { distFile } from '../../common/files.js';
import type { DocumentContent } from './document.js';
import { DocumentPool, type ParseContext } from './document-pool.js';
import { parseContent, type ParseRequest } from './parse-content.js';

let pool: DocumentPool | undefined;

/**
 * Parses documents for the command line and the library: in a process that starts with the first document that needs
 * one, and ends with this one; or in this process when the built program is not there, as in a host's bundle.
 *
 * A checkout that was built has the program in `dist/` too: a change of a parser counts after `npm run build`.
 */
export async function parseLocally(request: ParseRequest, context: ParseContext): Promise<DocumentContent> {
  if (pool === undefined) {
    const file = findProgram();
    if (file === undefined) return await parseContent(request, context.signal);
    pool = new DocumentPool({
      file,
      parallelism: availableParallelism(),
      tenantShare: 0,
      isolateTenants: false,
      clock: systemClock,
    });
  }
  return await pool.parse(request, context);
}

function findProgram(): string | undefined {
  try {
    const file = distFile('document-process.cjs');
    return existsSync(file) ? file : undefined;
  } catch {
    // A bundle of a host has no package.
    return undefined;
  }
}
