import { computed, signal } from '@preact/signals';
import type { Json, JsonObject } from '../../../../lib/common/json.js';
import type { EditableDefinition } from '../../../../lib/runs/views/submission-view.js';
import type { ToolMetadata } from '../../../../lib/tools/catalog.js';
import { messageOf, type Server } from '../../../shared/server/server.js';
import type { CodeEditor } from '../code/code-editor.js';
import { EMPTY_OUTLINE, type Outline, readDefaults } from '../model/outline.js';
import type { JsonSchema, Vocabulary } from '../model/vocabulary.js';
import { Checker } from './checker.js';
import { Drafts } from './drafts.js';
import { Files, type Folder, NO_FOLDER, type OpenedFile } from './files.js';

/** What the page was opened for, from its address. */
export interface Opened {
  /** The id of a file of the server; empty for none. */
  readonly pipeline: string;
  /** The tenant of that file; empty for the one of the reader's key. */
  readonly tenant: string;
  /** The id of a run whose definition is changed; empty for none. */
  readonly run: string;
  /** The task or sub-pipeline at which the text is opened; empty for its start. */
  readonly task: string;
}

/** A choice that the reader has to make about two texts. */
interface Conflict {
  /** `tab`: another tab has kept a newer draft. `file`: the file has changed. `gone`: there is no such file any more. */
  readonly kind: 'tab' | 'file' | 'gone';
  readonly text: string;
  readonly version: string | undefined;
}

/** After the last keystroke, a draft is kept. */
const KEEP_MS = 400;

/** How often the file of the server is looked at while the page is visible. */
export const LOOK_MS = 5000;

/** The state of the page: the text, what the server says of it, and where it is kept. */
export class EditSession {
  readonly server: Server;
  readonly opened: Opened;
  readonly files: Files;
  readonly checker: Checker;
  readonly folder = signal<Folder | undefined>(undefined);
  /** What the run was submitted with, which another one starts from (D60). */
  readonly source = signal<EditableDefinition | undefined>(undefined);
  readonly conflict = signal<Conflict | undefined>(undefined);
  /** What went right or wrong last, and how it looks. */
  readonly notice = signal<{ readonly text: string; readonly tone?: 'bad' } | undefined>(undefined);
  /** The text comes from a draft that differs from what it was made from. */
  readonly isRestored = signal(false);
  readonly isLoading = signal(true);
  readonly outline = signal<Outline>(EMPTY_OUTLINE);
  /** The task or sub-pipeline of the cursor. */
  readonly part = signal<string | undefined>(undefined);
  /** The text differs from the file, or from the definition of the run. */
  readonly isChanged = signal(false);
  readonly kind = computed(() => this.outline.value.kind);
  /** The declarations of the params and the default inputs, as the text has them. */
  readonly defaults = computed(() => readDefaults(this.outline.value));
  vocabulary: Vocabulary | undefined;
  readonly #drafts: Drafts;
  #base: OpenedFile | undefined;
  #baseText = '';
  #editor: CodeEditor | undefined;
  #timer = 0;

  constructor(server: Server, opened: Opened, storage: Storage, tab: string) {
    this.server = server;
    this.opened = opened;
    this.files = new Files(server, opened.tenant);
    const id =
      opened.run === ''
        ? opened.pipeline === ''
          ? 'new'
          : `pipeline:${opened.tenant}/${opened.pipeline}`
        : `run:${opened.run}`;
    this.#drafts = new Drafts(storage, id, tab, () => Date.now(), server.owners);
    this.checker = new Checker(server, () => ({ text: this.text, kind: this.kind.value }), {
      set: (task, milliseconds) => window.setTimeout(task, milliseconds),
      clear: (timer) => window.clearTimeout(timer),
    });
  }

  get text(): string {
    return this.#editor?.text ?? '';
  }

  get editor(): CodeEditor | undefined {
    return this.#editor;
  }

  /** The id of the file that the text was made from; undefined for a text without a file. */
  get fileVersion(): string | undefined {
    return this.#base?.version;
  }

