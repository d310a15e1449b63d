import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { errorMessage, invalidVariable } from '../errors.js';
import { splitNetworks } from '../requests/network-list.js';
import { Outbound } from '../requests/outbound.js';
import { type Environment, type EnvironmentVariable, secretVariable, variable } from './environment.js';

const EXAMPLE = 'http://proxy.example:3128';
const CA_FILE = 'SERVICE_CA_FILE';

/** The variables of proxies and certificates, in the order in which `doctor` lists them. */
export const OUTBOUND_VARIABLES: readonly EnvironmentVariable[] = [
  // Their addresses may have passwords.
  secretVariable('HTTP_PROXY', 'proxy of requests with http, as in http://proxy:3128'),
  secretVariable('HTTPS_PROXY', 'proxy of requests with https'),
  variable(
    'NO_PROXY',
    'hosts, addresses and networks that are reached without a proxy, separated by commas; * for all',
  ),
  secretVariable('SERVICE_HTTP_PROXY', 'takes the place of HTTP_PROXY'),
  secretVariable('SERVICE_HTTPS_PROXY', 'takes the place of HTTPS_PROXY'),
  variable('SERVICE_NO_PROXY', 'takes the place of NO_PROXY'),
  variable(CA_FILE, 'PEM file with certificates of authorities that are trusted beside the built-in ones'),
];

/**
 * Reads the proxies and the certificates of requests; undefined when nothing is configured.
 *
 * @throws WavetrainError `bad_usage` with the variable and an example
 */
export function readOutbound(env: Environment): Outbound | undefined {
  const httpProxy = readProxy(env, 'HTTP_PROXY');
  const httpsProxy = readProxy(env, 'HTTPS_PROXY');
  const authorities = readAuthorities(env[CA_FILE]?.trim() ?? '', env['NODE_EXTRA_CA_CERTS'] ?? '');
  if (httpProxy === undefined && httpsProxy === undefined && authorities.length === 0) return undefined;
  const noProxy = splitNetworks(find(env, 'NO_PROXY')?.value ?? '');
  return new Outbound({ httpProxy, httpsProxy, noProxy, authorities });
}

interface Setting {
  readonly name: string;
  readonly value: string;
}

/** The variable of this name that counts: that of the service, and of the others the lower case. */
function find(env: Environment, name: string): Setting | undefined {
  const names = [`SERVICE_${name}`, `service_${name.toLowerCase()}`, name.toLowerCase(), name];
  for (const each of names) {
    const value = env[each]?.trim() ?? '';
    if (value !== '') return { name: each, value };
  }
  return undefined;
}

function readProxy(env: Environment, variable: string): URL | undefined {
  const found = find(env, variable);
  if (found === undefined) return undefined;
  const { name, value } = found;
  const text = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  // The value may have a password.
  throw invalidVariable(name, `must be the address of a proxy that speaks HTTP, as in ${name}=${EXAMPLE}`);
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function readAuthorities(file: string, nodeFile: string): string[] {
  if (file === '') return [];
  let certificates: string[];
  try {
    certificates = readFileSync(file, 'utf8').match(CERTIFICATE) ?? [];
    for (const certificate of certificates) assertCertificate(certificate);
  } catch (cause) {
    throw invalidVariable(CA_FILE, `must be a file with certificates as PEM: ${errorMessage(cause)}`, cause);
  }
  if (certificates.length === 0)
    throw invalidVariable(CA_FILE, `must be a file with certificates as PEM: ${file} has none`);
  return [...certificates, ...readNodeAuthorities(nodeFile)];
}

/** The certificates that Node.js adds to the built-in ones. Drivers of databases, which take a list, would lose them. */
function readNodeAuthorities(file: string): string[] {
  try {
    return file === '' ? [] : (readFileSync(file, 'utf8').match(CERTIFICATE) ?? []);
  } catch {
    // Node.js has warned of the file at its start.
    return [];
  }
}

/** @throws Error as Node.js describes what is wrong with it */
function assertCertificate(pem: string): X509Certificate {
  return new X509Certificate(pem);
}
