import type { Diagnostic } from '../../definition/problems/diagnostic.js';
import type { Path } from '../../definition/problems/problem.js';
import type { DraftTask, PipelineDraft } from '../draft.js';

/** A path in single braces, with or without a `$`: `{item.name}`, `${a.output}`. */
const IN_BRACES =
  /(?<![{\\])\{[ \t]{0,10}([A-Za-z_][\w-]{0,127})((?:\.[\w-]{1,127}|\[\d{1,9}\]){0,20})[ \t]{0,10}\}(?!\})/g;

/** A block of Jinja or Liquid. */
const BLOCK = /\{%-?[ \t]{0,10}(?:for|if|elif|else|endif|endfor|set)\b/;

/** Longer texts are data, and most of them are no templates. */
const MAX_LENGTH = 20_000;

/**
 * Warns of a text that looks like a template of another product (D9). Single braces are text, so only those are reported
 * in which something is named that the pipeline has.
 */
export function* findStrayBraces(
  text: string,
  path: Path,
  task: DraftTask,
  draft: PipelineDraft,
): Generator<Diagnostic> {
  if (text.length > MAX_LENGTH || !text.includes('{')) return;
  const severity = 'warning';
  const code = 'stray_braces';
  for (const [source, root = '', rest = ''] of text.matchAll(IN_BRACES)) {
    if (!isKnown(root, rest, task, draft)) continue;
    const message = `${source} stays text: a template has two braces`;
    const hint = `write {{${root}${rest.replace(/^\.outputs\b/, '.output')}}}`;
    return yield { code, severity, message, path, hint };
  }
  const [block] = BLOCK.exec(text) ?? [];
  if (block === undefined) return;
  const hint = 'templates have no conditions and no loops; compute with the transform tool';
  yield { code, severity, message: `"${block}" stays text`, path, hint };
}

function isKnown(root: string, rest: string, task: DraftTask, draft: PipelineDraft): boolean {
  if (root === 'item') return task.fansOut;
  if (root === 'params') return draft.paramNames.has(rest.slice(1));
  if (root === 'session' || root === 'secrets') return rest !== '';
  if (root === 'pipeline') return /^\.(?:inputs\.|goal$)/.test(rest);
  return draft.taskIds.has(root) && /^\.outputs?\b/.test(rest);
}
