import { type Clock, toIsoTime } from '../../../common/clock.js';
import { errorMessage } from '../../../common/errors.js';
import type { Environment } from '../../../common/config/environment.js';
import type { Log } from '../../../http/logging/log.js';
import type {
  Reload,
  ReloadCause,
  ReloadChange,
  ReloadListener,
  ServerReload,
} from '../../../http/reload.js';
import { FilePoller, type InspectFile } from './file-poller.js';

/** One kind of configuration that a server reads again: keys, secrets, tools, settings. */
export interface ReloadedPart {
  readonly kind: ReloadChange['kind'];
  /** Absolute paths of the files whose change has the part read again. */
  readonly files: () => readonly string[];
  /**
   * Reads the part, and changes nothing yet. Rejects with the reason.
   *
   * @param env the variables as they will be
   */
  readonly read: (env: Environment) => Promise<ReadPart>;
}

/** A part that was read, and is not used yet. */
export interface ReadPart {
  /** Uses what was read, and says what has changed; undefined: nothing. Never throws. */
  readonly use: () => Omit<ReloadChange, 'kind'> | undefined;
  /** Drops what was read, because another part cannot be read. */
  readonly drop?: () => void;
}

/** The variables of the server, and the file that some of them come from. */
export interface ReloadedVariables {
  readonly files: readonly string[];
  /** Reads the file again, and changes nothing yet. Rejects with the reason. */
  readonly read: () => Promise<ReadVariables>;
}

export interface ReadVariables {
  readonly env: Environment;
  /** Names of variables that have changed and are used. */
  readonly changed: readonly string[];
  /** Names of variables that have changed and that only a restart uses. */
  readonly needRestart: readonly string[];
  /** Makes the variables those of the process. */
  readonly use: () => void;
}

export interface ReloaderOptions {
  readonly variables: ReloadedVariables;
  readonly parts: readonly ReloadedPart[];
  readonly clock: Clock;
  readonly log: Log;
  /** Receives every attempt, also one that has failed. */
  readonly onReload: ReloadListener;
  readonly inspect?: InspectFile;
}

/**
 * Reads the configuration of a server again when one of its files changes, or on request: as a whole or not at all. When
 * something cannot be read, all stays as it was, and the log says why.
 */
export class Reloader implements ServerReload {
  readonly #options: ReloaderOptions;
  readonly #watch: FilePoller;
  #last: Reload | undefined;
  /** The reload that is going on, after all before it. */
  #running: Promise<unknown> = Promise.resolve();
  /** A reload of everything that has not begun yet: whoever asks meanwhile gets it. */
  #waiting: Promise<Reload> | undefined;

  constructor(options: ReloaderOptions) {
    const { clock, inspect } = options;
    this.#options = options;
    const onChange = async (files: ReadonlySet<string>): Promise<void> => {
      await this.#enqueue(() => this.#reload('file', files));
    };
    this.#watch = new FilePoller(() => this.#files(), onChange, clock, inspect);
  }

  get last(): Reload | undefined {
    return this.#last;
  }

  async watch(seen: ReadonlyMap<string, string>): Promise<void> {
    await this.#watch.start(seen);
  }

  /** Reads everything again. Never rejects: the result says whether it was used. */
  reload(cause: ReloadCause): Promise<Reload> {
    this.#waiting ??= this.#enqueue(async () => {
      this.#waiting = undefined;
      await this.#watch.accept();
      return this.#reload(cause, undefined);
    });
    return this.#waiting;
  }

  close(): void {
    this.#watch.close();
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#running.then(work);
    this.#running = done.catch(() => undefined);
    return done;
  }

  #files(): string[] {
    const { variables, parts } = this.#options;
    return [...variables.files, ...parts.flatMap((part) => part.files())];
  }

  /** @param changed undefined: everything is read */
  async #reload(cause: ReloadCause, changed: ReadonlySet<string> | undefined): Promise<Reload> {
    const { clock, onReload } = this.#options;
    const isRead = (files: readonly string[]): boolean =>
      changed === undefined || files.some((file) => changed.has(file));
    const result = await this.#readAndUse(isRead);
    const reload: Reload = { at: toIsoTime(clock.now()), cause, ...result };
    this.#last = reload;
    this.#report(reload);
    onReload(reload);
    return reload;
  }

  async #readAndUse(
    isRead: (files: readonly string[]) => boolean,
  ): Promise<Pick<Reload, 'error' | 'changes' | 'needRestart'>> {
    const { variables, parts } = this.#options;
    const read: { readonly kind: ReloadChange['kind']; readonly part: ReadPart }[] = [];
    try {
      // Other variables may name other files, so that everything is read with them.
      const { env, changed, needRestart, use } = await variables.read();
      const areOther = isRead(variables.files);
      for (const part of parts) {
        if (areOther || isRead(part.files())) read.push({ kind: part.kind, part: await part.read(env) });
      }
      use();
      const changes = read.flatMap(({ kind, part }) => {
        const change = part.use();
        return change === undefined ? [] : [{ kind, ...change }];
      });
      const settings = changed.length === 0 ? [] : [{ kind: 'settings', changed } as const];
      return { error: null, changes: [...settings, ...changes], needRestart };
    } catch (error) {
      for (const { part } of read) part.drop?.();
      return { error: errorMessage(error), changes: [], needRestart: [] };
    }
  }

  #report({ cause, error, changes, needRestart }: Reload): void {
    const { log } = this.#options;
    if (error !== null) {
      log.error({ cause }, `configuration not read again, all stays as it was: ${error}`);
      return;
    }
    const used = changes.length === 0 ? 'nothing has changed' : changes.map(describeChange).join(', ');
    const restart =
      needRestart.length === 0
        ? ''
        : `; ${needRestart.join(', ')} changed: restart to use ${pronoun(needRestart)}`;
    log.info({ cause }, `configuration read again: ${used}${restart}`);
  }
}

function describeChange({ kind, ...names }: ReloadChange): string {
  const lists = (['added', 'removed', 'changed'] as const).flatMap((how) => {
    const listed = names[how] ?? [];
    return listed.length === 0 ? [] : [`${how} ${listed.join(', ')}`];
  });
  return lists.length === 0 ? kind : `${kind} (${lists.join('; ')})`;
}

function pronoun({ length }: readonly string[]): string {
  return length === 1 ? 'it' : 'them';
}
