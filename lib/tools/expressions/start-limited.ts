import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { EXPRESSION_LIMITS } from '../../common/limits.js';

const HEAP = `--max-old-space-size=${EXPRESSION_LIMITS.memoryMiB}`;

const SHELL = '/bin/sh';

/**
 * V8 lets a single value be larger than its heap may become, so the system watches as well, where it can: over twice
 * the heap. It is not to write down the memory of a process that dies of that either. A limit that cannot be set is
 * lower already, or not known here.
 */
const LIMIT_AND_START = `for limit in "-c 0" "-d ${EXPRESSION_LIMITS.memoryMiB * 2 * 1024}"; do
  (ulimit $limit) 2>/dev/null && ulimit $limit
done
exec "$0" "$@"`;

/**
 * Starts a program of Node.js with a bound on its memory and nothing of the server's surroundings: neither its
 * secrets nor its flags, nor a folder that may go away.
 *
 * @throws Error when the system refuses to; what it refuses later is told by the event `error`
 */
export function startLimited(file: string): ChildProcess {
  return fork(file, {
    ...(existsSync(SHELL)
      ? { execPath: SHELL, execArgv: ['-c', LIMIT_AND_START, process.execPath, HEAP] }
      : { execArgv: [HEAP] }),
    env: {},
    cwd: dirname(file),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}
