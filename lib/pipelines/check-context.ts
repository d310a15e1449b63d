import type { Catalog } from '../tools/catalog.js';
import type { KnownOfRun } from './pipeline.js';

/** Keys of which only one thing is asked. */
export interface Keys {
  has(key: string): boolean;
}

/** What a definition is held against, beside itself. */
export interface Known {
  readonly catalog: Catalog;
  /** Keys of the inputs given for the run (D5); undefined when nobody knows them before it. */
  readonly inputs: Iterable<string> | undefined;
  /** Those that whoever starts the run gave for this very definition: one that it does not take is told. */
  readonly givenInputs: readonly string[];
  /** What to do about an input that neither they nor the definition provide. */
  readonly inputHint: string;
  /** Session keys that are there when the run starts (D9). */
  readonly session: Keys;
  /** How many definitions it stands within, each in a task of the next. */
  readonly nesting: number;
}

export function knownOf({ inputs, session }: KnownOfRun, catalog: Catalog): Known {
  const givenInputs = Object.keys(inputs ?? {});
  return {
    catalog,
    inputs: givenInputs,
    givenInputs,
    inputHint: 'give it a default under "inputs", or pass it with --inputs',
    session: new Set(Object.keys(session ?? {})),
    nesting: 0,
  };
}
