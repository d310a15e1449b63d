import { inflateRawSync } from 'node:zlib';
import { DOCUMENT_LIMITS } from '../../common/limits.js';
import { formatMebibytes, formatNumber } from '../../common/text.js';
import { documentError } from '../documents/document.js';

/** A file in an archive, as the archive's directory describes it. */
interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly packedBytes: number;
  readonly bytes: number;
  /** Offset of the local header of the file. */
  readonly offset: number;
}

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const END_LENGTH = 22;
const ENTRY_LENGTH = 46;
const LOCAL_LENGTH = 30;
const MAX_COMMENT_LENGTH = 65_535;
const DEFLATED = 8;
/** A size or an offset of a larger archive, which has a directory of another kind. */
const ZIP64 = 0xffffffff;

/**
 * Checks an archive before a library unpacks it: how many files it has, how large they are together, and that each is as
 * large as its directory says, since a bomb may lie about that. Unpacks one file at a time, and never more than it says.
 *
 * @throws ToolError, not retryable
 */
export function assertSmallArchive(bytes: Buffer, source: string): void {
  const entries = listEntries(bytes);
  if (entries === undefined) throw documentError(source, 'is damaged: its ZIP directory cannot be read');
  const { zipEntries, unzippedBytes } = DOCUMENT_LIMITS;
  if (entries.length > zipEntries)
    throw documentError(
      source,
      `holds ${formatNumber(entries.length)} files, more than the limit of ${formatNumber(zipEntries)}`,
    );
  const total = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  if (total > unzippedBytes)
    throw documentError(
      source,
      `unpacks to ${formatMebibytes(total)}, more than the limit of ${formatMebibytes(unzippedBytes)}`,
    );
  for (const entry of entries) assertTrueSize(entry, bytes, source);
}

/** The names of the files in an archive; none when its directory cannot be read. */
export function listArchive(bytes: Buffer): string[] {
  return (listEntries(bytes) ?? []).map(({ name }) => name);
}

/** Reads the directory at the end of an archive; undefined when there is none that can be read. */
function listEntries(bytes: Buffer): ZipEntry[] | undefined {
  const end = findEnd(bytes);
  if (end === undefined) return undefined;
  const count = bytes.readUInt16LE(end + 10);
  const entries: ZipEntry[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let i = 0; i < count; i++) {
    if (at + ENTRY_LENGTH > bytes.length || bytes.readUInt32LE(at) !== ENTRY_SIGNATURE) return undefined;
    const nameLength = bytes.readUInt16LE(at + 28);
    const entry = {
      name: bytes.toString('utf8', at + ENTRY_LENGTH, at + ENTRY_LENGTH + nameLength),
      method: bytes.readUInt16LE(at + 10),
      packedBytes: bytes.readUInt32LE(at + 20),
      bytes: bytes.readUInt32LE(at + 24),
      offset: bytes.readUInt32LE(at + 42),
    };
    if ([entry.packedBytes, entry.bytes, entry.offset].includes(ZIP64)) return undefined;
    entries.push(entry);
    at += ENTRY_LENGTH + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

function findEnd(bytes: Buffer): number | undefined {
  const first = Math.max(0, bytes.length - END_LENGTH - MAX_COMMENT_LENGTH);
  for (let at = bytes.length - END_LENGTH; at >= first; at--)
    if (bytes.readUInt32LE(at) === END_SIGNATURE) return at;
  return undefined;
}

function assertTrueSize({ name, method, ...entry }: ZipEntry, bytes: Buffer, source: string): void {
  if (method !== DEFLATED) return;
  if (entry.offset + LOCAL_LENGTH > bytes.length)
    throw documentError(source, `is damaged: "${name}" in it is missing`);
  const extra = bytes.readUInt16LE(entry.offset + 26) + bytes.readUInt16LE(entry.offset + 28);
  const start = entry.offset + LOCAL_LENGTH + extra;
  try {
    inflateRawSync(bytes.subarray(start, start + entry.packedBytes), {
      maxOutputLength: Math.max(entry.bytes, 1),
    });
  } catch (cause) {
    throw documentError(
      source,
      `is damaged: "${name}" in it cannot be unpacked, or is larger than it says`,
      cause,
    );
  }
}
