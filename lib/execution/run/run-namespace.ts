import type { RunStatus } from '../../../machines/types.js';
import type { FailedTask } from '../../common/errors.js';
import type { JsonObject } from '../../common/json/json.js';
import { nameCall } from '../../common/text.js';
import type { RunTrigger, StartedBy } from '../../common/wire/started-by.js';

/** The run that was submitted, as templates of all of its tasks see it. */
export interface RootRun {
  readonly id: string;
  readonly trigger: RunTrigger | null;
  readonly startedBy: StartedBy;
}

/** How the tasks of a run have ended, as its handlers see it. */
export interface EndOfTasks {
  readonly status: RunStatus;
  readonly error: string | null;
  readonly errorCode: string | null;
  readonly failedTask: FailedTask | null;
}

/**
 * Returns the namespace `run` of templates (D80). A member without a value is null, so that a run by hand has all that a
 * scheduled one has.
 *
 * @param end undefined before handlers run
 */
export function createRunNamespace(
  { id, trigger, startedBy }: RootRun,
  url: string | null,
  end: EndOfTasks | undefined,
): JsonObject {
  const namespace: JsonObject = {
    id,
    url,
    started_by: { kind: startedBy.kind, name: startedBy.name },
    trigger,
    scheduled_for: null,
    answer_url: null,
  };
  if (end === undefined) return Object.freeze(namespace);
  const { status, error, errorCode, failedTask } = end;
  return Object.freeze({
    ...namespace,
    status,
    error,
    error_code: errorCode,
    failed_task: failedTask && nameCall(failedTask),
  });
}
