import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../common/errors.js';
import { killProcess } from '../../common/workers/programs/program-launcher.js';
import type { CommandCaller } from './command-caller.js';

/** The variable by which the processes of a command are recognised: everything that a program starts inherits it. */
const MARK = 'WAVETRAIN_COMMAND';

/** A command that is about to start. */
interface LedgerEntry {
  /** Variables by which a process of the command is found again. */
  readonly environment: Readonly<Record<string, string>>;
  /** Call when no process of the command is left. */
  readonly ended: () => Promise<void>;
}

/** The task that starts a command. */
type CommandOwner = Pick<CommandCaller, 'runId' | 'taskId'>;

/** Notes the commands at work for the process that comes after this one, should it die without a word. */
export interface CommandLedger {
  /** Resolves when the command is noted and may start. */
  open(owner: CommandOwner): Promise<LedgerEntry>;
}

const NOTHING: LedgerEntry = { environment: {}, ended: () => Promise.resolve() };

/** Of processes whose commands end with them, as far as `killOnExit` can see to it. */
export const NO_LEDGER: CommandLedger = { open: () => Promise.resolve(NOTHING) };

/** Notes each command as a file of a folder, which is created when it is needed. */
export function ledgerIn(folder: string): CommandLedger {
  return {
    async open({ runId, taskId }) {
      const mark = randomUUID();
      const file = join(folder, mark);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(file, JSON.stringify({ runId, taskId }), { mode: 0o600 });
      return { environment: { [MARK]: mark }, ended: () => rm(file, { force: true }) };
    },
  };
}

/**
 * Ends the commands that an earlier process has left at work, as far as they can be recognised without guessing: by a mark
 * in their environment that no other process has.
 *
 * @param log receives a sentence for each command that was left
 */
export async function endLeftCommands(folder: string, log: (message: string) => void): Promise<void> {
  for (const mark of await listMarks(folder)) {
    const { runId, taskId } = await readOwner(join(folder, mark));
    const command = `the command of task "${taskId}" of run ${runId}`;
    const ended = await endMarked(mark);
    if (ended === undefined)
      log(`${command} may still be at work: this system does not show which processes have ${MARK}=${mark}`);
    else if (ended > 0) log(`ended ${command}, which was left at work`);
    await rm(join(folder, mark), { force: true });
  }
}

async function listMarks(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The owner of a command whose file was not written to its end is not known; the mark alone ends it. */
async function readOwner(file: string): Promise<CommandOwner> {
  try {
    const { runId, taskId } = JSON.parse(await readFile(file, 'utf8')) as Partial<CommandOwner>;
    return { runId: String(runId), taskId: String(taskId) };
  } catch {
    return { runId: 'unknown', taskId: 'unknown' };
  }
}

/** Looks anew until there is none, as a process may start another one meanwhile. */
const MAX_ROUNDS = 20;

/** Returns how many processes were ended; undefined when the system does not show the environment of processes. */
async function endMarked(mark: string): Promise<number | undefined> {
  const ended = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = await findMarked(mark);
    if (found === undefined) return undefined;
    if (found.length === 0) break;
    for (const pid of found) if (killProcess(pid)) ended.add(pid);
  }
  return ended.size;
}

async function findMarked(mark: string): Promise<number[] | undefined> {
  const names = await readdir('/proc').catch(() => undefined);
  if (names?.includes('self') !== true) return undefined;
  const found: number[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    // Of a process that has ended, or that belongs to another user, there is nothing to read.
    const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').includes(`${MARK}=${mark}`)) found.push(Number(name));
  }
  return found;
}
