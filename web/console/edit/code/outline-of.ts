import { yamlLanguage } from '@codemirror/lang-yaml';
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { Tree } from '@lezer/common';
import type { EditorState } from '@codemirror/state';
import { EMPTY_OUTLINE, type Outline, type OutlinePart, readOutline } from '../model/outline.js';
import { readYaml } from '../model/yaml-tree.js';

/** A longer text is neither completed nor explained nor outlined: it would be felt while typing. */
export const MOST_ANALYSED = 256 * 1024;

/** Outlines by text, so that several readers of one state share the work. */
let last:
  | { readonly doc: EditorState['doc']; readonly length: number; readonly outline: Outline }
  | undefined;

/**
 * Returns the outline of a text, as far as it has been parsed: a busy browser parses no more than the beginning at once,
 * and goes on while nobody types.
 */
export function outlineOf(state: EditorState): Outline {
  return read(state, syntaxTree(state));
}

/** Returns the outline of the whole text, which is parsed to its end where it was not yet. */
export function wholeOutlineOf(state: EditorState): Outline {
  if (state.doc.length > MOST_ANALYSED) return EMPTY_OUTLINE;
  return read(state, ensureSyntaxTree(state, state.doc.length, Infinity) ?? syntaxTree(state));
}

function read(state: EditorState, tree: Tree): Outline {
  if (state.doc.length > MOST_ANALYSED) return EMPTY_OUTLINE;
  if (last?.doc === state.doc && last.length === tree.length) return last.outline;
  const outline = readOutline(readYaml(tree, (from, to) => state.sliceDoc(from, to)));
  last = { doc: state.doc, length: tree.length, outline };
  return outline;
}

/** Finds a task or a sub-pipeline, also behind the part of a long text that has been parsed so far. */
export function findPart(state: EditorState, id: string): OutlinePart | undefined {
  const { parts, handlers } = wholeOutlineOf(state);
  return [...parts, ...handlers].find((part) => part.id === id);
}

/** Returns the outline of a text that is not in an editor. */
export function outlineOfText(text: string): Outline {
  if (text.length > MOST_ANALYSED) return EMPTY_OUTLINE;
  return readOutline(readYaml(yamlLanguage.parser.parse(text), (from, to) => text.slice(from, to)));
}
