import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import type { Extension } from '@codemirror/state';
import {
  Decoration,
  type EditorView,
  hoverTooltip,
  MatchDecorator,
  type Tooltip,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import { MOST_ANALYSED, outlineOf } from './outline-of.js';
import { findCursor } from '../model/cursor-path.js';
import { propose } from '../model/completions.js';
import { explain, type Explanation } from '../model/hover.js';
import type { Proposal } from '../model/proposal.js';
import { PATH_SIGNS, startOfPath } from '../model/readable-paths.js';
import type { Vocabulary } from '../model/vocabulary.js';

/** Completes and explains what is written, once the server has said what there is. */
export function assist(vocabulary: () => Vocabulary | undefined): Extension {
  return [
    autocompletion({ override: [(context) => complete(context, vocabulary())], icons: false }),
    hoverTooltip((view, at) => hover(view, at, vocabulary()), { hoverTime: 350 }),
    templates,
  ];
}

function complete(
  { state, pos, explicit }: CompletionContext,
  vocabulary: Vocabulary | undefined,
): CompletionResult | null {
  if (vocabulary === undefined || state.doc.length > MOST_ANALYSED) return null;
  const cursor = findCursor(state.sliceDoc(0), pos);
  const { from, options } = propose(cursor, outlineOf(state), vocabulary);
  // A reader asks for no keys on an empty line, and for no values while something else is typed.
  const isWanted = explicit || from < pos || cursor.kind === 'value' || cursor.template !== undefined;
  if (!isWanted || options.length === 0) return null;
  if (cursor.template === undefined)
    return { from, options: options.map((each) => toCompletion(each, each.label)), validFor: TYPED };
  // Each name of a path is completed alone: after another dot, there are other names.
  const start = startOfPath(state.sliceDoc(from, pos)).length;
  const names = options.map((each) => toCompletion(each, each.label.slice(start)));
  return { from: from + start, options: names, validFor: NAME };
}

const TYPED = new RegExp(`^[${PATH_SIGNS}]*$`, 'u');

const NAME = new RegExp(`^(?:(?!\\.)[${PATH_SIGNS}])*$`, 'u');

/** @param label the part of the proposal that replaces what is typed */
function toCompletion({ detail, info, apply, kind, boost }: Proposal, label: string): Completion {
  return {
    label,
    type: kind,
    ...(detail !== undefined && { detail }),
    ...(info !== undefined && { info }),
    ...(boost !== undefined && { boost }),
    ...(apply !== undefined && {
      apply: (view: EditorView, _: Completion, from: number, to: number) => insert(view, apply, from, to),
    }),
  };
}

/** Writes a proposal in place of what was typed. A key that already has its colon gets no second one. */
function insert(view: EditorView, apply: string, from: number, to: number): void {
  const { state } = view;
  const line = state.doc.lineAt(to);
  const hasColon = /^\s*:/.test(line.text.slice(to - line.from));
  const indent = /^\s*/.exec(line.text)?.[0] ?? '';
  const written = (hasColon ? apply.replace(/: ¦$/, '') : apply).replaceAll('\n', `\n${indent}`);
  const at = written.indexOf('¦');
  const text = written.replace('¦', '');
  view.dispatch({
    changes: { from, to, insert: text },
    selection: { anchor: from + (at < 0 ? text.length : at) },
    userEvent: 'input.complete',
  });
}

function hover(view: EditorView, at: number, vocabulary: Vocabulary | undefined): Tooltip | null {
  const { state } = view;
  if (vocabulary === undefined || state.doc.length > MOST_ANALYSED) return null;
  const found = explain(state.sliceDoc(0), at, outlineOf(state), vocabulary);
  if (found === undefined) return null;
  return { pos: found.from, end: found.to, above: true, create: () => ({ dom: drawExplanation(found) }) };
}

function drawExplanation({ title, detail, text, names }: Explanation): HTMLElement {
  const box = document.createElement('div');
  box.className = 'explanation';
  const add = (tag: string, content: string, owner: HTMLElement = box): HTMLElement => {
    const element = document.createElement(tag);
    element.textContent = content;
    owner.append(element);
    return element;
  };
  const head = add('p', '');
  add('code', title, head);
  add('span', detail, head);
  if (text !== '') add('p', text);
  if (names.length > 0) {
    const list = add('dl', '');
    for (const name of names) {
      add('dt', name.name, list);
      add('dd', name.text === '' ? name.detail : `${name.text} (${name.detail})`, list);
    }
  }
  return box;
}

const matcher = new MatchDecorator({
  regexp: /\{\{[^{}\n]{0,400}\}\}/g,
  decoration: Decoration.mark({ class: 'cm-template' }),
});

/** Marks the templates that are visible. */
const templates = ViewPlugin.define(
  (view) => ({
    decorations: matcher.createDeco(view),
    update(update: ViewUpdate) {
      this.decorations = matcher.updateDeco(update, this.decorations);
    },
  }),
  { decorations: (plugin) => plugin.decorations },
);
