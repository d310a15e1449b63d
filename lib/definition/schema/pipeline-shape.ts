import { validate } from '../generated/pipeline-validator.js';
import { PARAM_FIELDS, PIPELINE_FIELDS, TASK_FIELDS } from './fields.js';
import type { Path } from '../problem.js';
import type { Shape } from './structure.js';

/** What a pipeline must look like (Pipeline definition, D1-D4). */
export const PIPELINE_SHAPE: Shape = {
  validate,
  name: 'the pipeline',
  parts: 'tasks',
  part: 'task',
  fieldsAt,
  idHint:
    'an id is letters, digits, _ and -, up to 128 of them, and starts with a letter or _; a pipeline may have dots in its own',
  keyLists: { reads: '', await: '' },
};

function fieldsAt(path: Path): readonly string[] {
  if (path[0] === 'tasks') return TASK_FIELDS;
  return path[0] === 'params' ? PARAM_FIELDS : PIPELINE_FIELDS;
}
