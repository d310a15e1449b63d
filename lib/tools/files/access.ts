/** Reads files of the allowed folders (D51) and objects of stores (D92). */
export interface FileAccess {
  /**
   * Reads a file; looks up a relative path in each root in turn. In the context of a tool, also an object `s3://bucket/key`. Rejects
   * with a ToolError when it cannot.
   *
   * @param connection that has the bucket of an object
   */
  read(path: string, connection?: string): Promise<{ readonly path: string; readonly bytes: Buffer }>;
  /** Lists, streams and writes files; undefined when a host reads files in its own way. */
  readonly folders?: FolderAccess | undefined;
  /** The access of one tenant; undefined when it is the same for all. */
  forTenant?(tenantId: string): FileAccess;
}

/** Lists, streams and writes the files of folders (D92). All reject with a ToolError when they cannot. */
export interface FolderAccess {
  /** Opens a file of any size for reading. */
  open(path: string): Promise<FileStream>;
  /** Finds the real path of a file, without reading it. @param mayCreate accepts a file that is not there yet */
  locate(path: string, mayCreate: boolean): Promise<string>;
  /** Lists what is in a folder, in the order of names; links are left out. */
  list(path: string, isDeep: boolean): Promise<AsyncIterable<ListedEntry>>;
  /** Writes a file, which appears when all of it is there. Resolves with undefined when it should be new and is not. */
  write(path: string, pieces: AsyncIterable<Uint8Array>, isNew: boolean): Promise<PlacedFile | undefined>;
}

/** A file that is read piece by piece. */
export interface FileStream {
  readonly size: number;
  readonly modifiedMs: number;
  /** Iterate once; the file is closed at the end, and when the iteration ends before. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** A file or a folder in a folder. */
export interface ListedEntry {
  /** From the folder that is listed, with slashes. */
  readonly path: string;
  readonly isFolder: boolean;
  /** Resolves with undefined when it is gone. */
  measure(): Promise<{ readonly size: number; readonly modifiedMs: number } | undefined>;
}

export interface PlacedFile {
  /** For other tools, which find the file by it. */
  readonly path: string;
  readonly size: number;
}
