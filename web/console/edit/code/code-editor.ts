import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from '@codemirror/language';
import { type Action, type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, type Line, StateEffect, StateField, Text } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import type { Fix, Position, Problem } from '../../../../lib/definition/problems/problem.js';
import { type Outline, type OutlinePart, partAt } from '../model/outline.js';
import type { Vocabulary } from '../model/vocabulary.js';
import { assist } from './language.js';
import { findPart, outlineOf, wholeOutlineOf } from './outline-of.js';
import { openShadow, THEME } from './theme.js';

interface EditorOptions {
  readonly parent: HTMLElement;
  readonly text: string;
  readonly vocabulary: () => Vocabulary | undefined;
  readonly onChange: () => void;
  /** The cursor is in another task, or in none. */
  readonly onPart: (id: string | undefined) => void;
  readonly onSave: () => void;
  readonly onRun: () => void;
  /** A fix was not applied: the text has changed where it would change it. */
  readonly onStaleFix: () => void;
}

/** The text editor of the page, on CodeMirror. */
export class CodeEditor {
  readonly #view: EditorView;
  readonly #onPart: EditorOptions['onPart'];
  readonly #onStaleFix: EditorOptions['onStaleFix'];
  readonly #closeShadow: () => void;
  #part: string | undefined;
  /** The text was changed since the problems were shown last. */
  #isTyping = false;
  /** The fixes that were applied, so that a second click on one does not insert it again. */
  readonly #applied = new WeakSet<Fix>();

