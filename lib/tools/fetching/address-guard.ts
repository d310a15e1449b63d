import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { errorMessage, ToolError } from '../../common/errors.js';
import {
  formatTarget,
  NetworkList,
  type NetworkTarget,
  withoutBrackets,
} from '../../common/requests/network-list.js';
import { untilAborted } from '../../common/requests/request-timer.js';
import { findMetadataAddress, isMetadataName, isPublic, type IpParser } from './address-kinds.js';

/** Finds the addresses of a name, as `lookup` of `node:dns/promises` does. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** The addresses that tools may reach (D51). */
export interface AddressRules {
  /** Allows every address but those of metadata services. Default: false. */
  readonly allowPrivate?: boolean | undefined;
  /** Allows private networks, addresses and hosts: `10.2.0.0/16`, `erp.internal:8443`, `*.corp.internal`. */
  readonly allowNetworks?: readonly string[] | undefined;
  /** Allows single addresses that are not public, such as those of a server in a spec. */
  readonly allows?: ((address: string) => boolean) | undefined;
  /** Default: the resolver of the system. */
  readonly resolve?: Resolve | undefined;
}

type LookupCallback = Parameters<LookupFunction>[2];

/** Time to look a name up that a proxy looks up as well: many networks with a proxy know no names beyond them. */
const PROXIED_LOOKUP_MS = 2000;

const SETTING = 'SERVICE_ALLOW_NETWORKS';

/**
 * Refuses addresses that are not public when a connection is made (D51): those of the machine, its network and its cloud,
 * and those that lead to them. The address that was checked is the one that is connected to, so that a name whose answer
 * changes gains nothing. A name is refused when any of its addresses is.
 */
export class AddressGuard {
  readonly #rules: AddressRules;
  readonly #allowed: NetworkList;
  readonly #ip: IpParser;

  /**
   * @param ip the parser of addresses, `ipaddr.js`
   * @throws Error for a wrong entry of `allowNetworks`
   */
  constructor(rules: AddressRules, ip: IpParser) {
    this.#rules = rules;
    this.#allowed = NetworkList.parse(rules.allowNetworks ?? []);
    this.#ip = ip;
  }

  /** Why a host may not be connected to that is an address itself; undefined for a name, and for what is allowed. */
  refuseLiteral(target: NetworkTarget): ToolError | undefined {
    const address = withoutBrackets(target.hostname);
    return isIP(address) === 0 ? this.#refuseName(target) : this.#refuse(target, address, `${address} is`);
  }

  /** Why a connection may not be used; undefined when it may. */
  refuseConnected(target: NetworkTarget, address: string | undefined): ToolError | undefined {
    return address === undefined ? undefined : this.#refuse(target, address, 'the server has');
  }

  /**
   * Why a proxy may not be asked for a target; undefined when it may. A name that cannot be looked up here is left to the
   * proxy, which looks it up again.
   */
  async refuseProxied(target: NetworkTarget): Promise<ToolError | undefined> {
    const refusal = this.refuseLiteral(target);
    if (refusal !== undefined || isIP(withoutBrackets(target.hostname)) !== 0) return refusal;
    try {
      await untilAborted(this.#resolveAllowed(target), AbortSignal.timeout(PROXIED_LOOKUP_MS));
      return undefined;
    } catch (error) {
      return error instanceof ToolError && !error.retryable ? error : undefined;
    }
  }

  /** The lookup of a socket: finds the addresses of the name of a target, and fails when one of them is refused. */
  lookupFor(target: NetworkTarget): LookupFunction {
    return (_, options, callback) => void this.#answer(target, options, callback);
  }

  async #answer(target: NetworkTarget, { all }: LookupOptions, callback: LookupCallback): Promise<void> {
    let addresses: LookupAddress[];
    try {
      addresses = await this.#resolveAllowed(target);
    } catch (error) {
      return callback(error instanceof Error ? error : new ToolError(errorMessage(error)), []);
    }
    const [first] = addresses;
    if (first === undefined || all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  }

  async #resolveAllowed(target: NetworkTarget): Promise<LookupAddress[]> {
    const { hostname } = target;
    const addresses = [...(await (this.#rules.resolve ?? resolveWithSystem)(hostname))];
    if (addresses.length === 0) throw new ToolError(`the name "${hostname}" has no address`);
    for (const { address } of addresses) {
      // The message keeps the address to itself: it would show callers the names and addresses of a private network.
      const refusal = this.#refuse(target, address, `"${hostname}" has`);
      if (refusal !== undefined) throw refusal;
    }
    return addresses;
  }

  /** Metadata services are refused by their names, too: a proxy may be the one that looks a name up. */
  #refuseName(target: NetworkTarget): ToolError | undefined {
    const { hostname, port } = target;
    if (!isMetadataName(hostname) || this.#allowed.names(hostname, port)) return undefined;
    return refuseMetadata(`"${hostname}" has`, formatTarget(target));
  }

  #refuse(target: NetworkTarget, address: string, subject: string): ToolError | undefined {
    const { allows, allowPrivate } = this.#rules;
    if (allows?.(address) === true) return undefined;
    const { hostname, port } = target;
    const metadata = findMetadataAddress(address, this.#ip);
    if (metadata !== undefined) {
      const isNamed =
        this.#allowed.names(metadata, port) ||
        (isMetadataName(hostname) && this.#allowed.names(hostname, port));
      if (isNamed) return undefined;
      const isLiteral = isIP(withoutBrackets(hostname)) !== 0;
      return refuseMetadata(subject, isLiteral ? formatTarget({ hostname: metadata, port }) : undefined);
    }
    if (allowPrivate === true || isPublic(address, this.#ip) || this.#allowed.includes(target, address))
      return undefined;
    return ToolError.nonRetryable(
      `${subject} a private or reserved address, which tools may not reach: add ${formatTarget(target)} to ${SETTING} to allow it`,
    );
  }
}

/** @param entry allows it; undefined when it would show an address */
function refuseMetadata(subject: string, entry: string | undefined): ToolError {
  const advice = entry === undefined ? 'the address itself' : entry;
  return ToolError.nonRetryable(
    `${subject} the address of a metadata service, which gives away the credentials of a machine in a cloud: ` +
      `nothing allows it but the entry of ${advice} in ${SETTING}`,
  );
}

async function resolveWithSystem(hostname: string): Promise<LookupAddress[]> {
  const { lookup } = await import('node:dns/promises');
  return await lookup(hostname, { all: true });
}
