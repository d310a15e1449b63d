import { isIP } from 'node:net';

/** A host as a URL or a Host header names it. */
export interface Authority {
  /** In lower case, without a dot at its end; an address in its shortest form, without brackets. */
  readonly name: string;
  /** Empty when it is the usual one of the scheme. */
  readonly port: string;
}

// A URL would take the rest for a user, a path, a query or an escape.
const SHAPE = /^(?:\[[\da-f:.]+\]|[^\s/\\?#@:%[\]]+)(?::\d{1,5})?$/i;

/** Reads `name`, `name:port`, `1.2.3.4` or `[::1]:port`; undefined when it is none of these. */
export function readAuthority(text: string, scheme = 'http:'): Authority | undefined {
  if (!SHAPE.test(text) || !URL.canParse(`${scheme}//${text}/`)) return undefined;
  return authorityOf(new URL(`${scheme}//${text}/`));
}

export function authorityOf({ hostname, port }: URL): Authority {
  const name = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return { name: unmapped(name), port };
}

export function isAddress({ name }: Authority): boolean {
  return isIP(name) !== 0;
}

/** `::ffff:7f00:1` is 127.0.0.1, as IPv6 writes it. */
function unmapped(name: string): string {
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(name) ?? [];
  if (high === undefined || low === undefined) return name;
  return [high, low]
    .map((half) => Number.parseInt(half, 16))
    .flatMap((half) => [half >> 8, half & 0xff])
    .join('.');
}
