import { Command } from 'clipanion';
import type { CliContext } from '../context.js';
import { readConfig } from '../../common/config/config.js';
import { readPools } from '../../common/config/pool-config.js';
import { CatalogCommand } from '../input/shared-options.js';
import { readEnvFile } from '../input/flags.js';
import { loadCatalog } from '../input/load-definition.js';

type Schemas = typeof import('../../definition/schema/json-schema.js');

/** Prints a JSON Schema that knows the tools: the built-in ones, those of SERVICE_TOOLS and those of `--tools` (D43). */
abstract class SchemaCommand extends CatalogCommand {
  protected async print(kind: 'pipelineJsonSchema' | 'planJsonSchema'): Promise<void> {
    const { context } = this;
    await readEnvFile(this.envFile, context);
    const catalog = await loadCatalog(this.tools, readConfig(context.env), context, { file: this.mcp });
    const schemas: Schemas = await import('../../definition/schema/json-schema.js');
    const pools = readPools(context.env)?.keys();
    const schema = schemas[kind]((pools === undefined ? catalog : catalog.withPools(pools)).taskNames());
    context.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
  }
}

export class SchemaPipelineCommand extends SchemaCommand {
  static override paths = [['schema', 'pipeline']];
  static override usage = CatalogCommand.Usage({
    description: 'prints the JSON Schema of pipeline files, for editors',
    details: `
      Save it beside your pipelines. Editors with a YAML language server then complete and check each file that begins
      with "# yaml-language-server: $schema=pipeline.schema.json": its fields, the names of the tools, and their inputs.
      The init command sets this up.

      The schema knows the built-in tools and those of --tools, and the pools of SERVICE_POOLS: print it again when you
      have changed them.
    `,
    examples: [
      ['save it beside your pipelines', '$0 schema pipeline > pipeline.schema.json'],
      ['with your own tools', '$0 schema pipeline --tools tools.ts > pipeline.schema.json'],
      ['list the fields of a pipeline', '$0 schema pipeline | jq .definitions.pipeline.properties'],
    ],
  });

  override async execute(): Promise<void> {
    await this.print('pipelineJsonSchema');
  }
}

export class SchemaPlanCommand extends SchemaCommand {
  static override paths = [['schema', 'plan']];
  static override usage = CatalogCommand.Usage({
    description: 'prints the JSON Schema of plan files, for editors',
    details: `
      Save it beside your plans. Editors with a YAML language server then complete and check each file that begins
      with "# yaml-language-server: $schema=plan.schema.json".

      The schema knows the built-in tools and those of --tools, for the pipelines that are written in the plan.
    `,
    examples: [
      ['save it beside your plans', '$0 schema plan > plan.schema.json'],
      ['list the fields of a plan', '$0 schema plan | jq .definitions.plan.properties'],
    ],
  });

  override async execute(): Promise<void> {
    await this.print('planJsonSchema');
  }
}

export class SchemaTestCommand extends Command<CliContext> {
  static override paths = [['schema', 'test']];
  static override usage = Command.Usage({
    description: 'prints the JSON Schema of files of tests, for editors',
    details: `
      Save it beside your tests. Editors with a YAML language server then complete and check each file that begins
      with "# yaml-language-server: $schema=test.schema.json".
    `,
    examples: [['save it beside your tests', '$0 schema test > test.schema.json']],
  });

  override async execute(): Promise<void> {
    const { testJsonSchema } = await import('../../definition/schema/json-schema.js');
    this.context.stdout.write(`${JSON.stringify(testJsonSchema(), null, 2)}\n`);
  }
}
