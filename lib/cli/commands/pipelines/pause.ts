import { Option } from 'clipanion';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import { ServerCommand, flagOption, textOption } from '../../input/shared-options.js';
import { PROGRAM } from '../../package-info.js';
import { serverFlag } from '../../render/run-summary.js';
import { printJson } from '../../render/stdout.js';
import { callNamed, NAMED_TENANT_OPTION, NAMED_ID } from './named-pipeline.js';

/** Base of the commands that write into a file of the server whether its schedule rests. */
abstract class PauseCommand extends ServerCommand {
  id = Option.String(NAMED_ID);
  tenant = textOption`--tenant ${NAMED_TENANT_OPTION}`;
  json = flagOption`--json print the file and its version as one JSON document`;

  protected abstract readonly verb: 'pause' | 'resume';
  protected abstract describe(file: string): string;

  override async execute(): Promise<ExitStatus> {
    const { context, id, verb } = this;
    const saved = await callNamed(this, verb, context, (client) =>
      client.pipelines[verb](id, { tenant_id: this.tenant }),
    );
    if (this.json) printJson(saved, context);
    else context.stdout.write(`${this.describe(saved.file)}\n`);
    return EXIT.done;
  }
}

const DETAILS = `
  The server writes it into the file, and changes nothing else there: SERVICE_PIPELINES_WRITABLE=true must allow that, and an API
  key needs the scopes edit and run.
`;

export class PipelinesPauseCommand extends PauseCommand {
  static override paths = [['pipelines', 'pause']];
  static override usage = PauseCommand.Usage({
    description: 'pauses the schedule of a pipeline or plan in the folder of a server',
    details: `${DETAILS}
      Its times start nothing then, and are not missed; requests and webhooks go on.`,
    examples: [['until it is resumed', '$0 pipelines pause nightly']],
  });

  protected override readonly verb = 'pause';

  protected override describe(file: string): string {
    const resume = `${PROGRAM} pipelines resume ${this.id}${serverFlag(this.server)}`;
    return `paused in ${file}: its schedule starts nothing until ${resume}`;
  }
}

export class PipelinesResumeCommand extends PauseCommand {
  static override paths = [['pipelines', 'resume']];
  static override usage = PauseCommand.Usage({
    description: 'resumes the schedule of a pipeline or plan in the folder of a server',
    details: DETAILS,
    examples: [['a schedule that was paused', '$0 pipelines resume nightly']],
  });

  protected override readonly verb = 'resume';

  protected override describe(file: string): string {
    const list = `${PROGRAM} pipelines list${serverFlag(this.server)}`;
    return `resumed in ${file}: ${list} shows when it is due`;
  }
}
