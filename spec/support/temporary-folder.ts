import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A temporary folder of a spec. */
export class TemporaryFolder {
  /** The real path, without symbolic links. */
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'wavetrain-spec-')));

  /** Writes a file, creates the folders above it, and returns its path. */
  write(name: string, content: string | Uint8Array): string {
    const path = this.at(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  at(name: string): string {
    return join(this.path, name);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Gives each spec of a suite a folder of its own, and removes the folder after the spec. */
export function useTemporaryFolder(): Omit<TemporaryFolder, 'remove'> {
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
  });
  afterEach(() => folder.remove());
  return {
    get path() {
      return folder.path;
    },
    write: (name, content) => folder.write(name, content),
    at: (name) => folder.at(name),
  };
}
