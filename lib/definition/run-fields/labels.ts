import { isObject } from '../../common/json/json.js';
import { LABEL_LIMITS } from '../../common/limits.js';
import type { Findings } from '../problems/diagnostic.js';

/** The name of a label: no colon, which ends the name in a filter (D76). */
export const LABEL_NAME = `^[A-Za-z0-9_][A-Za-z0-9_.-]{0,${LABEL_LIMITS.nameLength - 1}}$`;

/** The value of a label: no control characters. */
export const LABEL_VALUE = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`;

/** Braces as they open a template; after a backslash they are text (D14). */
const TEMPLATE = /(?<!\\)\{\{/;

const HINT = 'labels in a definition are written out; whoever submits a run may give it others, which win';

/** Warns of templates in the values of labels, which stay text (D76). */
export function* checkLabels(definition: unknown): Findings {
  const labels = isObject(definition) ? definition['labels'] : undefined;
  if (!isObject(labels)) return;
  for (const [name, value] of Object.entries(labels)) {
    if (typeof value !== 'string' || !TEMPLATE.test(value)) continue;
    yield {
      code: 'template_in_label',
      severity: 'warning',
      message: `the template in the label "${name}" stays text`,
      path: ['labels', name],
      at: value.search(TEMPLATE),
      hint: HINT,
    };
  }
}
