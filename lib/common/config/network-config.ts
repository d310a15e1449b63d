import { errorMessage, invalidVariable } from '../errors.js';
import { NetworkList, splitNetworks } from '../requests/network-list.js';
import type { Outbound } from '../requests/outbound.js';
import { type Environment, type EnvironmentVariable, variable } from './environment.js';
import { OUTBOUND_VARIABLES, readOutbound } from './outbound-config.js';

const ALLOW_NETWORKS = 'SERVICE_ALLOW_NETWORKS';
const ALLOW_PRIVATE = 'SERVICE_ALLOW_PRIVATE_NETWORK';

/** The variables for what is reached on the network, in the order in which `doctor` lists them. */
export const NETWORK_VARIABLES: readonly EnvironmentVariable[] = [
  variable(
    ALLOW_NETWORKS,
    'private networks, addresses and hosts that tools may reach, as in 10.2.0.0/16,erp.internal:8443; all for every one',
  ),
  variable(ALLOW_PRIVATE, `true is short for ${ALLOW_NETWORKS}=all; default false`),
  ...OUTBOUND_VARIABLES,
];

/** The addresses that tools may reach on the network (D51). */
export interface NetworkConfig {
  /** Also private, loopback and link-local addresses, but those of metadata services. */
  readonly allowPrivate: boolean;
  /** Entries of a {@link NetworkList}, which are allowed beside public addresses. */
  readonly allowNetworks: readonly string[];
  /** The proxies, and the certificates of servers that are trusted; absent when nothing is configured. */
  readonly outbound?: Outbound;
}

/** @throws WavetrainError `bad_usage` with the variable and its valid values */
export function readNetworkConfig(env: Environment): NetworkConfig {
  const value = env[ALLOW_PRIVATE]?.trim().toLowerCase() || 'false';
  if (value !== 'true' && value !== 'false')
    throw invalidVariable(ALLOW_PRIVATE, `must be true or false, not "${value}"`);
  const allowNetworks = splitNetworks(env[ALLOW_NETWORKS] ?? '');
  try {
    NetworkList.parse(allowNetworks);
  } catch (error) {
    throw invalidVariable(ALLOW_NETWORKS, errorMessage(error), error);
  }
  const outbound = readOutbound(env);
  return { allowPrivate: value === 'true', allowNetworks, ...(outbound && { outbound }) };
}
