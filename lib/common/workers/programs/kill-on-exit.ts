import { spawn } from 'node:child_process';
import type { Program } from './program-launcher.js';

/**
 * A shell that waits for a line. Without one, Wavetrain has died, and the server has read the end of its standard input:
 * it has as long as in an orderly end to do so, and then to follow SIGTERM.
 */
const PROGRAM = `
trap '' HUP INT TERM
read -r line && exit 0
sleep "$2"; kill -s TERM -- "-$1"
sleep "$2"; kill -s KILL -- "-$1"`;

/**
 * Has a process group end when this process has died without a word, as by SIGKILL, when no code of its own can end the
 * group. A shell waits for that, since it takes a megabyte and a millisecond. On a system without shells (Windows), what
 * the group reads on its standard input must suffice.
 *
 * @param group its leader's process id; undefined when it could not be started
 * @returns a function to be called when the group has ended
 */
export function killOnExit(
  group: number | undefined,
  { graceMs, env }: Pick<Program, 'graceMs' | 'env'>,
): () => void {
  if (group === undefined) return () => undefined;
  const { PATH = '/usr/bin:/bin' } = env;
  const shell = spawn('/bin/sh', ['-c', PROGRAM, 'sh', String(group), String(graceMs / 1000)], {
    env: { PATH },
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    windowsHide: true,
  });
  // No shell, or one that somebody has ended: nothing is lost but the watch.
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  return () => void shell.stdin.end('ended\n');
}
