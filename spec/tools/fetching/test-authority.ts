import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { TemporaryFolder } from '../../support/temporary-folder.js';

/** A certificate and its key as PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** An authority for certificates, with openssl. */
export class TestAuthority {
  readonly #folder: TemporaryFolder;
  readonly file: string;
  readonly cert: string;

  constructor(folder: TemporaryFolder) {
    this.#folder = folder;
    this.file = folder.at('authority.pem');
    openssl(
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=authority',
      '-out',
      this.file,
      '-keyout',
      folder.at('authority.key'),
    );
    this.cert = readFileSync(this.file, 'utf8');
  }

  static get isMissing(): boolean {
    try {
      openssl('version');
      return false;
    } catch {
      return true;
    }
  }

  /** Signs a certificate for a host, or a client. */
  sign(name: string): Pair {
    const at = (end: string): string => this.#folder.at(`${name}.${end}`);
    const extensions = this.#folder.write(`${name}.ext`, `subjectAltName=DNS:${name}`);
    openssl(
      'req',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-subj',
      `/CN=${name}`,
      '-out',
      at('csr'),
      '-keyout',
      at('key'),
    );
    openssl(
      'x509',
      '-req',
      '-in',
      at('csr'),
      '-CA',
      this.file,
      '-CAkey',
      this.#folder.at('authority.key'),
      '-CAcreateserial',
      '-days',
      '2',
      '-extfile',
      extensions,
      '-out',
      at('pem'),
    );
    return { cert: readFileSync(at('pem'), 'utf8'), key: readFileSync(at('key'), 'utf8') };
  }
}

function openssl(...words: string[]): void {
  execFileSync('openssl', words, { stdio: 'ignore' });
}
