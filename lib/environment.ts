/** Environment variables by name. */
export type Environment = Record<string, string | undefined>;

/** A variable that the configuration knows; a secret one is never printed. */
export interface Variable {
  readonly name: string;
  readonly description: string;
  readonly secret: boolean;
}
