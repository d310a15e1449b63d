import { yaml } from '@codemirror/lang-yaml';
import { MergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { openShadow, THEME } from './theme.js';

interface Compared {
  readonly parent: HTMLElement;
  readonly before: { readonly label: string; readonly text: string };
  readonly after: { readonly label: string; readonly text: string };
}

/** A longer difference is not looked for within the lines: it would be felt. */
const SCAN_LIMIT = 500;

/** Shows two texts beside each other, with what differs. Returns a function that takes the view away. */
export function showDiff({ parent, before, after }: Compared): () => void {
  const shadow = openShadow(parent);
  const view = new MergeView({
    parent: shadow.root,
    root: shadow.root,
    a: { doc: before.text, extensions: readOnly(before.label) },
    b: { doc: after.text, extensions: readOnly(after.label) },
    gutter: false,
    highlightChanges: true,
    collapseUnchanged: { margin: 3, minSize: 6 },
    diffConfig: { scanLimit: SCAN_LIMIT, timeout: 80 },
  });
  return () => {
    view.destroy();
    shadow.close();
  };
}

function readOnly(label: string): Extension {
  return [
    lineNumbers(),
    yaml(),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    THEME,
  ];
}
