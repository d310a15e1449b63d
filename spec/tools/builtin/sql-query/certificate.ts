import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync } from 'node:fs';
import type { TemporaryFolder } from '../../../support/temporary-folder.js';
import type { SystemUser } from './server-process.js';

/** A certificate that nobody has signed, for a server on this machine. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** Makes a certificate with openssl. Returns a sentence that says why it cannot. */
export function makeCertificate(
  folder: TemporaryFolder,
  owner: SystemUser | undefined,
): Certificate | string {
  const [certificate, key] = [folder.at('server.crt'), folder.at('server.key')];
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  try {
    execFileSync('openssl', [...words, ...names, '-out', certificate, '-keyout', key], { stdio: 'ignore' });
  } catch {
    return 'openssl is not installed: apt-get install openssl, and these specs will run';
  }
  chmodSync(key, 0o600);
  if (owner !== undefined) for (const path of [certificate, key]) chownSync(path, owner.uid, owner.gid);
  return { certificate, key };
}
