import { errorMessage, invalidVariable } from '../errors.js';
import type { Environment, EnvironmentVariable } from './environment.js';

/** Programs that a message lists. */
const MAX_LISTED = 10;

const ENTRY = /^(?:([^:,\s]+):)?(\*|[\w./+-]+)$/;

/** Stands for all programs. */
const ALL = '*';

/**
 * The programs that a person allows tasks to start (D88): none unless somebody has said so, some, or all; for every tenant or
 * for one. A name without folders stands for the program that PATH leads to; a path stands for itself alone.
 */
export class AllowedCommands {
  static readonly none = new AllowedCommands([]);
  static readonly all = new AllowedCommands([{ program: ALL }]);
  readonly #entries: readonly Entry[];

  private constructor(entries: readonly Entry[]) {
    this.#entries = entries;
  }

  /**
   * Reads entries that are separated by commas: `git`, `*` for all programs, `acme:git` for the tenant `acme` alone.
   *
   * @throws Error with the end of a sentence that names the wrong entry
   */
  static parse(text: string): AllowedCommands {
    const entries = text
      .split(',')
      .flatMap((entry) => (entry.trim() === '' ? [] : [readEntry(entry.trim())]));
    return entries.length === 0 ? AllowedCommands.none : new AllowedCommands(entries);
  }

  /** Allows these programs, and no other one. */
  static of(programs: Iterable<string>): AllowedCommands {
    return new AllowedCommands([...programs].map((program) => ({ program })));
  }

  /**
   * @param program as a task names it, a name or a path; undefined for one that is not known yet
   * @returns why the program is not started, without a point at the end; undefined when it is allowed
   */
  refuse(program: string | undefined, tenantId: string): string | undefined {
    const names = this.#namesFor(tenantId);
    const isAllowed =
      program === undefined ? names.length > 0 : names.includes(program) || names.includes(ALL);
    if (isAllowed) return undefined;
    const subject = program === undefined ? 'a program' : `"${program}"`;
    const others = names.length === 0 ? 'no program is allowed here' : `allowed here: ${listFirst(names)}`;
    return `${subject} may not be started (${others})`;
  }

  /** True for a tenant whose tasks may start whatever they want. */
  allowsAll(tenantId: string): boolean {
    return this.#namesFor(tenantId).includes(ALL);
  }

  /** As in `git, python3`, `all programs`, `none`, or `acme:git`. */
  describe(): string {
    const words = this.#entries.map(({ tenantId, program }) => {
      if (program === ALL) return tenantId === undefined ? 'all programs' : `${tenantId}: all programs`;
      return tenantId === undefined ? program : `${tenantId}:${program}`;
    });
    return words.length === 0 ? 'none' : listFirst(words);
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  #namesFor(tenantId: string): string[] {
    const own = this.#entries.filter((entry) => entry.tenantId === undefined || entry.tenantId === tenantId);
    return own.map(({ program }) => program);
  }
}

interface Entry {
  /** Undefined for every tenant. */
  readonly tenantId?: string | undefined;
  readonly program: string;
}

function listFirst(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? [`and ${names.length - MAX_LISTED} more`] : [];
  return [...names.slice(0, MAX_LISTED), ...more].join(', ');
}

function readEntry(entry: string): Entry {
  const [, tenantId, program] = ENTRY.exec(entry) ?? [];
  if (program === undefined)
    throw new Error(`must list names of programs, as in git,python3: ${JSON.stringify(entry)} is none`);
  return { tenantId, program };
}

const NAME = 'SERVICE_COMMANDS';

/** The variable that allows the programs which tasks start on a server. */
export const COMMANDS_VARIABLE: EnvironmentVariable = {
  name: NAME,
  description:
    'programs that tasks may start, as in git,acme:python3 (for the tenant acme alone); * allows all',
  secret: false,
};

/** Says how the operator of a server allows a program, as the end of a sentence. */
export const COMMANDS_ADVICE = `the operator of the server lists programs in ${NAME}`;

/**
 * Reads the programs that tasks may start on a server (D88): none by default.
 *
 * @throws WavetrainError `bad_usage` with the variable and an example
 */
export function readCommands({ [NAME]: text = '' }: Environment): AllowedCommands {
  try {
    return AllowedCommands.parse(text);
  } catch (error) {
    throw invalidVariable(NAME, errorMessage(error), error);
  }
}
