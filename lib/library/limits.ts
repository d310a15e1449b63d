/** The limits of a server's folder of pipelines (D69). */
export const LIBRARY_LIMITS = {
  depth: 5,
  /** Maximum number of files and folders in the folder, of any kind. */
  entries: 10_000,
  files: 1000,
  /** Maximum length of one file, in bytes, when requests may be so long too. */
  fileBytes: 2 ** 20,
  /** Maximum length of a plan with the files that it names, in bytes: a change of one of them reads all of them again. */
  planBytes: 4 * 2 ** 20,
  /**
   * Maximum length of all definitions together beyond the shares of their tenants, in bytes, and as much for all shares; of
   * those of one tenant; and the share of a tenant, which others cannot use up. They and their texts stay in memory: a plan
   * counts with the files that it names, and a file with errors at least as much as its last version without any.
   */
  bytes: 16 * 2 ** 20,
  tenantBytes: 8 * 2 ** 20,
  tenantShareBytes: 2 ** 20,
  /** Maximum number of files of one tenant to which its editors can add; and its share, of half of all files. */
  tenantFiles: 250,
  tenantShareFiles: 20,
  /** Problems of one file that are kept, and shown. */
  problems: 100,
  /** Saves of one tenant at once: more are refused. */
  tenantSaves: 4,
  /** Files of one tenant that are read and checked at once. */
  concurrency: 4,
  /** Maximum length of all values that a webhook takes from a body, each counted as often as it is taken, in characters. */
  webhookValues: 2 ** 20,
  /** Milliseconds between two looks at the folder; and after one that has found a change, which must not go on. */
  pollMs: 2000,
  settleMs: 300,
} as const;
