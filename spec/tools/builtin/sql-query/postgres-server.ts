import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificate } from './certificate.js';
import { freePort, serverUser } from './server-process.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

const PASSWORD = 'sesame-98765';

/** A server of PostgreSQL for specs, on the loopback address. */
export interface PostgresServer {
  readonly port: number;
  /** The certificate, as PEM, that the server shows, which nobody but the server has signed. */
  readonly authority: string;
  readonly url: string;
  stop(): void;
}

/** Starts a server, as its own user where this process is root. Returns a sentence that says why it cannot. */
export async function startPostgres(): Promise<PostgresServer | string> {
  const programs = findPrograms();
  if (programs === undefined)
    return 'PostgreSQL is not installed: apt-get install postgresql, and these specs will run';
  const user = serverUser('postgres');
  if (typeof user === 'string') return user;
  const folder = new TemporaryFolder();
  const data = folder.at('data');
  mkdirSync(data);
  const passwordFile = folder.at('password');
  writeFileSync(passwordFile, PASSWORD);
  if (user !== undefined)
    for (const path of [folder.path, data, passwordFile]) chownSync(path, user.uid, user.gid);
  const run = (program: string, ...words: string[]): void =>
    void execFileSync(join(programs, program), words, { ...user, cwd: folder.path, stdio: 'ignore' });
  run(
    'initdb',
    '-D',
    data,
    '-U',
    'wave',
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--no-sync',
    '--locale=C',
    '-E',
    'UTF8',
  );
  const made = makeCertificate(folder, user);
  if (typeof made === 'string') return made;
  const port = await freePort();
  const tls = `-c ssl=on -c ssl_cert_file=${made.certificate} -c ssl_key_file=${made.key}`;
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder.path} -c fsync=off ${tls}`;
  run('pg_ctl', '-D', data, '-w', '-l', folder.at('log'), '-o', settings, 'start');
  return {
    port,
    authority: readFileSync(made.certificate, 'utf8'),
    url: `postgres://wave:${PASSWORD}@127.0.0.1:${port}/postgres`,
    stop: () => {
      run('pg_ctl', '-D', data, '-w', '-m', 'immediate', 'stop');
      folder.remove();
    },
  };
}

/** The folder of `initdb`, which Debian keeps beside the path. */
function findPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).map((version) => join(root, version, 'bin')) : [];
  const folders = [...versions, ...(process.env['PATH'] ?? '').split(':')];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'pg_ctl')));
}
