/** The part of `ipaddr.js` that reads addresses. */
export type IpParser = Pick<typeof import('ipaddr.js'), 'parse'>;

type Address = ReturnType<IpParser['parse']>;

/** The only block from which public IPv6 addresses are given: others are local, or translate into IPv4. */
const GLOBAL_UNICAST = { parts: [0x2000], bits: 3 } as const;

/** Returns true if everybody on the internet reaches the same machine at this address. */
export function isPublic(text: string, ip: IpParser): boolean {
  const address = parse(text, ip);
  if (address?.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return true;
  const [firstPart = 0] = 'parts' in address ? address.parts : [];
  return firstPart >>> (16 - GLOBAL_UNICAST.bits) === GLOBAL_UNICAST.parts[0] >>> (16 - GLOBAL_UNICAST.bits);
}

/** The addresses at which a machine in a cloud reads about itself, and gets credentials. Some are public ones. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set([
  // Amazon, Google, Azure, Oracle, DigitalOcean, OpenStack and others.
  '169.254.169.254',
  'fd00:ec2::254',
  'fd20:ce::254',
  // Credentials of the containers of Amazon.
  '169.254.170.2',
  '169.254.170.23',
  'fd00:ec2::23',
  // Alibaba, Azure, Tencent, Oracle, Scaleway.
  '100.100.100.200',
  '168.63.129.16',
  '169.254.0.23',
  '192.0.0.192',
  '169.254.42.42',
  'fd00:42::42',
]);

const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.tencentyun.com',
]);

/** Returns true for a name of a metadata service, in any case, also with a point at its end. */
export function isMetadataName(hostname: string): boolean {
  return METADATA_NAMES.has(hostname.toLowerCase().replace(/\.$/, ''));
}

/** Returns the address of the metadata service to which an address leads; undefined when it leads to none. */
export function findMetadataAddress(text: string, ip: IpParser): string | undefined {
  const address = parse(text, ip);
  if (address === undefined) return undefined;
  const target = embeddedIpv4(address) ?? address.toString();
  return METADATA_ADDRESSES.has(target) ? target : undefined;
}

/** The address of IPv4 into which one of IPv6 translates: mapped, compatible, of NAT64 and of 6to4. */
function embeddedIpv4(address: Address): string | undefined {
  if (!('parts' in address)) return undefined;
  const { parts } = address;
  const [first = 0, second = 0, third = 0] = parts;
  if (first === 0x2002) return toIpv4(second, third);
  const [high = 0, low = 0] = parts.slice(6);
  const isNat64 = first === 0x64 && second === 0xff9b;
  const isMapped = parts.slice(0, 5).every((part) => part === 0);
  return isNat64 || isMapped ? toIpv4(high, low) : undefined;
}

function toIpv4(high: number, low: number): string {
  return [high >>> 8, high & 0xff, low >>> 8, low & 0xff].join('.');
}

function parse(text: string, ip: IpParser): Address | undefined {
  try {
    return ip.parse(text);
  } catch {
    return undefined;
  }
}
