export type Environment = Record<string, string | undefined>;

/** Returns the variables of this process. Changing the object changes what tools see. */
export function systemEnvironment(): Environment {
  return process.env;
}

/** Describes an environment variable; the value of a secret one is never printed. */
export interface EnvironmentVariable {
  readonly name: string;
  readonly description: string;
  readonly secret: boolean;
  /** A running server uses another value when the file of `--env-file` has one. Default: after a restart. */
  readonly isReloaded?: boolean;
}

/** Describes a variable whose value may be printed. */
export function variable(name: string, description: string): EnvironmentVariable {
  return { name, description, secret: false };
}

/** Describes a variable whose value is never printed. */
export function secretVariable(name: string, description: string): EnvironmentVariable {
  return { name, description, secret: true };
}

/** Marks a variable of which a running server uses another value. */
export function reloaded<V extends EnvironmentVariable>(variable: V): V {
  return { ...variable, isReloaded: true };
}
