import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { errorCode } from '../errors.js';

/** From -20 to 19: while processors are short, the server comes first, and its processes still get a fourth. */
const LOW_PRIORITY = 5;

/**
 * Lets this process come before another one, which leads a session of its own.
 *
 * Linux outside of containers shares the processors between sessions first ("autogroup"), and heeds the priorities of
 * processes only within each of them. Processes that share a session would share its time: a short request of one would
 * wait for the long work of the others.
 */
export function lowerPriority(pid: number | undefined, priority = LOW_PRIORITY): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, priority);
  } catch {
    // The process has ended already, or the system allows no change: it then works at the server's own priority.
  }
  lowerSessionPriority(pid, priority, RETRIES);
}

/** Linux lets only root change the priority of a session again within 100 ms after another. */
const RETRY_MS = 150;
const RETRIES = 10;

function lowerSessionPriority(pid: number, priority: number, retries: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(priority));
  } catch (error) {
    // Other systems have no such file, and other errors mean that the process has ended.
    if (errorCode(error) !== 'EAGAIN' || retries === 0) return;
    setTimeout(() => lowerSessionPriority(pid, priority, retries - 1), RETRY_MS).unref();
  }
}
