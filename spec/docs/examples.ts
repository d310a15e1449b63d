import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunInputs } from '../../lib/execution/run-inputs.js';
import type { RunOutcome } from '../../lib/execution/result.js';
import type { TaskFailure } from '../../lib/errors.js';
import type { RunStatus } from '../../machines/vocabulary.js';
import { filesBelow, read, ROOT } from './project.js';

/** `NAME.expected.json`: what the run of `NAME.yaml` is given, and how it ends. */
export interface Expectation {
  readonly given: Pick<RunInputs, 'params' | 'inputs' | 'session' | 'options'> & {
    /** Files of tools, beside the pipeline. */
    readonly tools?: readonly string[];
  };
  readonly status: RunStatus;
  /** Null unless succeeded. */
  readonly result: RunOutcome | null;
  readonly failures: readonly TaskFailure[];
}

export interface Example {
  /** Path of the pipeline, from the root. */
  readonly path: string;
  readonly folder: string;
  readonly expectation: Expectation;
  /** The command that its first comment shows. */
  readonly command: string;
}

const ENDING = '.expected.json';

/** Every example with an expected result, in order. */
export function examples(): Example[] {
  return filesBelow('examples', ENDING).map((expected) => {
    const path = `${expected.slice(0, -ENDING.length)}.yaml`;
    const expectation: Expectation = JSON.parse(read(expected));
    return { path, folder: join(ROOT, dirname(path)), expectation, command: commandIn(path) };
  });
}

/** The command in the comment that a file begins with; empty when there is none. */
export function commandIn(path: string): string {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
  const comment = lines.slice(
    0,
    lines.findIndex((line) => !/^(#|\/\/)/.test(line)),
  );
  return comment.map((line) => /^(?:#|\/\/) +(npx .*)$/.exec(line)?.[1]).find(Boolean) ?? '';
}
