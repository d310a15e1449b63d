import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where the bytes go that the tools of one run return. Most return none: it is named and made when first needed. */
export class ArtifactFolder {
  readonly #names: readonly string[];
  #count = 0;

  /** @param names from the outermost folder on */
  constructor(...names: readonly string[]) {
    this.#names = names;
  }

  /** One below it. */
  within(name: string): ArtifactFolder {
    return new ArtifactFolder(...this.#names, name);
  }

  /** A path that no other call of this run gets. */
  next(taskId: string): string {
    const folder = join(...this.#names);
    if (this.#count === 0) mkdirSync(folder, { recursive: true });
    return join(folder, `${taskId}-${++this.#count}.bin`);
  }
}
