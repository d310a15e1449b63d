import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { errorMessage } from '../../../common/errors.js';
import type { CliContext } from '../../context.js';
import { PROGRAM } from '../../package-info.js';

/** The oldest are forgotten first. */
const MAX_REMEMBERED = 1000;

/** A folder in which a person lets a definition start programs. */
interface Remembered {
  /** Of the folder and the texts of the definition. */
  readonly hash: string;
  /** For whoever reads the file. */
  readonly folder: string;
}

/**
 * The definitions whose programs a person has allowed for good, in a file of this user. It stands in the home folder: one in
 * the folder of a project could come with the project.
 */
export class RememberedCommands {
  readonly #file: string;
  readonly #newId: () => string;
  readonly #warn: (message: string) => void;

  constructor({ env, host, newId, stderr }: Pick<CliContext, 'env' | 'host' | 'newId' | 'stderr'>) {
    const configured = env['XDG_STATE_HOME'] ?? '';
    const state = isAbsolute(configured) ? configured : join(host.homeFolder, '.local', 'state');
    this.#file = join(state, 'wavetrain', 'allowed-commands.json');
    this.#newId = newId;
    this.#warn = (message) => void stderr.write(`${PROGRAM}: ${message}\n`);
  }

  async has(hash: string): Promise<boolean> {
    return (await this.#read()).some((one) => one.hash === hash);
  }

  /** Warns when it cannot be remembered: the run goes on. */
  async add(hash: string, folder: string): Promise<void> {
    const all = [...(await this.#read()), { hash, folder }].slice(-MAX_REMEMBERED);
    const temporary = `${this.#file}.${this.#newId()}`;
    try {
      await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
      await writeFile(temporary, `${JSON.stringify(all, undefined, 2)}\n`, { mode: 0o600 });
      await rename(temporary, this.#file);
    } catch (error) {
      this.#warn(`the answer is not remembered: ${errorMessage(error)}`);
    }
  }

  /** A file that is not there, or not readable, allows nothing. */
  async #read(): Promise<readonly Remembered[]> {
    try {
      const read = JSON.parse(await readFile(this.#file, 'utf8')) as unknown;
      return Array.isArray(read) ? (read as Partial<Remembered>[]).filter(isRemembered) : [];
    } catch {
      return [];
    }
  }
}

function isRemembered(value: Partial<Remembered> | null): value is Remembered {
  return typeof value?.hash === 'string' && typeof value.folder === 'string';
}
