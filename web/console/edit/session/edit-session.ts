import { computed, signal } from '@preact/signals';
import type { JsonObject } from '../../../../lib/common/json/json.js';
import type { Fix, Position, Problem } from '../../../../lib/definition/problems/problem.js';
import type { EditableDefinition } from '../../../../lib/runs/views/submission-view.js';
import type { ToolMetadata } from '../../../../lib/tools/catalog.js';
import { messageOf, type Server } from '../../../shared/server/server.js';
import { EMPTY_OUTLINE, type Outline, readDefaults } from '../model/outline.js';
import type { JsonSchema, Language } from '../model/vocabulary.js';
import { Checker, type Timers } from './checker.js';
import { Drafts, type DraftStore, type KeptText } from './drafts.js';
import { Files, type Folder, NO_FOLDER, type OpenedFile, withLineFeeds } from './files.js';
import { draftIdOf, type Opened } from './opened.js';

/** Holds the text while it is edited. */
export interface TextEditor {
  readonly text: string;
  readonly outline: Outline;
  setText(text: string): void;
  showProblems(problems: readonly Problem[], checked: string): void;
  applyFix(fix: Fix, checked: string): void;
  goTo(position: Position): void;
  goToPart(id: string): void;
  readonly endsWithTasks: boolean;
  insertTask(write: (ids: readonly string[], indent: string) => string): void;
  focus(): void;
  destroy(): void;
}

/** A choice that the reader has to make about two texts. */
type Conflict =
  /** Another tab has kept a newer draft. */
  | ({ readonly kind: 'tab' } & KeptText)
  /** The file is another one than the text was made from. */
  | ({ readonly kind: 'file' } & OpenedFile)
  /** There is a file of the id of the text, which was not made from it. */
  | ({ readonly kind: 'exists' } & OpenedFile)
  /** There is no such file any more. */
  | { readonly kind: 'gone'; readonly text: '' };

/** The parts of the browser that a page uses. */
interface Surroundings {
  readonly storage: DraftStore;
  /** Distinguishes this tab from others. */
  readonly tab: string;
  /** In milliseconds since 1970. */
  readonly now: () => number;
  readonly timers: Timers;
  /** Leaves the page for another address. */
  readonly leaveFor: (address: string) => void;
}

/** After the last keystroke, a draft is kept. */
const KEEP_MS = 400;

/** The state of the page: the text, what the server says of it, and where it is kept. */
export class EditSession {
  readonly server: Server;
  readonly opened: Opened;
  readonly files: Files;
  readonly checker: Checker;
  readonly folder = signal<Folder | undefined>(undefined);
  /** The submission of the run from which another run starts (D60). */
  readonly source = signal<EditableDefinition | undefined>(undefined);
  readonly conflict = signal<Conflict | undefined>(undefined);
  /** The reader is asked now which of the texts of the conflict to take, and has not put it off. */
  readonly isChoiceOpen = signal(false);
  /** The last success or trouble, and how it looks. */
  readonly notice = signal<{ readonly text: string; readonly tone?: 'bad' } | undefined>(undefined);
  /** The text comes from a draft that differs from what it was made from. */
  readonly isRestored = signal(false);
  readonly isLoading = signal(true);
  readonly outline = signal<Outline>(EMPTY_OUTLINE);
  /** The task or sub-pipeline of the cursor. */
  readonly part = signal<string | undefined>(undefined);
  /** The text differs from the file, or from the definition of the run. */
  readonly isChanged = signal(false);
  /** The id of the file that the text is saved to; empty before the first save of a text that is of no file. */
  readonly fileId = signal('');
  readonly kind = computed(() => this.outline.value.kind);
  /** The declarations of the params and the default inputs, as the text has them. */
  readonly defaults = computed(() => readDefaults(this.outline.value));
  language: Language | undefined;
  readonly #timers: Timers;
  readonly #leaveFor: Surroundings['leaveFor'];
  readonly #drafts: Drafts;
  /** The file as it was read or saved last. */
  #base: OpenedFile | undefined;
  #baseText = '';
  /** The version that the text was made from, which a save may replace: an older one than that of `#base` for an old draft. */
  #version: string | undefined;
  /** True once the page knows what is in the file, or that there is none. */
  #isRead = true;
  #editor: TextEditor | undefined;
  #timer = 0;

  constructor(server: Server, opened: Opened, { storage, tab, now, timers, leaveFor }: Surroundings) {
    this.server = server;
    this.opened = opened;
    this.fileId.value = opened.pipeline;
    this.files = new Files(server, opened.tenant);
    this.#timers = timers;
    this.#leaveFor = leaveFor;
    this.#drafts = new Drafts(storage, draftIdOf(opened), tab, now, server.owners);
    this.checker = new Checker(
      server,
      () => {
        this.#analyse();
        return { text: this.text, kind: this.kind.value, place: this.#place };
      },
      timers,
    );
  }

  get text(): string {
    return this.#editor?.text ?? '';
  }

  get editor(): TextEditor | undefined {
    return this.#editor;
  }

  /** Where a plan finds the pipelines that its text lacks: beside the file that the text is of (D69). */
  get #place(): JsonObject {
    const { tenant } = this.opened;
    const isOfFile = this.kind.value === 'plan' && this.#base !== undefined;
    return { ...(isOfFile && { beside: this.fileId.value }), ...(tenant !== '' && { tenant_id: tenant }) };
  }

