import type { Owners } from '../../../shared/server/server.js';

/** A text, and the version of the file that it was made from; undefined for a text without a file. */
export interface KeptText {
  readonly text: string;
  readonly version: string | undefined;
}

/** A text that was typed and not saved elsewhere. */
interface Draft extends KeptText {
  /** The tab that has written the draft. */
  readonly tab: string;
  /** In milliseconds since 1970. */
  readonly savedAt: number;
}

/** A draft as the storage has it. */
interface StoredDraft {
  readonly name: string;
  readonly stored: string;
  /** In milliseconds since 1970. */
  readonly savedAt: number;
}

/** The storage of the browser. */
export interface DraftStore {
  readonly length: number;
  key(index: number): string | null;
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

const PREFIX = 'wavetrain-draft:';

/** An older draft is forgotten. */
const LONGEST_KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Keeps what is typed in the storage of the browser, for each definition and key: a reload, a crash or a closed tab loses
 * nothing, and whoever comes with another key does not see it. A second tab on the same definition is noticed, and neither overwrites the other unasked.
 */
export class Drafts {
  readonly #store: DraftStore;
  readonly #tab: string;
  readonly #now: () => number;
  readonly #name: string;
  readonly #formerName: string;
  /** The draft that this tab has read or written last. */
  #known: string | null = null;

  /**
   * @param id of the definition, such as `pipeline:daily`; empty for a new one
   * @param tab distinguishes this tab from others
   * @param owners whose drafts they are; those of the former owner go over to the owner
   */
  constructor(
    store: DraftStore,
    id: string,
    tab: string,
    now: () => number,
    { owner, formerOwner = owner }: Owners = { owner: '' },
  ) {
    this.#store = store;
    this.#name = nameOf(owner, id);
    this.#formerName = nameOf(formerOwner, id);
    this.#tab = tab;
    this.#now = now;
  }

  /** Returns the draft that was kept; undefined when there is none. */
  open(): KeptText | undefined {
    this.#forgetOld();
    this.#known = this.#store.getItem(this.#name) ?? this.#store.getItem(this.#formerName);
    return parse(this.#known);
  }

  /**
   * Keeps the text. Returns `other_tab` and keeps nothing when another tab has kept a newer one, and `full` when the
   * browser has no room for it even without the other drafts: the oldest of these give way.
   *
   * @param force replaces also what another tab has kept
   */
  keep({ text, version }: KeptText, force = false): 'kept' | 'other_tab' | 'full' {
    if (!force && this.findOther() !== undefined) return 'other_tab';
    const known = parse(this.#known);
    const isKept = known?.text === text && known.version === version;
    if (isKept && this.#known === this.#store.getItem(this.#name)) return 'kept';
    const draft: Draft = { text, version, tab: this.#tab, savedAt: this.#now() };
    const written = JSON.stringify(draft);
    if (!this.#write(written)) return 'full';
    this.#known = written;
    this.#forgetFormer();
    return 'kept';
  }

  /** Returns the text that another tab has kept since this one has last looked; undefined when there is none. */
  findOther(): KeptText | undefined {
    const stored = this.#store.getItem(this.#name);
    if (stored === this.#known) return undefined;
    const draft = parse(stored);
    return draft === undefined || draft.tab === this.#tab ? undefined : draft;
  }

  /** Forgets the draft: the text was saved elsewhere, or is given up. A draft that another tab has kept since stays. */
  discard(): void {
    if (this.findOther() !== undefined) return;
    this.#store.removeItem(this.#name);
    this.#forgetFormer();
    this.#known = null;
  }

  /** Returns whether there was room. Where there is none, the other drafts stay. */
  #write(written: string): boolean {
    if (this.#hasSet(this.#name, written)) return true;
    const removed: StoredDraft[] = [];
    for (const draft of this.#list()) {
      if (draft.name === this.#name || draft.name === this.#formerName) continue;
      this.#store.removeItem(draft.name);
      if (this.#hasSet(this.#name, written)) return true;
      removed.push(draft);
    }
    for (const { name, stored } of removed) this.#hasSet(name, stored);
    return false;
  }

  #hasSet(name: string, value: string): boolean {
    try {
      this.#store.setItem(name, value);
      return true;
    } catch {
      return false;
    }
  }

  #forgetOld(): void {
    const oldest = this.#now() - LONGEST_KEPT_MS;
    for (const { name, savedAt } of this.#list()) {
      if (savedAt < oldest) this.#store.removeItem(name);
    }
  }

  /** Returns the drafts of all definitions and keys, the oldest first. */
  #list(): StoredDraft[] {
    const names = Array.from({ length: this.#store.length }, (_, index) => this.#store.key(index) ?? '');
    const drafts = names
      .filter((name) => name.startsWith(PREFIX))
      .map((name) => {
        const stored = this.#store.getItem(name) ?? '';
        return { name, stored, savedAt: parse(stored)?.savedAt ?? 0 };
      });
    return drafts.sort((a, b) => a.savedAt - b.savedAt);
  }

  #forgetFormer(): void {
    if (this.#formerName !== this.#name) this.#store.removeItem(this.#formerName);
  }
}

function nameOf(owner: string, id: string): string {
  return owner === '' ? `${PREFIX}${id}` : `${PREFIX}${owner}:${id}`;
}

function parse(stored: string | null): Draft | undefined {
  if (stored === null) return undefined;
  try {
    const draft = JSON.parse(stored) as Partial<Draft> | null;
    if (typeof draft?.text !== 'string' || typeof draft.tab !== 'string') return undefined;
    return { text: draft.text, version: draft.version, tab: draft.tab, savedAt: draft.savedAt ?? 0 };
  } catch {
    return undefined;
  }
}
