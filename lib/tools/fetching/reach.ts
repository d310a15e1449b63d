import type { Dispatcher } from 'undici';
import { AddressGuard, type AddressRules } from './address-guard.js';
import { startGuarded } from './connect.js';

/** The addresses that a tenant may reach, and the open connections to them. */
export interface Reach {
  readonly guard: AddressGuard;
  readonly dispatcher: Dispatcher;
}

interface ReachRules extends AddressRules {
  readonly allowNetworksOf?: ((tenantId: string) => readonly string[]) | undefined;
}

const NO_NETWORKS: readonly string[] = [];

/**
 * Gives each tenant its reach: one for all tenants without a list of their own, and one for each list. A connection that
 * a tenant was allowed to open is thus used by no other one.
 */
export class Reaches {
  readonly #rules: ReachRules;
  /** A list that nobody holds any more takes its connections with it. */
  readonly #byList = new WeakMap<readonly string[], Promise<Reach>>();

  constructor(rules: ReachRules) {
    this.#rules = rules;
  }

  of(tenantId: string): Promise<Reach> {
    const own = this.#rules.allowNetworksOf?.(tenantId) ?? NO_NETWORKS;
    let reach = this.#byList.get(own);
    if (reach === undefined) {
      reach = createReach({ ...this.#rules, allowNetworks: [...(this.#rules.allowNetworks ?? []), ...own] });
      this.#byList.set(own, reach);
    }
    return reach;
  }
}

/** Undici keeps connections open for the next request; its own time limits run by the wrong clock. */
async function createReach(rules: AddressRules): Promise<Reach> {
  const [{ Agent, buildConnector }, { default: ip }] = await Promise.all([
    import('undici'),
    import('ipaddr.js'),
  ]);
  const guard = new AddressGuard(rules, ip);
  const secure = buildConnector({ timeout: 0 });
  const dispatcher = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(options, callback) {
      const { hostname, protocol, port } = options;
      const isSecure = protocol === 'https:';
      const target = { hostname, port: Number(port) || (isSecure ? 443 : 80) };
      const socket = startGuarded(guard, target, (error) => {
        if (error !== null) callback(error, null);
        else if (isSecure) secure({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      });
    },
  });
  return { guard, dispatcher };
}
