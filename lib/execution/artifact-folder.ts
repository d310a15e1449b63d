import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where the bytes go that the tools of one run return; made when first needed. */
export class ArtifactFolder {
  readonly #folder: string;
  #count = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A path that no other call of this run gets. */
  next(taskId: string): string {
    if (this.#count === 0) mkdirSync(this.#folder, { recursive: true });
    return join(this.#folder, `${taskId}-${++this.#count}.bin`);
  }
}
