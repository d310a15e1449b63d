import { assertDefined } from './assert.js';
import { type AskingSteps, runToEnd } from '../common/scheduling/steps.js';
import { type DefinitionInput, readSource, readValue, type Source } from './text/source.js';

/** The steps of a check. They ask for the source of a text, since parsing cannot pause: a server does it elsewhere. */
export type CheckSteps<T> = AskingSteps<T, string, Source>;

/** Does all steps in this process, without a pause. */
export function checkToEnd<T>(steps: CheckSteps<T>): T {
  return runToEnd(steps, readSource);
}

/** Parses a text, or wraps an object. */
export function* readInput(input: DefinitionInput): CheckSteps<Source> {
  return 'text' in input ? yield* requestSource(input.text) : yield* readValue(input.value);
}

export function* requestSource(text: string): CheckSteps<Source> {
  return assertDefined(yield text, 'the source of a text');
}
