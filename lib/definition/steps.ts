/**
 * Work in steps, of which each takes less than a millisecond. It may pause wherever it yields, so that a server can do
 * other work in between; the command line and the library do all steps at once.
 */
export type Steps<T> = Generator<undefined, T, unknown>;

/** Does all steps, without a pause. */
export function runToEnd<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}
