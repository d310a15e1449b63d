import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import type { PostgresServer } from './postgres-server.js';
import { makeCertificate } from './certificate.js';
import { freePort, serverUser } from './server-process.js';

const PASSWORD = 'sesame-98765';
const PROGRAMS = ['/usr/sbin/mariadbd', '/usr/sbin/mysqld'];
const STARTS = 300;

/** Starts a server of MariaDB, as `startPostgres` does. */
export async function startMariadb(): Promise<PostgresServer | string> {
  const program = PROGRAMS.find((path) => existsSync(path));
  if (program === undefined)
    return 'MariaDB is not installed: apt-get install mariadb-server, and these specs will run';
  const user = serverUser('mysql');
  if (typeof user === 'string') return user;
  const folder = new TemporaryFolder();
  const data = folder.at('data');
  mkdirSync(data);
  const setup = folder.at('setup.sql');
  writeFileSync(
    setup,
    `CREATE DATABASE shop;\nCREATE USER wave@localhost IDENTIFIED BY '${PASSWORD}';\nGRANT ALL ON *.* TO wave@localhost;\n`,
  );
  if (user !== undefined) for (const path of [folder.path, data, setup]) chownSync(path, user.uid, user.gid);
  const options = { ...user, cwd: folder.path };
  execFileSync(
    'mariadb-install-db',
    [`--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
    {
      ...options,
      stdio: 'ignore',
    },
  );
  const made = makeCertificate(folder, user);
  if (typeof made === 'string') return made;
  const port = await freePort();
  const words = [
    '--no-defaults',
    `--datadir=${data}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${folder.at('socket')}`,
    `--pid-file=${folder.at('pid')}`,
    `--init-file=${setup}`,
    '--innodb-flush-log-at-trx-commit=0',
    `--ssl-cert=${made.certificate}`,
    `--ssl-key=${made.key}`,
  ];
  const server = spawn(program, words, { ...options, stdio: 'ignore' });
  await untilListening(port);
  return {
    port,
    authority: readFileSync(made.certificate, 'utf8'),
    url: `mysql://wave:${PASSWORD}@127.0.0.1:${port}/shop`,
    stop: () => {
      server.kill('SIGKILL');
      folder.remove();
    },
  };
}

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < STARTS; attempt++) {
    const isListening = await new Promise<boolean>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('close', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isListening) return;
    await sleep(100);
  }
  throw new Error('MariaDB did not start');
}
