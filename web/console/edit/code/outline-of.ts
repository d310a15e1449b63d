import { yamlLanguage } from '@codemirror/lang-yaml';
import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import { EMPTY_OUTLINE, type Outline, type OutlinePart, readOutline } from '../model/outline.js';
import { readYaml } from '../model/yaml-tree.js';

/** A longer text is neither completed nor explained nor outlined: it would be felt while typing. */
export const MOST_ANALYSED = 256 * 1024;

/** Outlines by text, so that several readers of one state share the work. */
let last:
  | { readonly doc: EditorState['doc']; readonly length: number; readonly outline: Outline }
  | undefined;

/** Returns the outline of a text, as far as it has been parsed: parsing goes on while nobody types. */
export function outlineOf(state: EditorState): Outline {
  if (state.doc.length > MOST_ANALYSED) return EMPTY_OUTLINE;
  const tree = syntaxTree(state);
  if (last?.doc === state.doc && last.length === tree.length) return last.outline;
  const outline = readOutline(readYaml(tree, (from, to) => state.sliceDoc(from, to)));
  last = { doc: state.doc, length: tree.length, outline };
  return outline;
}

/** Finds a task or a sub-pipeline, also behind the part of a long text that has been parsed so far. */
export function findPart(state: EditorState, id: string): OutlinePart | undefined {
  const hasId = (part: OutlinePart): boolean => part.id === id;
  return outlineOf(state).parts.find(hasId) ?? outlineOfText(state.sliceDoc(0)).parts.find(hasId);
}

/** Returns the outline of a text that is not in an editor. */
export function outlineOfText(text: string): Outline {
  if (text.length > MOST_ANALYSED) return EMPTY_OUTLINE;
  return readOutline(readYaml(yamlLanguage.parser.parse(text), (from, to) => text.slice(from, to)));
}
