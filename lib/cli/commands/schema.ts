import { Command } from 'clipanion';
import type { CliContext } from '../context.js';

export class SchemaPipelineCommand extends Command<CliContext> {
  static override paths = [['schema', 'pipeline']];
  static override usage = Command.Usage({
    description: 'prints the JSON Schema of pipeline files, for editors',
    details: `
      Save it beside your pipelines. Editors with a YAML language server then complete and check each file that begins
      with "# yaml-language-server: $schema=pipeline.schema.json". The init command sets this up.
    `,
    examples: [
      ['save it beside your pipelines', '$0 schema pipeline > pipeline.schema.json'],
      ['list the fields of a pipeline', '$0 schema pipeline | jq .definitions.pipeline.properties'],
    ],
  });

  override async execute(): Promise<void> {
    const { pipelineJsonSchema } = await import('../lazy/schemas.js');
    this.context.stdout.write(`${JSON.stringify(pipelineJsonSchema(), null, 2)}\n`);
  }
}

export class SchemaPlanCommand extends Command<CliContext> {
  static override paths = [['schema', 'plan']];
  static override usage = Command.Usage({
    description: 'prints the JSON Schema of plan files, for editors',
    details: `
      Save it beside your plans. Editors with a YAML language server then complete and check each file that begins
      with "# yaml-language-server: $schema=plan.schema.json".
    `,
    examples: [
      ['save it beside your plans', '$0 schema plan > plan.schema.json'],
      ['list the fields of a plan', '$0 schema plan | jq .definitions.plan.properties'],
    ],
  });

  override async execute(): Promise<void> {
    const { planJsonSchema } = await import('../lazy/schemas.js');
    this.context.stdout.write(`${JSON.stringify(planJsonSchema(), null, 2)}\n`);
  }
}
