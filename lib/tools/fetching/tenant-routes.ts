import type { Outbound } from '../../common/requests/outbound.js';
import { AddressGuard, type AddressRules } from './address-guard.js';
import { Routes } from './routes.js';

interface ReachRules extends AddressRules {
  readonly allowNetworksOf?: ((tenantId: string) => readonly string[]) | undefined;
  readonly outbound?: Outbound | undefined;
}

const NO_NETWORKS: readonly string[] = [];

/**
 * Gives each tenant its routes: the same to all tenants without a list of their own, and others for each list. A
 * connection that a tenant was allowed to open is thus used by no other one.
 */
export class TenantRoutes {
  readonly #rules: ReachRules;
  /** A list that nobody holds any more takes its connections with it. */
  readonly #byList = new WeakMap<readonly string[], Promise<Routes>>();

  constructor(rules: ReachRules) {
    this.#rules = rules;
  }

  of(tenantId: string): Promise<Routes> {
    const own = this.#rules.allowNetworksOf?.(tenantId) ?? NO_NETWORKS;
    const known = this.#byList.get(own);
    if (known !== undefined) return known;
    const created = this.#create(own);
    this.#byList.set(own, created);
    return created;
  }

  async #create(own: readonly string[]): Promise<Routes> {
    const { default: ip } = await import('ipaddr.js');
    const { allowNetworks = [], outbound, ...rules } = this.#rules;
    return new Routes(
      new AddressGuard({ ...rules, allowNetworks: [...allowNetworks, ...own] }, ip),
      outbound,
    );
  }
}