  constructor(options: EditorOptions) {
    this.#onPart = options.onPart;
    this.#onStaleFix = options.onStaleFix;
    const shadow = openShadow(options.parent);
    this.#closeShadow = shadow.close;
    this.#view = new EditorView({
      parent: shadow.root,
      root: shadow.root,
      state: EditorState.create({ doc: options.text, extensions: extensionsOf(options, this) }),
    });
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  /** Of the whole text: how it is checked and run must not depend on how far it has been parsed. */
  get outline(): Outline {
    return wholeOutlineOf(this.#view.state);
  }

  /** Replaces the whole text, as one step that can be undone. */
  setText(text: string): void {
    const { doc } = this.#view.state;
    if (doc.toString() === text) return;
    this.#view.dispatch({ changes: { from: 0, to: doc.length, insert: text }, scrollIntoView: true });
  }

  /**
   * Underlines problems, with a button for each fix.
   *
   * @param checked the text that they are of
   */
  showProblems(problems: readonly Problem[], checked: string): void {
    const { state } = this.#view;
    const shown = problems.filter(({ line, file }) => line !== undefined && file === undefined);
    const diagnostics = shown
      .map((problem) => this.#toDiagnostic(problem, checked))
      .sort((a, b) => a.from - b.from);
    this.#view.dispatch(setDiagnostics(state, diagnostics));
    // The list of problems may have taken the room of the line that is written.
    if (this.#isTyping) this.#view.dispatch({ scrollIntoView: true });
    this.#isTyping = false;
  }

  #toDiagnostic(problem: Problem, checked: string): Diagnostic {
    const { doc } = this.#view.state;
    const from = offsetOf(doc, { line: problem.line ?? 1, column: problem.column ?? 1 });
    const line = doc.lineAt(from);
    const [word = ''] =
      /^(?:\{\{[^}\n]*\}\}|"[^"\n]*"|'[^'\n]*'|[^\s:,[\]{}]+)/.exec(line.text.slice(from - line.from)) ?? [];
    const to = Math.min(from + Math.max(word.length, 1), Math.max(line.to, from));
    const { fix } = problem;
    const actions: Action[] =
      fix === undefined ? [] : [{ name: capitalize(fix.title), apply: () => this.applyFix(fix, checked) }];
    return {
      from,
      to,
      severity: problem.severity,
      message: problem.hint === undefined ? problem.message : `${problem.message}\n${problem.hint}`,
      actions,
    };
  }

  /**
   * Applies the edits of a fix, as one step that can be undone: none of them when their places were changed since the check,
   * or when it was applied since.
   *
   * @param checked the text that their positions are of
   */
  applyFix(fix: Fix, checked: string): void {
    const now = this.text;
    if (this.#applied.has(fix) && now !== checked) return;
    const doc = Text.of(checked.split('\n'));
    const move = moveBetween(checked, now);
    const changes: { from: number; to: number; insert: string }[] = [];
    for (const { from: start, to: end, text } of fix.edits) {
      const [from, to] = [offsetOf(doc, start), offsetOf(doc, end)];
      const moved = move(from, to);
      if (moved === undefined) return this.#onStaleFix();
      changes.push({ from: moved, to: moved + to - from, insert: text });
    }
    this.#applied.add(fix);
    this.#view.dispatch({ changes, scrollIntoView: true, userEvent: 'input.fix' });
    this.#view.focus();
  }

  /** Moves the cursor to a position. */
  goTo(position: Position): void {
    const anchor = offsetOf(this.#view.state.doc, position);
    this.#view.dispatch({
      selection: { anchor },
      effects: EditorView.scrollIntoView(anchor, { y: 'center' }),
    });
    this.#view.focus();
  }

  /** Moves the cursor to a task or a sub-pipeline, unless it is there. */
  goToPart(id: string): void {
    const part = findPart(this.#view.state, id);
    if (part === undefined || this.#part === id) return;
    this.#view.dispatch({
      selection: { anchor: part.from },
      effects: EditorView.scrollIntoView(part.from, { y: 'center' }),
    });
  }

  /** The text ends with a list of tasks that has none yet. */
  get endsWithTasks(): boolean {
    return /^\s*tasks:\s*$/.test(lastLine(this.#view.state.doc).text);
  }

  /** Inserts lines after the task of the cursor, after the last one, or at the end. */
  insertTask(write: (ids: readonly string[], indent: string) => string): void {
    const { state } = this.#view;
    const { outline } = this;
    const part = partAt(outline, state.selection.main.head) ?? outline.parts.at(-1);
    const first = part === undefined ? undefined : state.doc.lineAt(part.from);
    const line = part === undefined ? lastLine(state.doc) : state.doc.lineAt(part.to);
    const indent = ' '.repeat(
      first === undefined ? Math.max(0, line.text.search(/\S/)) + 2 : first.text.search(/\S/),
    );
    const written = write(
      [...outline.parts, ...outline.handlers].map(({ id }) => id),
      indent,
    );
    const at = line.to;
    const text = `${line.text === '' ? '' : '\n'}${written.replace(/\n$/, '')}`;
    this.#view.dispatch({
      changes: { from: at, insert: text },
      selection: { anchor: at + text.length },
      scrollIntoView: true,
      userEvent: 'input.snippet',
    });
    this.#view.focus();
  }

  focus(): void {
    this.#view.focus();
  }

  destroy(): void {
    this.#view.destroy();
    this.#closeShadow();
  }

  typed(): void {
    this.#isTyping = this.#view.hasFocus;
  }

  /** Marks the task of the cursor. */
  followCursor(): void {
    const { state } = this.#view;
    const part = partAt(outlineOf(state), state.selection.main.head);
    const id = part?.id === '' ? undefined : part?.id;
    if (id === this.#part) return;
    this.#part = id;
    // A dispatch within an update is not allowed.
    queueMicrotask(() => {
      this.#view.dispatch({ effects: markPart.of(part) });
      this.#onPart(id);
    });
  }
}

function extensionsOf(options: EditorOptions, editor: CodeEditor): Extension[] {
  const command = (run: () => void) => (): boolean => {
    run();
    return true;
  };
  return [
    lineNumbers(),
    foldGutter(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    history(),
    drawSelection(),
    EditorState.tabSize.of(2),
    indentUnit.of('  '),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    // A template is closed within quotes, too.
    EditorState.languageData.of(() => [{ closeBrackets: { before: ')]}:;>"\'' } }]),
    highlightSelectionMatches({ minSelectionLength: 3 }),
    search({ top: true }),
    yaml(),
    lintGutter(),
    selectedPart,
    assist(options.vocabulary),
    placeholder('Write a pipeline here, or insert an example'),
    EditorView.contentAttributes.of({
      'aria-label': 'Definition in YAML. Escape, then Tab leaves the editor.',
      spellcheck: 'false',
      tabindex: '0',
    }),
    keymap.of([
      { key: 'Mod-s', run: command(options.onSave), preventDefault: true },
      { key: 'Mod-Enter', run: command(options.onRun), preventDefault: true },
      { key: 'Enter', run: startMap },
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      indentWithTab,
    ]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) {
        editor.typed();
        options.onChange();
      }
      if (update.docChanged || update.selectionSet) editor.followCursor();
    }),
    THEME,
  ];
}

