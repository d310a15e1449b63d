import { resolve } from 'node:path';
import { VARIABLES } from '../../../common/config/config.js';
import type { Environment } from '../../../common/config/environment.js';
import { nearest } from '../../../definition/did-you-mean.js';
import type { CliContext } from '../../context.js';
import { readEnvVariables } from '../../input/flags.js';
import type { ReadVariables, ReloadedVariables } from './reloader.js';

/**
 * The variables of a server, of which those that the file of `--env-file` has set can change: nobody can change the others
 * while a process lives. Create it before the file is read.
 */
export class EnvFile implements ReloadedVariables {
  readonly files: readonly string[];
  readonly #name: string | undefined;
  readonly #context: CliContext;
  /** The variables of the process without those of the file. */
  readonly #own: Environment;
  readonly #overridden: ReadonlySet<string>;
  /** The variables that the server has started with. */
  #first: Environment | undefined;

  /** @param overridden names of variables that flags override: a change of them has no effect */
  constructor(name: string | undefined, context: CliContext, overridden: Iterable<string>) {
    this.#name = name;
    this.#context = context;
    this.#own = { ...context.env };
    this.#overridden = new Set(overridden);
    this.files = name === undefined ? [] : [resolve(context.cwd, name)];
  }

  async read(): Promise<ReadVariables> {
    const { env: current } = this.#context;
    const name = this.#name;
    this.#first ??= { ...current };
    if (name === undefined) return { env: current, changed: [], needRestart: [], use: () => undefined };
    const env: Environment = { ...this.#own };
    for (const [variable, value] of await readEnvVariables(name, this.#context)) env[variable] ??= value;
    const names = new Set([...Object.keys(current), ...Object.keys(env)]);
    const changed = [...names].filter((variable) => current[variable] !== env[variable]);
    const first = this.#first;
    const unused = [...names].filter(
      (variable) => first[variable] !== env[variable] && needsRestart(variable),
    );
    return {
      env,
      changed: changed.filter((variable) => RELOADED.has(variable)),
      needRestart: unused.filter((variable) => !this.#overridden.has(variable)),
      use: () => {
        for (const variable of changed) {
          if (env[variable] === undefined) delete current[variable];
          else current[variable] = env[variable];
        }
      },
    };
  }
}

const RELOADED = new Set(VARIABLES.filter(({ isReloaded }) => isReloaded).map(({ name }) => name));
const KNOWN = new Set(VARIABLES.map(({ name }) => name));

/** Tracing is set by variables of its own. Variables that others name, such as `${VAR}` of MCP servers, are used as they are. */
function needsRestart(variable: string): boolean {
  return (KNOWN.has(variable) && !RELOADED.has(variable)) || variable.startsWith('OTEL_');
}

/** A variable that Wavetrain does not read, though its name says so. */
interface UnknownVariable {
  readonly name: string;
  /** The name that is meant, perhaps. */
  readonly meant: string | undefined;
}

/** Lists misspelt variables, which have no effect and would otherwise go unnoticed. */
export function unknownVariables(env: Environment): readonly UnknownVariable[] {
  const known = [...KNOWN];
  const named = Object.keys(env).filter((name) => name.startsWith('SERVICE_') && !KNOWN.has(name));
  return named.map((name) => ({ name, meant: nearest(name, known) }));
}