  /** Reads what the page was opened for, and what was typed there before. */
  async load(): Promise<string> {
    void this.#loadVocabulary();
    void this.#loadFolder();
    const original = await this.#loadOriginal().catch((error: unknown) => {
      this.notice.value = { text: `It cannot be opened: ${messageOf(error)}.`, tone: 'bad' };
      return '';
    });
    this.#baseText = original;
    const draft = this.#drafts.open();
    this.isRestored.value = draft !== undefined && draft !== original && original !== '';
    this.isChanged.value = draft !== undefined && draft !== original;
    this.isLoading.value = false;
    return draft ?? original;
  }

  async #loadOriginal(): Promise<string> {
    const { run, pipeline } = this.opened;
    if (run !== '') {
      const source = await this.server.getJson<EditableDefinition>(
        `/pipelines/runs/${encodeURIComponent(run)}/definition`,
      );
      this.source.value = source;
      return source.yaml ?? JSON.stringify(source.definition);
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
      this.vocabulary = { pipeline, plan, tools: new Map(metadata.map((tool) => [tool.name, tool])) };
    } catch (error) {
      this.notice.value = { text: `Nothing can be completed: ${messageOf(error)}.`, tone: 'bad' };
    }
  }

  async #loadFolder(): Promise<void> {
    try {
      this.folder.value = await this.files.list();
    } catch {
      // Whoever does not see the folder can still write, check and run; that the server is away, the checks say.
      this.folder.value = NO_FOLDER;
    }
  }

  attach(editor: CodeEditor): void {
    this.#editor = editor;
    this.#analyse();
    this.checker.changed(0);
  }

  close(): void {
    this.#keep();
    this.checker.close();
    window.clearTimeout(this.#timer);
    this.#editor?.destroy();
    this.#editor = undefined;
  }

  /** The text has changed. */
  changed(): void {
    this.checker.changed();
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      this.#analyse();
      this.#keep();
    }, KEEP_MS);
  }

  #analyse(): void {
    if (this.#editor === undefined) return;
    this.outline.value = this.#editor.outline;
    this.isChanged.value = this.text !== this.#baseText;
  }

  /** Keeps the draft now: the page may be about to go. */
  keepNow(): void {
    this.#keep();
  }

  #keep(force = false): void {
    if (this.#editor === undefined) return;
    const { text } = this;
    if (text === this.#baseText && !force) {
      if (this.#drafts.findOther() === undefined) this.#drafts.discard();
      return;
    }
    const kept = this.#drafts.keep(text, force);
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
    const text = this.#drafts.findOther();
    if (text === undefined) return;
    if (text === this.text) {
      this.#drafts.open();
      return;
    }
    this.conflict.value = { kind: 'tab', text, version: undefined };
  }

  /** Notices when the file was changed by somebody else. The text stays as it is. */
  async lookAtFile(): Promise<void> {
    const base = this.#base;
    if (base === undefined || this.conflict.value !== undefined) return;
    const current = await this.files.read(this.opened.pipeline);
    if (this.#base !== base || current?.version === base.version) return;
    if (current === undefined) this.conflict.value = { kind: 'gone', text: '', version: undefined };
    else if (current.text === this.text) this.#rebase(current);
    else this.conflict.value = { kind: 'file', text: current.text, version: current.version };
  }

  #rebase(file: OpenedFile): void {
    this.#base = file;
    this.#baseText = file.text;
    this.isChanged.value = this.text !== file.text;
  }

  /** Ends a conflict: with the other text in place of the own one, or with the own one. */
  choose(choice: 'theirs' | 'mine'): void {
    const { value: conflict } = this.conflict;
    if (conflict === undefined) return;
    this.conflict.value = undefined;
    if (conflict.kind === 'gone') this.#base = undefined;
    if (conflict.kind === 'file' && conflict.version !== undefined) {
      const { file = '' } = this.#base ?? {};
      this.#rebase({ file, text: conflict.text, version: conflict.version });
    }
    if (choice === 'theirs') {
      this.#drafts.open();
      this.replaceText(conflict.text);
    } else this.#keep(true);
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
    const id = this.opened.pipeline || this.outline.value.id;
    if (id === '') {
      this.notice.value = {
        text: 'Give the definition an id first: its file is named after it.',
        tone: 'bad',
      };
      return false;
    }
    const { text } = this;
    try {
      const result = await this.files.save(id, text, this.#base?.version);
      if (result.kind === 'changed') {
        const { current } = result;
        this.conflict.value = {
          kind: current === undefined ? 'gone' : 'file',
          text: current?.text ?? '',
          version: current?.version,
        };
        return false;
      }
      this.#drafts.discard();
      this.isRestored.value = false;
      this.#rebase({ file: this.#base?.file ?? `${id}.yaml`, text, version: result.version });
      this.notice.value = { text: `Saved as ${id}.` };
      if (this.opened.pipeline === '') this.#moveTo(id);
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
    window.location.assign(`/edit?${query}`);
  }

  /** Submits the text. Returns the id of the run. @throws ServerError */
  async run(values: Readonly<Record<'params' | 'inputs' | 'session', JsonObject>>): Promise<string> {
    const kind = this.kind.value;
    const { params, inputs, session } = values;
    const body: Record<string, Json> = { yaml: this.text, inputs, session };
    if (kind === 'pipeline') body['params'] = params;
    if (this.opened.tenant !== '') body['tenant_id'] = this.opened.tenant;
    const { run_id } = await this.server.post<{ run_id: string }>(`/${kind}s/run_async`, body);
    return run_id;
  }
}
