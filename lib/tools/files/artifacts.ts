import type { FileStream } from './access.js';

/** Writes files for whoever reads the run (D63). They appear when the attempt succeeds; a failed one leaves none. */
export interface ToolArtifacts {
  /**
   * Writes a file of the run. Rejects with a ToolError when the name cannot be that of a file, the file or the run is
   * too large, the run has too many files, or the attempt is over.
   */
  write(file: ArtifactContent): Promise<WrittenArtifact>;
  /** Opens a file of a task that has succeeded. Rejects with a ToolError when the run has none of this name. */
  open(name: string): Promise<OpenedArtifact>;
}

/** A file of the run that is read piece by piece. */
export type OpenedArtifact = Pick<FileStream, 'size' | 'pieces'> & { readonly media_type: string };

/** A file for a tool to write. */
export interface ArtifactContent {
  /** A file name without folders, such as `report.xlsx`. */
  readonly name: string;
  /**
   * A text is written as UTF-8. A file of more than 64 MiB comes piece by piece, each of which is asked for when the one before was
   * written; it takes disk instead of memory (D92).
   */
  readonly bytes: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** A media type such as `text/csv`. */
  readonly media_type: string;
}

/** A file that a tool has written. */
export interface WrittenArtifact {
  /** Unique in the run: `report-2.xlsx` when the run has a `report.xlsx` already. */
  readonly name: string;
  /** Where the file is when the attempt has succeeded. */
  readonly path: string;
  readonly media_type: string;
  /** In bytes. */
  readonly size: number;
}
