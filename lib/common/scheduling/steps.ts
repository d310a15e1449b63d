/**
 * Work in steps, of which each takes less than a millisecond. It may pause wherever it yields, so that a server can do
 * other work in between; the command line and the library do all steps at once.
 */
export type Steps<T> = Generator<undefined, T, unknown>;

/** Steps that may ask for something: after one that yields a question, the next one is given the answer. */
export type AskingSteps<T, Question, Answer> = Generator<Question | undefined, T, Answer | undefined>;

/** Does the steps of long work for a tenant, perhaps with pauses. Rejects with what they throw. */
export type RunSteps = <T>(steps: Steps<T>, tenantId: string) => Promise<T>;

/** Counts the work of one step, in any unit, to say when the step has done enough. */
export class StepCounter {
  readonly #enough: number;
  #done = 0;

  constructor(enough: number) {
    this.#enough = enough;
  }

  add(work: number): void {
    this.#done += work;
  }

  /** Returns true when the step has done enough, and begins to count the next one. */
  isOver(): boolean {
    if (this.#done < this.#enough) return false;
    this.#done = 0;
    return true;
  }
}

/** Does all steps, without a pause. */
export function runToEnd<T, Q = never, A = never>(
  steps: AskingSteps<T, Q, A>,
  answer?: (question: Q) => A,
): T {
  let step = steps.next();
  while (step.done !== true) {
    step = steps.next(step.value === undefined ? undefined : answer?.(step.value));
  }
  return step.value;
}

/**
 * Does all steps, with pauses between them. Rejects with what the steps throw, and as `pause` and `answer` do.
 *
 * @param pause resolves when the next step may begin; undefined when it may begin now
 */
export async function runWithPauses<T, Q = never, A = never>(
  steps: AskingSteps<T, Q, A>,
  pause: () => Promise<void> | undefined,
  answer?: (question: Q) => Promise<A>,
): Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    const answered = step.value === undefined ? undefined : await answer?.(step.value);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
    step = steps.next(answered);
  }
  return step.value;
}
