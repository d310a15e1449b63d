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
}
