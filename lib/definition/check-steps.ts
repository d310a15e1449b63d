import { assertDefined } from './assert.js';
import { type DefinitionInput, readSource, readValue, type Source } from './text/source.js';

/**
 * The steps of a check, each short. A step that yields a text goes on with the source of that text, since parsing cannot
 * pause: a server parses long texts in another process. After any other step, the check may pause.
 */
export type CheckSteps<T> = Generator<string | undefined, T, Source | undefined>;

/** Does all steps in this process, without a pause. */
export function checkToEnd<T>(steps: CheckSteps<T>): T {
  let step = steps.next();
  while (step.done !== true) {
    step = steps.next(step.value === undefined ? undefined : readSource(step.value));
  }
  return step.value;
}

/** Parses a text, or wraps an object. */
export function* readInput(input: DefinitionInput): CheckSteps<Source> {
  return 'text' in input ? yield* requestSource(input.text) : yield* readValue(input.value);
}

export function* requestSource(text: string): CheckSteps<Source> {
  return assertDefined(yield text, 'the source of a text');
}
