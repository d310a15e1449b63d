import { validate } from '../generated/plan-validator.js';
import { PLAN_FIELDS, SUB_PIPELINE_FIELDS } from './fields.js';
import type { Shape } from './structure.js';

/** What a plan must look like (Plan, D44). */
export const PLAN_SHAPE: Shape = {
  validate,
  name: 'the plan',
  parts: 'sub_pipelines',
  part: 'sub-pipeline',
  fieldsAt: ([first]) => (first === 'sub_pipelines' ? SUB_PIPELINE_FIELDS : PLAN_FIELDS),
  idHint:
    'an id is letters, digits, _ and -, up to 128 of them, and starts with a letter or _; a plan may have dots in its own',
  keyLists: {
    reads: '',
    stores: '',
    inputs: ', a list of the plan\'s inputs; values go under the plan\'s own "inputs"',
  },
};
