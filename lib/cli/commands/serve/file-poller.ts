import { stat } from 'node:fs/promises';
import type { Clock } from '../../../common/clock.js';

/** Milliseconds between two looks at the files; and after one that has found a change, which must not go on. */
export const WATCH_MS = { poll: 2000, settle: 300 } as const;

/** Returns a text that changes with the content of a file; the same text as long as there is none. */
export type InspectFile = (path: string) => Promise<string>;

/**
 * Watches files that may be replaced at any time. It looks at them every 2 seconds and follows symbolic links, because
 * events of the system get lost when an editor renames a new file into place, when Kubernetes swaps a link, and on file
 * systems of a network. A change counts when it is the same at two looks, so no half-written file is read.
 */
export class FilePoller {
  readonly #files: () => Iterable<string>;
  readonly #onChange: (files: ReadonlySet<string>) => Promise<void>;
  readonly #clock: Clock;
  readonly #inspect: InspectFile;
  /** The signatures of the files when they were read last. */
  #known: ReadonlyMap<string, string> = new Map();
  /** The changed signatures that the last look has found, until another look confirms them. */
  #unsettled: ReadonlyMap<string, string> = new Map();
  #timer: unknown;
  #isClosed = false;

  /**
   * @param files absolute paths; they may be other ones after a change
   * @param onChange receives the files that have changed. Resolves when they were read
   */
  constructor(
    files: () => Iterable<string>,
    onChange: (files: ReadonlySet<string>) => Promise<void>,
    clock: Clock,
    inspect: InspectFile = inspectFile,
  ) {
    this.#files = files;
    this.#onChange = onChange;
    this.#clock = clock;
    this.#inspect = inspect;
  }

  /**
   * Begins to look for changes.
   *
   * @param seen what {@link inspectFiles} has found before the files were read
   */
  async start(seen: ReadonlyMap<string, string>): Promise<void> {
    const found = await this.#look();
    this.#known = new Map([...found, ...seen]);
    this.#schedule(WATCH_MS.poll);
  }

  /** Takes the files as they are for known. Call it before they are read: a later change is then found. */
  async accept(): Promise<void> {
    this.#known = await this.#look();
    this.#unsettled = new Map();
  }

  close(): void {
    this.#isClosed = true;
    this.#clock.clearTimeout(this.#timer);
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed) return;
    this.#timer = this.#clock.setTimeout(() => void this.check(), delayMs);
  }

  /** Looks at the files, as it does by itself. Resolves when what has changed was read. */
  async check(): Promise<void> {
    this.#clock.clearTimeout(this.#timer);
    const found = await this.#look();
    if (this.#isClosed) return;
    const changed = [...found].filter(([file, signature]) => this.#known.get(file) !== signature);
    const settled = changed.filter(([file, signature]) => this.#unsettled.get(file) === signature);
    this.#known = new Map([...this.#known, ...settled]);
    this.#unsettled = new Map(changed.filter((change) => !settled.includes(change)));
    if (settled.length > 0) await this.#onChange(new Set(settled.map(([file]) => file)));
    this.#schedule(this.#unsettled.size > 0 ? WATCH_MS.settle : WATCH_MS.poll);
  }

  async #look(): Promise<ReadonlyMap<string, string>> {
    return inspectFiles(this.#files(), this.#inspect);
  }
}

/** Looks at files, before they are read. */
export async function inspectFiles(
  files: Iterable<string>,
  inspect: InspectFile = inspectFile,
): Promise<ReadonlyMap<string, string>> {
  const looks = [...new Set(files)].map(async (file) => [file, await inspect(file)] as const);
  return new Map(await Promise.all(looks));
}

async function inspectFile(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch {
    // Whoever reads the file says why it cannot be read.
    return 'none';
  }
}
