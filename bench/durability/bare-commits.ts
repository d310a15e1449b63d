import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/** One row and its commit, in a thread of its own as well: what the disk and the way to it need at least. */
const COMMITS = `
  const { parentPort, workerData } = require('node:worker_threads');
  const database = new (require(workerData.driver))(workerData.file);
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec('CREATE TABLE fact (n INTEGER PRIMARY KEY, body TEXT)');
  const insert = database.prepare('INSERT INTO fact (body) VALUES (?)');
  parentPort.on('message', (body) => {
    insert.run(body);
    parentPort.postMessage('kept');
  });
`;

/** The floor of what a store keeps. */
export class BareCommits {
  readonly #worker: Worker;

  constructor(file: string) {
    const driver = createRequire(import.meta.url).resolve('libsql');
    this.#worker = new Worker(COMMITS, { eval: true, workerData: { driver, file } });
  }

  async commit(): Promise<void> {
    this.#worker.postMessage('x'.repeat(500));
    await once(this.#worker, 'message');
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
