import { isObject } from '../../common/json.js';

/** Fields that belong into other requests, and what to do about them. */

const PLANS_ELSEWHERE = 'plans go to /plans/run, /plans/run_async and /plans/validate';

/** Of requests with a pipeline. */
export const PLANS_GO_ELSEWHERE = {
  plan: PLANS_ELSEWHERE,
  pipelines: PLANS_ELSEWHERE,
  plan_concurrency: PLANS_ELSEWHERE,
};

/** Of requests with a plan. */
export const PIPELINES_GO_ELSEWHERE = {
  pipeline:
    'pipelines go to /pipelines/run, /pipelines/run_async and /pipelines/validate; those of a plan into "pipelines"',
  params: 'a plan has no params: give values in "inputs", and defaults to the params of its pipelines',
};

/** A sentence about a field of a body that belongs elsewhere; undefined when none does. */
export function misplacedIn(
  body: unknown,
  misplaced: Readonly<Record<string, string>> = {},
): string | undefined {
  const found = Object.keys(misplaced).find((field) => isObject(body) && Object.hasOwn(body, field));
  return found && `there is no field "${found}" here: ${misplaced[found]}`;
}
