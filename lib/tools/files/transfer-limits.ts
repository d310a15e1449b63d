/** The limits of tools that list, read, write and copy files (D92). */
export const TRANSFER_LIMITS = {
  /** The memory that a copy takes is two of these parts. A store takes at most 10,000 of one object. */
  partBytes: 8 * 2 ** 20,
  /** Bytes of an object that are asked for at once. */
  readBytes: 4 * 2 ** 20,
  /** Transfers at work in all runs; smaller ones do not count. Each tenant that has none may have one more, up to twice as many. */
  atOnce: 4,
  smallBytes: 2 ** 20,
  parts: 10_000,
  /** The largest file that is copied. */
  fileBytes: 64 * 2 ** 30,
  /** A larger object is copied within its store in the parts of a copy, because its store would not answer in time. */
  serverCopyBytes: 256 * 2 ** 20,
  /** Entries of a list; those that are looked at for it. */
  entries: 10_000,
  scannedEntries: 100_000,
  /** Entries in one answer of a store, which is read in one go; such answers for one list. */
  pageEntries: 500,
  pages: 1_000,
  answerBytes: 2 * 2 ** 20,
  patternLength: 100,
  pathLength: 4096,
  keyBytes: 1024,
  /** Time for one request of a transfer, for which nothing of an answer may arrive while its part is sent. */
  requestMs: 300_000,
  /** Repeats of a request that a store refuses for now; the wait before the first, which doubles. */
  retries: 4,
  retryMs: 500,
} as const;