  /** Reads what the page was opened for, and what was typed there before. */
  async load(): Promise<string> {
    void this.#loadVocabulary();
    void this.#loadFolder();
    const original = await this.#loadOriginal().catch((error: unknown) => {
      this.#isRead = false;
      this.notice.value = { text: `It cannot be opened: ${messageOf(error)}.`, tone: 'bad' };
      return '';
    });
    this.#baseText = original;
    const { text, version } = this.#drafts.open() ?? { text: original, version: this.#base?.version };
    this.#version = this.fileId.value === '' ? undefined : version;
    this.isRestored.value = text !== original;
    this.isChanged.value = text !== original;
    this.isLoading.value = false;
    return text;
  }

  async #loadOriginal(): Promise<string> {
    const { run, pipeline } = this.opened;
    if (run !== '') {
      const source = await this.server.getJson<EditableDefinition>(
        `/pipelines/runs/${encodeURIComponent(run)}/definition`,
      );
      this.source.value = source;
      return withLineFeeds(source.yaml ?? JSON.stringify(source.definition));
    }
    if (pipeline === '') return '';
    this.#base = await this.files.read(pipeline);
    return this.#base?.text ?? '';
  }

  async #loadVocabulary(): Promise<void> {
    try {
      const [pipeline, plan, { metadata }] = await Promise.all([
        this.server.getJson<JsonSchema>('/schemas/pipeline.json'),
        this.server.getJson<JsonSchema>('/schemas/plan.json'),
        this.server.getJson<{ readonly metadata: readonly ToolMetadata[] }>('/pipelines/tools'),
      ]);
      this.language = { pipeline, plan, tools: new Map(metadata.map((tool) => [tool.name, tool])) };
    } catch (error) {
      this.notice.value = { text: `Nothing can be completed: ${messageOf(error)}.`, tone: 'bad' };
    }
  }

  async #loadFolder(): Promise<void> {
    try {
      this.folder.value = await this.files.list();
    } catch {
      // A reader who does not see the folder can still write, check and run; the checks say when the server is away.
      this.folder.value = NO_FOLDER;
    }
  }

  attach(editor: TextEditor): void {
    this.#editor = editor;
    if (this.#isRead) this.#compareWith(this.#base);
    this.#analyse();
    this.checker.changed(0);
  }

  close(): void {
    this.keepNow();
    this.checker.close();
    this.#timers.clear(this.#timer);
    this.#editor?.destroy();
    this.#editor = undefined;
  }

  /** The text has changed. */
  changed(): void {
    this.checker.changed();
    this.#timers.clear(this.#timer);
    this.#timer = this.#timers.set(() => {
      this.#analyse();
      this.keepNow();
    }, KEEP_MS);
  }

  /** Reads what the text declares now: it may have been typed or pasted since it was read last. */
  #analyse(): void {
    if (this.#editor === undefined) return;
    this.outline.value = this.#editor.outline;
    this.isChanged.value = this.text !== this.#baseText;
  }

  /** Keeps the draft now: the page may be about to go. By force, it replaces what another tab has kept. */
  keepNow(force = false): void {
    if (this.#editor === undefined) return;
    const { text } = this;
    if (text === this.#baseText && !force) {
      this.#drafts.discard();
      return;
    }
    const kept = this.#drafts.keep({ text, version: this.#version }, force);
    if (kept === 'other_tab') this.#offerOther();
    if (kept === 'full') {
      this.notice.value = {
        text: 'The browser has no room to keep this text: it would be lost with this tab. Save it, or copy it.',
        tone: 'bad',
      };
    }
  }

  /** Another tab may have kept a newer draft. */
  lookForOther(): void {
    if (this.#drafts.findOther() !== undefined) this.#offerOther();
  }

  #offerOther(): void {
    const other = this.#drafts.findOther();
    if (other === undefined) return;
    const { value: conflict } = this.conflict;
    if (other.text === this.text && other.version === this.#version) this.#drafts.open();
    else if (conflict?.kind !== 'tab' || conflict.text !== other.text) this.#ask({ kind: 'tab', ...other });
  }

  /** Notices when the file was changed by somebody else. The text stays as it is. */
  async lookAtFile(): Promise<void> {
    const version = this.#version;
    if (version === undefined || this.conflict.value !== undefined) return;
    const current = await this.files.read(this.fileId.value);
    if (this.#version === version && this.conflict.value === undefined) this.#compareWith(current);
  }

  /** Asks which text to take when the file is another one than the text was made from. */
  #compareWith(current: OpenedFile | undefined): void {
    if (current?.version === this.#version) return;
    if (current !== undefined && current.text === this.text) this.#rebase(current);
    else this.#offerFile(current);
  }

  #offerFile(current: OpenedFile | undefined): void {
    this.#ask(current === undefined ? { kind: 'gone', text: '' } : { kind: 'file', ...current });
  }

  #ask(conflict: Conflict): void {
    this.conflict.value = conflict;
    this.isChoiceOpen.value = true;
  }

  /** Leaves both texts as they are until the reader comes back to the choice, or saves. */
  chooseLater(): void {
    this.isChoiceOpen.value = false;
    this.#editor?.focus();
  }

  /** From now on, the text is one that was made from this file; undefined when there is none. */
  #rebase(file: OpenedFile | undefined): void {
    this.#base = file;
    this.#baseText = file?.text ?? '';
    this.#version = file?.version;
    this.isChanged.value = this.text !== this.#baseText;
    this.checker.changed(0);
  }

  /** Saves the text in place of the file that has its id already. */
  async replaceFile(): Promise<void> {
    const { value: conflict } = this.conflict;
    if (conflict?.kind !== 'exists') return;
    this.conflict.value = undefined;
    await this.#replace(this.outline.value.id, conflict);
  }

  #replace(id: string, current: OpenedFile): Promise<boolean> {
    this.fileId.value = id;
    this.#rebase(current);
    return this.save();
  }

  /** Ends a conflict without a save: the text and the file stay as they are. */
  dropConflict(): void {
    this.conflict.value = undefined;
    this.#editor?.focus();
  }

  /** Ends a conflict: with the other text in place of the own one, or with the own one. */
  choose(choice: 'theirs' | 'mine'): void {
    const { value: conflict } = this.conflict;
    if (conflict === undefined) return;
    this.conflict.value = undefined;
    if (conflict.kind === 'gone') this.#rebase(undefined);
    if (conflict.kind === 'file') this.#rebase(conflict);
    if (choice === 'theirs') {
      this.#drafts.open();
      if (conflict.kind === 'tab') this.#version = conflict.version;
      this.replaceText(conflict.text);
    } else this.keepNow(true);
    this.#analyse();
    this.#editor?.focus();
  }

  replaceText(text: string): void {
    this.#editor?.setText(text);
  }

  /** Gives up what was typed, for the text that it was made from. */
  discardDraft(): void {
    this.#drafts.discard();
    this.isRestored.value = false;
    this.conflict.value = undefined;
    this.#version = this.#base?.version;
    this.replaceText(this.#baseText);
  }

  /** Saves the text under the id of the file, or under that of the definition when it has none. Returns whether it did. */
  async save(): Promise<boolean> {
    const { value: folder } = this.folder;
    if (folder?.enabled !== true || !folder.writable) {
      this.notice.value = {
        text: 'This server offers no folder to save to (SERVICE_PIPELINES). The text is kept in this browser.',
      };
      return false;
    }
    this.#analyse();
    const id = this.opened.pipeline || this.outline.value.id;
    if (id === '') {
      this.notice.value = {
        text: 'Give the definition an id first: its file is named after it.',
        tone: 'bad',
      };
      return false;
    }
    const { text } = this;
    const version = id === this.fileId.value ? this.#version : undefined;
    const { file, lineEnd } = this.#base ?? { file: `${id}.yaml`, lineEnd: '\n' };
    try {
      const result = await this.files.save(id, { text, version, lineEnd });
      if (result.kind === 'changed') {
        const { current } = result;
        // The run has begun with what the file still has.
        const isOfRun = version === undefined && current?.text === this.#baseText;
        if (isOfRun) return await this.#replace(id, current);
        if (version === undefined && current) this.#ask({ kind: 'exists', ...current });
        else this.#offerFile(current);
        return false;
      }
      this.fileId.value = id;
      this.#drafts.discard();
      this.isRestored.value = false;
      this.conflict.value = undefined;
      this.#rebase({ file, text, lineEnd, version: result.version });
      this.notice.value = { text: `Saved as ${id}.` };
      // Beside the text of a run, the reader may want to run only what has changed.
      if (this.opened.pipeline === '' && this.opened.run === '') this.#moveTo(id);
      else if (!folder.pipelines.some((named) => named.id === id)) void this.#loadFolder();
      return true;
    } catch (error) {
      this.notice.value = { text: `It was not saved: ${messageOf(error)}.`, tone: 'bad' };
      return false;
    }
  }

  /** From now on, the page is that of a file. */
  #moveTo(id: string): void {
    const { tenant } = this.opened;
    const query = new URLSearchParams({ pipeline: id, ...(tenant !== '' && { tenant }) });
    this.#leaveFor(`/edit?${query}`);
  }

  /** Submits the text. Returns the id of the run. @throws ServerError */
  async run(values: Readonly<Record<'params' | 'inputs' | 'session', JsonObject>>): Promise<string> {
    this.#analyse();
    const kind = this.kind.value;
    const { params, inputs, session } = values;
    const body = { yaml: this.text, inputs, session, ...(kind === 'pipeline' && { params }), ...this.#place };
    const { run_id } = await this.server.post<{ run_id: string }>(`/${kind}s/run_async`, body);
    return run_id;
  }
}
