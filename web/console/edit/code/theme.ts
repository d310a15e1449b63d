import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The colours are those of the page, in its light and its dark scheme. */
const look = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', backgroundColor: 'var(--panel)', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 14px 0 8px' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selected)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--raised) 60%, transparent)' },
  '.cm-gutters': {
    backgroundColor: 'var(--panel)',
    color: 'var(--soft)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLineGutter': { backgroundColor: 'var(--raised)', color: 'var(--text)' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '34px', padding: '0 8px 0 6px' },
  '.cm-foldPlaceholder': {
    padding: '0 6px',
    border: '1px solid var(--line-strong)',
    backgroundColor: 'var(--raised)',
    color: 'var(--soft)',
  },
  '.cm-template, .cm-template span': { color: 'var(--accent)', fontWeight: '600' },
  '.cm-task-selected': { backgroundColor: 'var(--own)', boxShadow: 'inset 2px 0 0 var(--accent)' },
  '.cm-lintRange': { backgroundImage: 'none', textDecorationSkipInk: 'none' },
  '.cm-lintRange-error': { textDecoration: 'underline wavy 1.2px var(--failed)', textUnderlineOffset: '3px' },
  '.cm-lintRange-warning': {
    textDecoration: 'underline wavy 1.2px var(--paused)',
    textUnderlineOffset: '3px',
  },
  '.cm-lintPoint': { position: 'relative' },
  '.cm-lint-marker': { width: '10px', height: '10px' },
  '.cm-lint-marker-error': { content: 'none', borderRadius: '2px', backgroundColor: 'var(--failed)' },
  '.cm-lint-marker-warning': { content: 'none', borderRadius: '50%', backgroundColor: 'var(--paused)' },
  '.cm-gutter-lint': { width: '14px' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '5px 2px 0' },
  '.cm-tooltip': {
    maxWidth: 'min(440px, 90vw)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    backgroundColor: 'var(--panel)',
    color: 'var(--text)',
    boxShadow: '0 6px 20px rgb(10 20 40 / 18%)',
    font: '13px / 1.45 var(--sans)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { maxHeight: '16em', font: '12.5px / 1.4 var(--mono)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { display: 'flex', gap: '10px', padding: '3px 10px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--selected)',
    color: 'var(--text)',
  },
  '.cm-completionMatchedText': { color: 'var(--accent)', fontWeight: '700', textDecoration: 'none' },
  '.cm-completionDetail': {
    marginLeft: 'auto',
    color: 'var(--soft)',
    font: '12px / 1.45 var(--sans)',
    fontStyle: 'normal',
  },
  '.cm-tooltip.cm-completionInfo': { padding: '8px 10px', maxWidth: '320px' },
  '.cm-diagnostic': { padding: '6px 10px', borderLeft: '3px solid var(--failed)', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--paused)' },
  '.cm-diagnosticAction': {
    margin: '0 0 0 8px',
    padding: '1px 8px',
    border: '1px solid var(--line-strong)',
    borderRadius: '5px',
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    font: 'inherit',
  },
  '.cm-panels': {
    borderColor: 'var(--line)',
    backgroundColor: 'var(--panel)',
    color: 'var(--text)',
    font: '13px var(--sans)',
  },
  '.cm-textfield, .cm-button': {
    border: '1px solid var(--line-strong)',
    borderRadius: '5px',
    backgroundColor: 'var(--panel)',
    backgroundImage: 'none',
    color: 'var(--text)',
  },
  '.cm-panel.cm-search': { padding: '6px 28px 6px 8px' },
  '.cm-panel.cm-search input, .cm-panel.cm-search button, .cm-panel.cm-search label': {
    fontSize: '13px',
    verticalAlign: 'middle',
  },
  '.cm-panel.cm-search label': { display: 'inline-flex', alignItems: 'center', gap: '4px' },
  '.cm-panel.cm-search input[type=checkbox]': { margin: '0' },
  '.cm-searchMatch': { backgroundColor: 'var(--paused-back)', outline: '1px solid var(--paused)' },
  '.explanation': { maxHeight: '300px', padding: '8px 11px', overflow: 'auto' },
  '.explanation p': { margin: '0' },
  '.explanation code': { marginRight: '8px', font: '600 12.5px var(--mono)' },
  '.explanation span': { color: 'var(--soft)', fontSize: '12px' },
  '.explanation dl': { margin: '6px 0 0' },
  '.explanation dt': { font: '600 12px var(--mono)' },
  '.explanation dd': { margin: '0 0 4px 10px', color: 'var(--soft)', fontSize: '12px' },
  '.cm-placeholder': { color: 'var(--soft)' },
  '.cm-changedText': { background: 'none', backgroundColor: 'var(--accent-back)' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--failed-back)' },
  '&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine': { backgroundColor: 'var(--done-back)' },
  '&.cm-merge-a .cm-changedText': {
    background: 'none',
    backgroundColor: 'color-mix(in srgb, var(--failed) 22%, transparent)',
  },
  '&.cm-merge-b .cm-changedText': {
    background: 'none',
    backgroundColor: 'color-mix(in srgb, var(--done) 22%, transparent)',
  },
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { display: 'none' },
  '.cm-collapsedLines': { background: 'none', backgroundColor: 'var(--raised)', color: 'var(--soft)' },
});

const colours = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--text)', fontWeight: '600' },
  { tag: [tags.string, tags.content, tags.attributeValue], color: 'var(--string)' },
  { tag: [tags.lineComment, tags.comment], color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace], color: 'var(--soft)' },
  { tag: [tags.labelName, tags.typeName, tags.keyword, tags.meta], color: 'var(--number)' },
]);

/**
 * Adds a box whose styles are its own. CodeMirror writes its styles into the page otherwise, which the page forbids
 * (Content-Security-Policy); in a shadow root it adopts a style sheet.
 */
export function openShadow(parent: HTMLElement): { readonly root: ShadowRoot; readonly close: () => void } {
  const host = document.createElement('div');
  host.className = 'editor-host';
  parent.append(host);
  return { root: host.attachShadow({ mode: 'open' }), close: () => host.remove() };
}

/** How the editor looks. */
export const THEME = [look, syntaxHighlighting(colours)];
