import { WavetrainError } from '../errors.js';

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

export function variable(name: string, description: string): EnvironmentVariable {
  return { name, description, secret: false };
}

export function secretVariable(name: string, description: string): EnvironmentVariable {
  return { name, description, secret: true };
}

/** The error of a variable with a value that it cannot have. @param problem as the end of a sentence */
export function invalidVariable(name: string, problem: string, cause?: unknown): WavetrainError {
  return new WavetrainError('bad_usage', `the environment variable ${name} ${problem}`, { cause });
}