/** A new line after a key without a value belongs to that key. */
function startMap(view: EditorView): boolean {
  const { state } = view;
  const { main } = state.selection;
  const line = state.doc.lineAt(main.head);
  const [, before = ''] =
    /^(\s*(?:- +)*)[^#\s][^#]*:\s*$/.exec(line.text.slice(0, main.head - line.from)) ?? [];
  const isEnd = line.text.slice(main.head - line.from).trim() === '';
  if (!main.empty || !isEnd || !/:\s*$/.test(line.text) || line.text.trimStart().startsWith('#'))
    return false;
  const insert = `\n${' '.repeat(before.length + 2)}`;
  view.dispatch(
    state.update({
      changes: { from: main.head, insert },
      selection: { anchor: main.head + insert.length },
      scrollIntoView: true,
      userEvent: 'input',
    }),
  );
  return true;
}

const markPart = StateEffect.define<OutlinePart | undefined>();
const marked = Decoration.line({ class: 'cm-task-selected' });

/** More lines of a task are not marked. */
const MOST_MARKED = 500;

/** The lines of the task that the cursor is in. */
const selectedPart = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(lines, { state, effects, changes }) {
    for (const effect of effects) {
      if (effect.is(markPart)) return drawPart(state.doc, effect.value);
    }
    return lines.map(changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function drawPart(doc: Text, part: OutlinePart | undefined): DecorationSet {
  if (part === undefined || part.to > doc.length) return Decoration.none;
  const first = doc.lineAt(part.from).number;
  const end = Math.min(doc.lineAt(part.to).number, first + MOST_MARKED);
  const lines = Array.from({ length: end - first + 1 }, (_, index) => doc.line(first + index));
  return Decoration.set(lines.map(({ from }) => marked.range(from)));
}

/** The offset of a position of the server's: both are counted in UTF-16 code units. Never beyond the text. */
function offsetOf(doc: Text, { line, column }: Position): number {
  if (line > doc.lines) return doc.length;
  const { from, to } = doc.line(Math.max(1, line));
  return Math.min(from + Math.max(1, column) - 1, to);
}

/** Returns what tells where a part of an earlier text begins now: nowhere when it was changed since. */
function moveBetween(before: string, now: string): (from: number, to: number) => number | undefined {
  const most = Math.min(before.length, now.length);
  let same = 0;
  while (same < most && before.charCodeAt(same) === now.charCodeAt(same)) same++;
  const shift = now.length - before.length;
  let end = before.length;
  const least = Math.max(same, same - shift);
  while (end > least && before.charCodeAt(end - 1) === now.charCodeAt(end - 1 + shift)) end--;
  return (from, to) => (to <= same ? from : from >= end ? from + shift : undefined);
}

/** The last line that is not blank, or the first one. */
function lastLine(doc: Text): Line {
  let { lines } = doc;
  while (lines > 1 && doc.line(lines).text.trim() === '') lines--;
  return doc.line(lines);
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
