import { invalidVariable } from '../errors.js';
import type { Environment, EnvironmentVariable } from './environment.js';

/** The variable with the address at which people reach the pages of a server. */
export const PUBLIC_URL_VARIABLE: EnvironmentVariable = {
  name: 'SERVICE_PUBLIC_URL',
  description:
    'address at which people reach the pages, as in https://jobs.example.com; default its own address',
  secret: false,
};

/**
 * Reads the address without a slash at its end, for links to pages of runs (D80); undefined when none is set.
 *
 * @throws WavetrainError `bad_usage` with the variable and an example
 */
export function readPublicUrl(env: Environment): string | undefined {
  const { name } = PUBLIC_URL_VARIABLE;
  const text = (env[name] ?? '').trim();
  if (text === '') return undefined;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isAddress = url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
  if (!isAddress || url.search !== '' || url.hash !== '' || url.username !== '')
    throw invalidVariable(
      name,
      `is "${text}": write the address of a server, as in ${name}=https://jobs.example.com`,
    );
  return url.href.replace(/\/+$/, '');
}
