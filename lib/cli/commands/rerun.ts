import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option } from 'clipanion';
import type { FromFailed } from '../../runs/rerun/rerun-start.js';
import type { ExitStatus } from '../exit-status.js';
import { AS_BEFORE, flagOption, ShellRunCommand } from '../input/shared-options.js';
import { executeRun } from '../run/execute-run.js';
import { prepareLocalRerun, type RerunTarget } from '../run/local/local-rerun.js';

/** The value of `--from` that runs everything that has not succeeded. */
const FROM_FAILED: FromFailed = 'failed';
const PART_OF_RUN_ID = /^[0-9a-f-]{4,36}$/i;

export class RerunCommand extends ShellRunCommand {
  static override paths = [['rerun']];
  static override usage = ShellRunCommand.Usage({
    description: 'goes on from where a run of this folder failed or was interrupted, with the fixed file',
    details: `
      Without RUN_ID it takes the newest run that wavetrain run has kept in .wavetrain, or the newest one of FILE. RUN_ID
      is the id of a run, or 4 or more characters of its end or beginning: wavetrain runs list shows them.

      The file is read again, and what has succeeded is reused: tasks whose definition, tool and everything that they
      read are as they were, and the items of a fan-out that have succeeded. Everything else runs: what failed, what was
      stopped, what had not begun, and what depends on it. --from TASK also runs that task and what depends on it.
      A change of a tool file is not noticed: name the task with --from.

      Params, inputs, session values, options, --tools, --mcp, --model and --artifacts are as they were, unless they are
      given. The new run is kept too, so that the next rerun goes on from there. If the file is gone, the definition is as
      it was.

      A run on a server is rerun with wavetrain runs rerun. The exit statuses are those of wavetrain run.
    `,
    examples: [
      ['what has not succeeded in the newest run', '$0 rerun'],
      ['the newest run of a file', '$0 rerun pipeline.yaml'],
      ['a task and its dependents', '$0 rerun --from summary'],
      ['one item of a fan-out, and what depends on it', `$0 rerun --from 'fetch[22]'`],
      ['an older run, with another param', `$0 rerun 3f9c1a --params '{"city": "Oslo"}'`],
    ],
  });

  first = Option.String({ name: 'RUN_ID', required: false });
  second = Option.String({ name: 'FILE', required: false });
  from = Option.String('--from', FROM_FAILED, {
    description:
      '<NAME> what runs again: "failed", only what has not succeeded (the default), or a task (of a plan, a sub-pipeline, or SUB_PIPELINE/TASK), or items of one, as in \'fetch[22]\', with everything that depends on it',
  });
  yes = flagOption`--yes make calls again that had succeeded without a question`;

  protected override unlessGiven(_inNewRun: string, inRerun: string = AS_BEFORE): string {
    return inRerun;
  }

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    return executeRun(() => prepareLocalRerun(this, this.#readTarget(), context), this, context);
  }

  /** One word is the id of a run if it looks like one, and there is no file of that name. */
  #readTarget(): RerunTarget {
    const { first, second, context } = this;
    const isId = (word: string): boolean =>
      PART_OF_RUN_ID.test(word) && !existsSync(resolve(context.cwd, word));
    if (first === undefined) return { runId: undefined, file: '' };
    if (second !== undefined) return { runId: first, file: second };
    return isId(first) ? { runId: first, file: '' } : { runId: undefined, file: first };
  }
}
