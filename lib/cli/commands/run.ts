import { Command, Option } from 'clipanion';
import { run } from '../run/run.js';
import type { CliContext } from '../context.js';
import { ENV_FILE_OPTION, INPUTS_OPTION, SESSION_OPTION, TOOLS_OPTION } from './shared-options.js';

export class RunCommand extends Command<CliContext> {
  static override paths = [['run']];
  static override usage = Command.Usage({
    description: 'runs a pipeline or a plan and prints its outputs',
    details: `
      Tasks run in waves: all tasks of a wave at once, the next wave when all of them have settled. On a terminal
      their progress is drawn while they run. Outputs and statistics go to standard output, everything else to
      standard error.

      The sub-pipelines of a plan run one after another, each after those whose keys it reads, and are shown with what
      the blackboard holds at the end. A plan reads its pipelines from the files beside it.

      Ctrl-C cancels: the wave at work finishes and nothing further starts. A second Ctrl-C stops at once.

      The exit status is 0 when the run succeeded, 1 for an invalid pipeline or plan, 2 for bad flags or parameters, 3 when
      the run failed and 130 when it was interrupted.
    `,
    examples: [
      ['run a file', '$0 run pipeline.yaml'],
      ['with parameters', `$0 run pipeline.yaml --params '{"city": "Oslo", "days": 3}'`],
      [
        'with inputs from a file, at most 8 items at once',
        '$0 run pipeline.yaml --inputs @inputs.json --concurrency 8',
      ],
      ['only the outputs, for other programs', '$0 run pipeline.yaml --json > outputs.json'],
      ['keep a record of everything that happened', '$0 run pipeline.yaml --events events.jsonl'],
      ['a plan, two of its sub-pipelines at once', '$0 run plan.yaml --plan-concurrency 2'],
      ['with tools of your own', '$0 run pipeline.yaml --tools tools.ts'],
    ],
  });

  file = Option.String({ name: 'FILE' });
  params = Option.String('--params', {
    description:
      '<JSON> values for the typed params of a pipeline, defaults apply to the rest; @FILE reads them from a file',
  });
  inputs = Option.String('--inputs', { description: INPUTS_OPTION });
  session = Option.String('--session', { description: SESSION_OPTION });
  sessionFile = Option.String('--session-file', {
    description: '<FILE> the same from a JSON file; --session wins key by key',
  });
  json = Option.Boolean('--json', false, {
    description:
      'print only the outputs, of a plan its result, as one JSON document; nothing else unless the run fails',
  });
  timeout = Option.String('--timeout', {
    description: '<SECONDS> longest time of one attempt of a tool; default no limit',
  });
  concurrency = Option.String('--concurrency', {
    description: '<N> most items of one fan-out in flight at once; default unlimited',
  });
  planConcurrency = Option.String('--plan-concurrency', {
    description: '<N> most sub-pipelines of a plan at work at once; default what the plan says, or 1',
  });
  jitter = Option.String('--jitter', {
    description: '<FRACTION> random share by which retry delays vary, 0 to 1; default 0',
  });
  retryBaseDelay = Option.String('--retry-base-delay', {
    description: '<SECONDS> delay before the first retry, doubled for each further one; default 0.5',
  });
  maxRetryDelay = Option.String('--max-retry-delay', {
    description: '<SECONDS> no retry waits longer; default 4',
  });
  tools = Option.Array('--tools', { description: TOOLS_OPTION });
  events = Option.String('--events', {
    description:
      '<FILE> write every event there as it happens, one JSON per line; what the file held before is lost',
  });
  tenant = Option.String('--tenant', { description: '<ID> namespace on the blackboard; default "default"' });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });
  verbose = Option.Boolean('--verbose', false, {
    description: 'tell every event in a line on standard error',
  });
  quiet = Option.Boolean('--quiet', false, { description: 'draw no progress and show no warnings' });

  override execute(): Promise<number> {
    return run(this, this.context);
  }
}
