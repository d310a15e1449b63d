import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { RunInputs } from '../../../lib/execution/prepare/run-inputs.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { filesBelow, read, ROOT } from '../files.js';

/** `NAME.expected.json`: the inputs and the expected end of the run of `NAME.yaml`. */
export interface Expectation
  extends Pick<RunRecord, 'status' | 'result' | 'failures' | 'handlers' | 'handler_failures'> {
  readonly given: Pick<RunInputs, 'params' | 'inputs' | 'session' | 'options'> & {
    /** Tool files in the folder of the pipeline. */
    readonly tools?: readonly string[];
    /** The places of pools, as SERVICE_POOLS sets them in the command. */
    readonly pools?: Readonly<Record<string, number>>;
  };
}

export interface Example {
  /** Path of the pipeline or plan, relative to the root. */
  readonly path: string;
  readonly kind: RunRecord['kind'];
  readonly folder: string;
  readonly expectation: Expectation;
  /** The command in the first comment of the example. */
  readonly command: string;
}

const ENDING = '.expected.json';

/** Lists every example with an expected result, in order. */
export function examples(): Example[] {
  return filesBelow('examples', ENDING).map((expected) => {
    const path = `${expected.slice(0, -ENDING.length)}.yaml`;
    const expectation: Expectation = JSON.parse(read(expected));
    const kind = basename(path) === 'plan.yaml' ? 'plan' : 'pipeline';
    return { path, kind, folder: join(ROOT, dirname(path)), expectation, command: commandIn(path) };
  });
}

/** Reads the command in the first comment of a file; empty when there is none. */
export function commandIn(path: string): string {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
  const comment = lines.slice(
    0,
    lines.findIndex((line) => !/^(#|\/\/)/.test(line)),
  );
  return comment.map((line) => /^(?:#|\/\/) +((?:\w+=\S+ )*npx .*)$/.exec(line)?.[1]).find(Boolean) ?? '';
}
