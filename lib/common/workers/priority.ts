import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { errorCode } from '../errors.js';

/** From -20 to 19: while processors are short, the server comes first, and its processes still get a third. */
const LOW_PRIORITY = 3;

/**
 * Lets this process come before another one of its session.
 *
 * @param priority from 1 to 19, the last
 */
export function lowerPriority(pid: number | undefined, priority = LOW_PRIORITY): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, priority);
  } catch {
    // The process has ended already, or the system allows no change: it then works at the server's own priority.
  }
}

/** Programs of others come after the workers. */
const SESSION_PRIORITY = 5;

/**
 * Lets this process come before another one that leads a session. Linux outside of containers shares the processors
 * between sessions first ("autogroup"), and heeds the priorities of processes only within each of them.
 *
 * @param pid of the process that leads the session
 */
export function lowerSessionPriority(pid: number): void {
  lowerPriority(pid, SESSION_PRIORITY);
  writeSessionPriority(pid, RETRIES);
}

/** Linux lets only root change the priority of a session again within 100 ms after another. */
const RETRY_MS = 150;
const RETRIES = 10;

function writeSessionPriority(pid: number, retries: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(SESSION_PRIORITY));
  } catch (error) {
    // Other systems have no such file, and other errors mean that the process has ended.
    if (errorCode(error) !== 'EAGAIN' || retries === 0) return;
    setTimeout(() => writeSessionPriority(pid, retries - 1), RETRY_MS).unref();
  }
}
