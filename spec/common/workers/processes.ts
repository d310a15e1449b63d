import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Waits until a process has ended that this one or its fork server has started, and this one has heard of it. */
export async function waitForExit(pid: number): Promise<void> {
  for (let isGone = false; ; await nextTick()) {
    if (isGone) return;
    try {
      process.kill(pid, 0);
    } catch {
      isGone = true;
    }
  }
}

/** Lists the processes that `parent` has started with `file`, the oldest first. */
export async function listWorkers(parent: number | undefined, file: string): Promise<number[]> {
  const { stdout } = await execute('ps', ['-A', '-o', 'pid=,ppid=,args=']);
  const lines = stdout.split('\n').filter((line) => line.includes(file));
  const all = lines.map((line) => line.trim().split(/\s+/).slice(0, 2).map(Number));
  const pids = all.filter(([, of]) => of === parent).map(([pid = 0]) => pid);
  // After the largest number, the system begins again with small ones.
  const isWrapped = (pid: number): number => (pid < (parent ?? 0) ? 1 : 0);
  return pids.sort((a, b) => isWrapped(a) - isWrapped(b) || a - b);
}

/** True when a process of anybody is at work. A zombie has ended: its parent may not have reaped it. */
export async function isAlive(pid: number): Promise<boolean> {
  const state = await execute('ps', ['-o', 'stat=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return state.stdout.trim() !== '' && !state.stdout.startsWith('Z');
}

/** Finds the session of a process. */
export async function findSession(pid: number): Promise<string> {
  const { stdout } = await execute('ps', ['-o', 'sess=', '-p', String(pid)]);
  return stdout.trim();
}

/** Resolves when the session that a process leads has the priority; at once on systems that share by processes alone. */
export async function waitForSessionPriority(pid: number, priority: number): Promise<void> {
  const file = `/proc/${pid}/autogroup`;
  while (existsSync(file) && !readFileSync(file, 'utf8').endsWith(` nice ${priority}\n`)) await nextTick();
}
