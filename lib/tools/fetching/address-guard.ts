import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { errorMessage, ToolError } from '../../common/errors.js';

/** Finds the addresses of a name, as `lookup` of `node:dns/promises` does. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** The addresses that tools may reach (D51). */
export interface AddressRules {
  /** Allows every address. Default: false. */
  readonly allowPrivate?: boolean | undefined;
  /** Allows single addresses that are not public, such as those of a server in a spec. */
  readonly allows?: ((address: string) => boolean) | undefined;
  /** Default: the resolver of the system. */
  readonly resolve?: Resolve | undefined;
}

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

type IpParser = Pick<typeof import('ipaddr.js'), 'parse'>;

const HOW_TO_ALLOW = 'set SERVICE_ALLOW_PRIVATE_NETWORK=true for the process to allow it';

/**
 * Refuses addresses that are not public when a connection is made (D51): those of the machine, its network and its cloud,
 * and those that lead to them. The address that was checked is the one that is connected to, so that a name whose answer
 * changes gains nothing. A name is refused when any of its addresses is.
 */
export class AddressGuard {
  readonly #rules: AddressRules;
  readonly #ip: IpParser;

  /** @param ip the parser of addresses, `ipaddr.js` */
  constructor(rules: AddressRules, ip: IpParser) {
    this.#rules = rules;
    this.#ip = ip;
  }

  /** Why a host may not be connected to that is an address itself; undefined for a name, and for what is allowed. */
  refuseLiteral(hostname: string): ToolError | undefined {
    const address = hostname.replace(/^\[|\]$/g, '');
    return isIP(address) === 0 || this.#isAllowed(address) ? undefined : refusal(`${address} is`);
  }

  /** Why a connection may not be used; undefined when it may. */
  refuseConnected(address: string | undefined): ToolError | undefined {
    return address === undefined || this.#isAllowed(address) ? undefined : refusal('the server has');
  }

  /** The lookup of a socket: finds the addresses of a name, and fails when one of them is refused. */
  readonly lookup = (hostname: string, options: LookupOptions, callback: LookupCallback): void => {
    void this.#answer(hostname, options, callback);
  };

  async #answer(hostname: string, { all }: LookupOptions, callback: LookupCallback): Promise<void> {
    let addresses: LookupAddress[];
    try {
      addresses = await this.#resolveAllowed(hostname);
    } catch (error) {
      return callback(error instanceof Error ? error : new ToolError(errorMessage(error)), []);
    }
    const [first] = addresses;
    if (first === undefined || all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  }

  async #resolveAllowed(hostname: string): Promise<LookupAddress[]> {
    const addresses = [...(await (this.#rules.resolve ?? resolveWithSystem)(hostname))];
    if (addresses.length === 0) throw new ToolError(`the name "${hostname}" has no address`);
    // The message keeps the address to itself: it would show callers the names and addresses of a private network.
    if (!addresses.every(({ address }) => this.#isAllowed(address))) throw refusal(`"${hostname}" has`);
    return addresses;
  }

  #isAllowed(address: string): boolean {
    if (this.#rules.allowPrivate === true || this.#rules.allows?.(address) === true) return true;
    return isPublic(address, this.#ip);
  }
}

function refusal(subject: string): ToolError {
  return ToolError.nonRetryable(
    `${subject} a private or reserved address, which tools may not reach: ${HOW_TO_ALLOW}`,
  );
}

async function resolveWithSystem(hostname: string): Promise<LookupAddress[]> {
  const { lookup } = await import('node:dns/promises');
  return await lookup(hostname, { all: true });
}

/** The only block from which public IPv6 addresses are given: others are local, or translate into IPv4. */
const GLOBAL_UNICAST = { parts: [0x2000], bits: 3 } as const;

/** A public address at which Azure has a service of each machine. */
const AZURE_HOST = '168.63.129.16';

/** Returns true if everybody on the internet reaches the same machine at this address. */
function isPublic(text: string, ip: IpParser): boolean {
  let address: ReturnType<IpParser['parse']>;
  try {
    address = ip.parse(text);
  } catch {
    return false;
  }
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return address.toString() !== AZURE_HOST;
  const [firstPart = 0] = 'parts' in address ? address.parts : [];
  return firstPart >>> (16 - GLOBAL_UNICAST.bits) === GLOBAL_UNICAST.parts[0] >>> (16 - GLOBAL_UNICAST.bits);
}
