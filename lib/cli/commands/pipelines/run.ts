import { Option } from 'clipanion';
import type { WavetrainClient } from '../../../client/client.js';
import { errorCode, errorMessage } from '../../../common/errors.js';
import type { ExitStatus } from '../../exit-status.js';
import { readValues } from '../../input/load-definition.js';
import {
  BREAK_BEFORE_OPTION,
  BREAK_ON_FAILURE_OPTION,
  flagOption,
  FULL_OPTION,
  listOption,
  RunValuesCommand,
  SERVER_OPTION,
  textOption,
  VERBOSE_OPTION,
} from '../../input/shared-options.js';
import { UsageError } from '../../input/usage-errors.js';
import { PROGRAM } from '../../package-info.js';
import { serverFlag } from '../../render/run-summary.js';
import { assertFlagsFit, describeParams, type FlagValues, readRunValues } from '../../run/submission.js';
import { showAccepted } from '../../runs/submit.js';
import { callNamed, NAMED_TENANT_OPTION, NAMED_ID } from './named-pipeline.js';

export class PipelinesRunCommand extends RunValuesCommand {
  static override paths = [['pipelines', 'run']];
  static override usage = RunValuesCommand.Usage({
    description: 'runs a pipeline or plan in the folder of a server and prints the run id',
    details: `
      The server runs the last version of the file that has no errors. With --watch the command shows the run until it settles,
      and exits with its status; Ctrl-C stops watching, and the run continues. If the server requires an API key, set
      WAVETRAIN_API_KEY.

      wavetrain runs submit FILE runs a file that only this machine has.
    `,
    examples: [
      ['with its defaults', '$0 pipelines run nightly'],
      ['with a param, and watch it', '$0 pipelines run nightly -p city=Oslo --watch'],
    ],
  });

  id = Option.String(NAMED_ID);
  breakBefore = listOption`--break-before ${BREAK_BEFORE_OPTION}`;
  breakOnFailure = flagOption`--break-on-failure ${BREAK_ON_FAILURE_OPTION}`;
  tenant = textOption`--tenant ${NAMED_TENANT_OPTION}`;
  server = textOption`--server ${SERVER_OPTION}`;
  watch = flagOption`--watch watch the run, like runs watch`;
  json = flagOption`--json print the accepted run as one JSON document; with --watch, print the outputs`;
  verbose = flagOption`--verbose with --watch: ${VERBOSE_OPTION}`;
  full = flagOption`--full with --watch: ${FULL_OPTION}`;
  quiet = flagOption`--quiet with --watch: show no progress`;

  override async execute(): Promise<ExitStatus> {
    const { context, id } = this;
    const values = await readRunValues(this, context);
    const { inputs, session } = await readValues(this, context);
    return callNamed(this, 'run', context, async (client) => {
      const { params, ...others } = values;
      const options = { ...others, ...(inputs && { inputs }), ...(session && { session }) };
      const accepted = await client.pipelines
        .submit(id, params, { ...options, tenant_id: this.tenant, idempotencyKey: context.newId() })
        .catch(async (error: unknown) => {
          throw await explainValues(error, this, values, client);
        });
      return showAccepted(accepted, this, client, context);
    });
  }
}

/** Says of values that the server has refused which ones the definition takes, and how they are passed (D40). */
async function explainValues(
  error: unknown,
  { id, tenant, server }: Pick<PipelinesRunCommand, 'id' | 'tenant' | 'server'>,
  values: FlagValues,
  client: WavetrainClient,
): Promise<unknown> {
  if (!['invalid_params', 'invalid_request'].includes(errorCode(error) ?? '')) return error;
  const named = await client.pipelines.get(id, { tenant_id: tenant });
  assertFlagsFit(named.kind, values);
  if (Object.keys(named.params).length === 0) return error;
  const command = `${PROGRAM} pipelines run ${id}${serverFlag(server)}`;
  return new UsageError(errorMessage(error), describeParams(named.params, values.params ?? {}, command));
}
