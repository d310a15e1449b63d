import { BlockList, isIP } from 'node:net';

/** The end of a connection: a name or an address, as a URL has it, and the port. */
export interface NetworkTarget {
  readonly hostname: string;
  readonly port: number;
}

/** The most entries of a list. */
const MAX_NETWORK_ENTRIES = 1000;

/** Stands for every address. */
const ALL = 'all';

/** One entry; each of its fields that is there narrows it. */
interface Entry {
  readonly port: number | undefined;
  readonly covers: (hostname: string, address: string | undefined) => boolean;
  /** The host or the one address that the entry names; undefined for a network, a pattern and `all`. */
  readonly name: string | undefined;
}

/** A list of networks, addresses and hosts, such as `10.2.0.0/16`, `[fd00::1]:8443`, `erp.internal:8443` or `*.corp.internal`. */
export class NetworkList {
  static readonly none = new NetworkList([]);
  readonly #entries: readonly Entry[];

  private constructor(entries: readonly Entry[]) {
    this.#entries = entries;
  }

  /** @throws Error with the end of a sentence that names the wrong entry */
  static parse(entries: readonly string[]): NetworkList {
    if (entries.length > MAX_NETWORK_ENTRIES)
      throw new Error(`must have at most ${MAX_NETWORK_ENTRIES} entries, not ${entries.length}`);
    return new NetworkList(entries.map((entry) => readEntry(entry.trim())));
  }

  /** @param address of the target; undefined when it is not known */
  includes({ hostname, port }: NetworkTarget, address?: string): boolean {
    const host = toHost(hostname);
    return this.#entries.some(
      (entry) => (entry.port === undefined || entry.port === port) && entry.covers(host, address),
    );
  }

  /** Returns true if an entry names exactly this host or address, not a network or a pattern around it. */
  names(name: string, port: number): boolean {
    const host = toHost(name);
    return this.#entries.some(
      (entry) => (entry.port === undefined || entry.port === port) && entry.name === host,
    );
  }
}

/** Splits a text at commas and blanks. */
export function splitNetworks(text: string): string[] {
  return text.split(/[,\s]+/).filter((entry) => entry !== '');
}

/** Formats a target as an entry that covers it alone. */
export function formatTarget({ hostname, port }: NetworkTarget): string {
  const host = toHost(hostname);
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** Returns the address of a host of a URL as sockets take it: `::1` for `[::1]`. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Returns the host and the port of a URL, where it has none that of its protocol. */
export function targetOf({
  protocol,
  hostname,
  port,
}: Pick<URL, 'protocol' | 'hostname' | 'port'>): NetworkTarget {
  return { hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

/** As entries have hosts: in lower case, without the brackets of an address and the point at the end of a name. */
function toHost(hostname: string): string {
  return hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '');
}

const EXAMPLE = '10.2.0.0/16, 10.2.3.4:8443, erp.internal, erp.internal:8443 or *.corp.internal';

function readEntry(text: string): Entry {
  if (text.toLowerCase() === ALL) return { port: undefined, covers: () => true, name: undefined };
  if (text.includes('://') && URL.canParse(text))
    throw wrongEntry(text, `write ${new URL(text).host} without the rest of the URL`);
  const [place, port] = splitPort(text);
  if (port !== undefined && (port < 1 || port > 65_535))
    throw wrongEntry(text, 'its port must be from 1 to 65535');
  const [address = '', bits] = place.split('/', 2);
  if (isIP(address) !== 0) return { port, ...readNetwork(text, address, bits) };
  if (place.includes('/')) throw wrongEntry(text, `write ${EXAMPLE}`);
  return { port, ...readHost(text, place) };
}

/** An address of IPv6 with a port has brackets; without them, all of it is the address. */
function splitPort(text: string): [place: string, port: number | undefined] {
  const [, bracketed, portOfBracketed] = /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(text) ?? [];
  if (bracketed !== undefined)
    return [bracketed, portOfBracketed === undefined ? undefined : Number(portOfBracketed)];
  const [, place, port] = /^([^:]+):(\d{1,5})$/.exec(text) ?? [];
  return place === undefined ? [text, undefined] : [place, Number(port)];
}

function readNetwork(text: string, address: string, bits: string | undefined): Omit<Entry, 'port'> {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  const most = family === 'ipv6' ? 128 : 32;
  if (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most))
    throw wrongEntry(text, `its prefix must be from 0 to ${most}`);
  const prefix = Number(bits ?? most);
  const block = new BlockList();
  block.addSubnet(address, prefix, family);
  return {
    covers: (_, one) => one !== undefined && isIn(block, one),
    name: nameOf(address, prefix === most),
  };
}

function nameOf(address: string, isWhole: boolean): string | undefined {
  if (!isWhole) return undefined;
  // A URL writes addresses in one way only.
  return isIP(address) === 6 ? toHost(new URL(`http://[${address}]`).hostname) : address;
}

function isIn(block: BlockList, address: string): boolean {
  const [bare = ''] = address.split('%', 1);
  const family = isIP(bare);
  return family !== 0 && block.check(bare, family === 6 ? 'ipv6' : 'ipv4');
}

const HOST = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

function readHost(text: string, place: string): Omit<Entry, 'port'> {
  const pattern = place.replace(/^\*?\./, '');
  const url = `http://${pattern}`;
  const host = /^[^\s/?#@\\:]+$/.test(pattern) && URL.canParse(url) ? toHost(new URL(url).hostname) : '';
  if (!HOST.test(host)) throw wrongEntry(text, `write ${EXAMPLE}`);
  if (isIP(host) !== 0) throw wrongEntry(text, `write the address as ${host}`);
  if (pattern === place) return { covers: (hostname) => hostname === host, name: host };
  const end = `.${host}`;
  return { covers: (hostname) => hostname.endsWith(end), name: undefined };
}

function wrongEntry(text: string, advice: string): Error {
  const shown = JSON.stringify(text.slice(0, 100));
  return new Error(`must list networks, addresses and hosts: ${shown} is none; ${advice}`);
}
