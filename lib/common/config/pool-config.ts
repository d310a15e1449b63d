import { invalidVariable } from '../errors.js';
import type { Environment, EnvironmentVariable } from './environment.js';

const NAME = 'SERVICE_POOLS';

const MOST_POOLS = 100;

/** Of one pool. */
const MOST_PLACES = 10_000;

/** The variable that sets the pools of a server, and of a shell. */
export const POOLS_VARIABLE: EnvironmentVariable = {
  name: NAME,
  description: 'pools that tasks take places of, with their numbers of places, as in erp=3,gpu=1',
  secret: false,
};

/** A name as the id of a task, and a number of places. */
const POOL = /^([A-Za-z_][A-Za-z0-9_-]{0,127})\s*=\s*(\d{1,9})$/;

/**
 * Reads the pools that tasks may name (D81); undefined when none are set.
 *
 * @throws WavetrainError `bad_usage` with the variable and an example
 */
export function readPools(env: Environment): ReadonlyMap<string, number> | undefined {
  const parts = (env[NAME] ?? '').split(',').map((part) => part.trim());
  const named = parts.filter((part) => part !== '');
  if (named.length === 0) return undefined;
  if (named.length > MOST_POOLS)
    throw invalidVariable(NAME, `has ${named.length} pools; at most ${MOST_POOLS} are possible`);
  const pools = new Map<string, number>();
  for (const part of named) {
    const [, name, number] = POOL.exec(part) ?? [];
    if (name === undefined)
      throw invalidVariable(NAME, `contains "${part}": write NAME=PLACES, as in ${NAME}=erp=3,gpu=1`);
    const places = Number(number);
    if (places < 1 || places > MOST_PLACES)
      throw invalidVariable(NAME, `gives "${name}" ${number} places: write 1 to ${MOST_PLACES}`);
    if (pools.has(name)) throw invalidVariable(NAME, `names the pool "${name}" twice`);
    pools.set(name, places);
  }
  return pools;
}
