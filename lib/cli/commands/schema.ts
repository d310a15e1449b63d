import { Command } from 'clipanion';
import type { CliContext } from '../context.js';

export class SchemaPipelineCommand extends Command<CliContext> {
  static override paths = [['schema', 'pipeline']];
  static override usage = Command.Usage({
    description: 'prints the JSON Schema of pipeline files, for editors',
    details: `
      Editors that speak the YAML language server complete and check pipeline files that begin with
      "# yaml-language-server: $schema=pipeline.schema.json". init sets this up.
    `,
    examples: [['keep it beside your pipelines', '$0 schema pipeline > pipeline.schema.json']],
  });

  override async execute(): Promise<void> {
    const { pipelineSchemaText } = await import('../render/schema-text.js');
    this.context.stdout.write(pipelineSchemaText());
  }
}

export class SchemaPlanCommand extends Command<CliContext> {
  static override paths = [['schema', 'plan']];
  static override usage = Command.Usage({
    description: 'prints the JSON Schema of plan files, for editors',
    details: `
      Editors that speak the YAML language server complete and check plan files that begin with
      "# yaml-language-server: $schema=plan.schema.json".
    `,
    examples: [['keep it beside your plans', '$0 schema plan > plan.schema.json']],
  });

  override async execute(): Promise<void> {
    const { planSchemaText } = await import('../render/schema-text.js');
    this.context.stdout.write(planSchemaText());
  }
}
