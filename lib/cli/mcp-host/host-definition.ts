import { Readable } from 'node:stream';
import { resolve } from 'node:path';
import { readConfig } from '../../common/config/config.js';
import { WavetrainError } from '../../common/errors.js';
import type { Json, JsonObject } from '../../common/json/json.js';
import type { Catalog } from '../../tools/catalog.js';
import type { CliContext } from '../context.js';
import { type LoadedDefinition, loadDefinition } from '../input/load-definition.js';
import { STANDARD_INPUT } from '../input/read-file.js';

export const DEFINITION_INPUTS = {
  file: {
    type: 'string',
    minLength: 1,
    description:
      'path of a YAML or JSON file with a pipeline or a plan, in the working directory; or give `pipeline`',
  },
  pipeline: {
    description: 'the definition itself, of a pipeline or a plan: YAML or JSON as text, or an object',
  },
  inputs: { type: 'object', description: 'inputs of the pipeline or plan, which override its defaults' },
  session: { type: 'object', description: 'session values, which templates read as {{session.KEY}}' },
} as const;

interface HostDefinition {
  readonly file?: string;
  readonly pipeline?: Json;
  readonly inputs?: JsonObject;
  readonly session?: JsonObject;
}

/**
 * Reads and checks the definition of a call. A file must be in the working directory or a folder of SERVICE_FILE_ROOTS:
 * the model of a host chooses it. Rejects with `bad_usage`, `unreadable_file` or `bad_tool_file`.
 */
export async function loadHostDefinition(
  { file, pipeline, inputs, session }: HostDefinition,
  catalog: Catalog,
  context: CliContext,
  complete: boolean,
): Promise<LoadedDefinition> {
  if ((file === undefined) === (pipeline === undefined)) {
    throw new WavetrainError('bad_usage', 'give either "file" or "pipeline"');
  }
  const values = {
    ...(inputs !== undefined && { inputs: JSON.stringify(inputs) }),
    ...(session !== undefined && { session: JSON.stringify(session) }),
  };
  const opened: CliContext = { ...context, openCatalog: async () => catalog, env: withoutTools(context.env) };
  if (file !== undefined)
    return await loadDefinition({ ...values, file: await findFile(file, context) }, opened, complete);
  const text = typeof pipeline === 'string' ? pipeline : JSON.stringify(pipeline);
  const stdin = Readable.from([Buffer.from(text)]);
  return await loadDefinition({ ...values, file: STANDARD_INPUT }, { ...opened, stdin }, complete);
}

/** The catalog has these tools already. */
function withoutTools(env: CliContext['env']): CliContext['env'] {
  const { SERVICE_TOOLS: _tools, SERVICE_MCP_FILE: _mcp, ...others } = env;
  return others;
}

async function findFile(file: string, { cwd, env }: CliContext): Promise<string> {
  const { fileAccess } = await import('../lazy/execution.js');
  const roots = [cwd, ...readConfig(env).fileRoots.map((root) => resolve(cwd, root))];
  const { path } = await fileAccess(roots).read(file);
  return path;
}
