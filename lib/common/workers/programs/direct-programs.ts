import { spawn } from 'node:child_process';
import type { WorkerExit } from '../launcher.js';
import { killOnExit } from './kill-on-exit.js';
import { type ProgramLauncher, type ProgramSignal, signalGroup } from './program-launcher.js';

/**
 * Forks this process for each program, and once more for the shell that ends the program when this process dies. The
 * system copies the page tables of this process for that, twice: a server has a `ForkServer`.
 */
export const directPrograms: ProgramLauncher = {
  async start({ command, args, env, cwd, graceMs }) {
    const child = spawn(command, args, {
      env: { ...env },
      cwd,
      stdio: 'pipe',
      detached: true,
      windowsHide: true,
    });
    const { pid, stdin, stdout, stderr } = child;
    const stopWatching = killOnExit(pid, { graceMs });
    let hasExited = false;
    const signal = (name: ProgramSignal): void => {
      if (pid === undefined || hasExited) return;
      if (!signalGroup(pid, name)) child.kill(name);
    };
    const exited = new Promise<WorkerExit>((resolve) => {
      child.once('exit', (status, by) => {
        signal('SIGKILL');
        hasExited = true;
        stopWatching();
        resolve({ status, signal: by });
      });
    });
    const closed = new Promise<void>((resolve) => {
      child.once('close', () => resolve());
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      // Also a signal that cannot be sent, later.
      child.on('error', reject);
    });
    return { pid: pid ?? 0, stdin, stdout, stderr, exited, closed, signal };
  },
};
