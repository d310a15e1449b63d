import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type Zlib from 'node:zlib';
import type Database from 'libsql';
import type { StoredSubmission } from '../../run-store.js';
import { cutParts, type TextBeginning } from '../part-items.js';
import { hasPieces, readPieces } from './pieces.js';
import { recount } from './retention/usage.js';
import { PARTS_PER_RUN } from './schema.js';
import { inTransaction, prepare, selectAll, selectOne } from './statements.js';

/** So much is read with one commit: others wait for it. */
const SLICE_BYTES = 1024 * 1024;

/** The first byte of packed data names how it was packed. */
const BROTLI = 1;

let loaded: typeof Zlib | undefined;

/** Loads the module when something is packed or unpacked: a run of the shell, which does neither, is not to wait for it. */
function loadZlib(): typeof Zlib {
  return (loaded ??= createRequire(import.meta.url)('node:zlib') as typeof Zlib);
}

export function pack(text: string): Buffer {
  const { brotliCompressSync, constants } = loadZlib();
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 };
  return Buffer.concat([Buffer.from([BROTLI]), brotliCompressSync(Buffer.from(text), { params })]);
}

/** @throws Error for data that a newer version has packed */
export function unpack(packed: ArrayBuffer): string {
  const data = new Uint8Array(packed);
  if (data[0] !== BROTLI) throw new Error(`packed data of kind ${data[0]}: a newer Wavetrain has written it`);
  return loadZlib().brotliDecompressSync(data.subarray(1)).toString('utf8');
}

/**
 * Packs the pieces of settled runs with one commit: the definition apart, which many runs share, and the rest in parts.
 * Returns the number of runs, or of slices of them: 0 when every settled run is packed.
 *
 * @param hasTime is asked after each run
 */
export function packRuns(database: Database.Database, hasTime: () => boolean): number {
  let packed = 0;
  if (findUnpacked(database) === undefined) return packed;
  inTransaction(database, () => {
    do {
      const number = findUnpacked(database);
      if (number === undefined) return;
      packSlice(database, number);
      packed++;
    } while (hasTime());
  });
  return packed;
}

function findUnpacked(database: Database.Database): number | undefined {
  const sql = 'SELECT number FROM run INDEXED BY run_unpacked WHERE state > 0 AND is_packed = 0 LIMIT 1';
  return selectOne<{ number: number }>(database, sql)?.number;
}

function packSlice(database: Database.Database, run: number): void {
  const { texts, last } = readPieces(database, run, 0, SLICE_BYTES, true);
  if (last !== undefined) {
    const part = countParts(database, run);
    const [first = '', ...others] = texts;
    // A definition is kept apart unless the submission is longer than a piece.
    const isSubmission = part === 0 && first.endsWith('\n');
    const rest = isSubmission ? takeDefinition(database, run, first) : first;
    addParts(database, run, part, [rest, ...others]);
    prepare(database, 'DELETE FROM piece WHERE run = ? AND n <= ?').run(run, last);
  }
  if (hasPieces(database, run)) return;
  recount(database, run);
  prepare(database, 'UPDATE run SET is_packed = 1 WHERE number = ?').run(run);
}

/** The numbers of the parts of a run: the first one that there may be, and the one after the last. */
export function rangeOfParts(run: number): readonly [first: number, end: number] {
  return [run * PARTS_PER_RUN, (run + 1) * PARTS_PER_RUN];
}

export function countParts(database: Database.Database, run: number): number {
  const sql = 'SELECT count(*) AS parts FROM packed WHERE n >= ? AND n < ?';
  return selectOne<{ parts: number }>(database, sql, ...rangeOfParts(run))?.parts ?? 0;
}

function addParts(database: Database.Database, run: number, from: number, texts: readonly string[]): void {
  const add = prepare(database, 'INSERT INTO packed (n, items, data) VALUES (?, ?, ?)');
  for (const [index, { text, items }] of cutParts(texts, beginningOf(database, run, from)).entries()) {
    add.run(run * PARTS_PER_RUN + from + index, items, pack(text));
  }
}

/** Says with what the texts begin that follow the first `parts` of a run. */
function beginningOf(database: Database.Database, run: number, parts: number): TextBeginning {
  if (parts === 0) return 'submission';
  return readPart(database, run, parts - 1).endsWith('\n') ? 'facts' : 'rest';
}

export function readPart(database: Database.Database, run: number, part: number): string {
  const sql = 'SELECT data FROM packed WHERE n = ?';
  const row = selectOne<{ data: ArrayBuffer }>(database, sql, run * PARTS_PER_RUN + part);
  return row === undefined ? '' : unpack(row.data);
}

/** The items that each part is about, in order. @param from the number of the first part */
export function listPartItems(
  database: Database.Database,
  run: number,
  from: number,
): readonly { readonly part: number; readonly items: string | null }[] {
  const [first, end] = rangeOfParts(run);
  const sql = 'SELECT n - ? AS part, items FROM packed WHERE n >= ? AND n < ? ORDER BY n';
  return selectAll(database, sql, first, first + from, end);
}

/** Returns true when a reader who looks at few items of a run may leave out some of its parts. */
export function hasItemParts(database: Database.Database, run: number): boolean {
  const sql = 'SELECT 1 FROM packed WHERE n >= ? AND n < ? AND items IS NOT NULL LIMIT 1';
  return selectOne(database, sql, ...rangeOfParts(run)) !== undefined;
}

/** The parts of a submission that all runs of a definition share. */
type SharedPart = Pick<StoredSubmission, 'definition' | 'pipelines' | 'submitted_text'>;

/** Keeps the definition of a submission once for all runs that have it. Returns the rest of the submission. */
function takeDefinition(database: Database.Database, run: number, submission: string): string {
  const { definition, pipelines, submitted_text, ...rest } = JSON.parse(submission) as StoredSubmission;
  const shared: SharedPart = {
    definition,
    ...(pipelines && { pipelines }),
    ...(submitted_text !== undefined && { submitted_text }),
  };
  const text = JSON.stringify(shared);
  const hash = createHash('sha256').update(text).digest();
  const known = selectOne<{ n: number }>(database, 'SELECT n FROM definition WHERE hash = ?', hash)?.n;
  const definitionNumber = known ?? addDefinition(database, hash, pack(text));
  prepare(database, 'UPDATE run SET definition = ? WHERE number = ?').run(definitionNumber, run);
  return `${JSON.stringify(rest)}\n`;
}

function addDefinition(database: Database.Database, hash: Buffer, data: Buffer): number {
  const add = prepare(database, 'INSERT INTO definition (hash, data) VALUES (?, ?)');
  return Number(add.run(hash, data).lastInsertRowid);
}

/** The definition that was kept apart, as JSON; undefined when it is in the submission. */
export function readSharedDefinition(database: Database.Database, run: number): string | undefined {
  const sql = 'SELECT data FROM definition WHERE n = (SELECT definition FROM run WHERE number = ?)';
  const data = selectOne<{ data: ArrayBuffer }>(database, sql, run)?.data;
  return data && unpack(data);
}
