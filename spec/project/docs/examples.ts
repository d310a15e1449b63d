import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { RunInputs } from '../../../lib/execution/run-inputs.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { filesBelow, read, ROOT } from '../files.js';

/** `NAME.expected.json`: what the run of `NAME.yaml` is given, and how it ends. A result is of the kind of the run. */
export interface Expectation extends Pick<RunRecord, 'status' | 'result' | 'failures'> {
  readonly given: Pick<RunInputs, 'params' | 'inputs' | 'session' | 'options'> & {
    /** Files of tools, beside the pipeline. */
    readonly tools?: readonly string[];
  };
}

export interface Example {
  /** Path of the pipeline or plan, from the root. */
  readonly path: string;
  readonly kind: RunRecord['kind'];
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
    const kind = basename(path) === 'plan.yaml' ? 'plan' : 'pipeline';
    return { path, kind, folder: join(ROOT, dirname(path)), expectation, command: commandIn(path) };
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
