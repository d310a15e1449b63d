import { COMPILE_LIMITS } from '../../common/limits.js';
import { readModelConfig } from '../../common/config/model-config.js';
import type { CompilePromptOptions } from '../../compile/compile.js';
import type { Catalog } from '../../tools/catalog.js';
import type { CliContext } from '../context.js';
import { createReportOf } from '../input/load-definition.js';
import { DEFINITION_INPUTS, loadHostDefinition } from './host-definition.js';
import type { HostRuns } from './host-runs.js';
import { type HostAnswer, type ServedTool, serveTool } from './served-tool.js';
import { describeEnd, showTools, showRuns, toData } from './views.js';

/** The tools that `wavetrain mcp` offers to MCP hosts. */
export function hostTools(
  context: CliContext,
  runs: HostRuns,
  openCatalog: () => Promise<Catalog>,
): ServedTool[] {
  return [
    serveTool({
      name: 'validate',
      title: 'Validate a pipeline or plan',
      description:
        'Checks a pipeline or a plan without running it. Returns every problem with its position and a hint, and the waves of a valid one.',
      readOnly: true,
      openWorld: false,
      inputs: DEFINITION_INPUTS,
      answer: async (inputs) => {
        const loaded = await loadHostDefinition(inputs, await openCatalog(), context, false);
        return { value: toData(await createReportOf(loaded)) };
      },
    }),
    serveTool({
      name: 'run',
      title: 'Run a pipeline or plan',
      description:
        'Runs a pipeline or a plan and waits until it has ended. Returns its status and outputs, or what failed. Cancelling the call cancels the run.',
      readOnly: false,
      openWorld: true,
      inputs: {
        ...DEFINITION_INPUTS,
        params: { type: 'object', description: 'values of the params of a pipeline' },
      },
      answer: async (inputs, call) => {
        const loaded = await loadHostDefinition(inputs, await openCatalog(), context, true);
        if (!loaded.check.ok) return { value: toData(await createReportOf(loaded)), isError: true };
        const values = {
          ...(inputs.params && { params: inputs.params }),
          ...(loaded.inputs && { inputs: loaded.inputs }),
          ...(loaded.session && { session: loaded.session }),
        };
        return describeEnd(await runs.run(loaded, values, call));
      },
    }),
    serveTool({
      name: 'compile',
      title: 'Write a pipeline from a description',
      description:
        'Has a language model write a pipeline or a plan from a description, and checks it; mistakes are repaired. Returns the YAML, and runs nothing.',
      readOnly: true,
      openWorld: true,
      inputs: {
        prompt: {
          type: 'string',
          minLength: 1,
          maxLength: COMPILE_LIMITS.promptLength,
          required: true,
          description: 'what the pipeline shall do',
        },
        model: {
          type: 'string',
          minLength: 1,
          description: 'provider/model; default WAVETRAIN_COMPILE_MODEL or WAVETRAIN_MODEL',
        },
        max_repairs: {
          type: 'integer',
          minimum: 0,
          maximum: COMPILE_LIMITS.mostRepairs,
          default: COMPILE_LIMITS.repairs,
          description: 'how often the model is asked to repair its answer',
        },
      },
      answer: async ({ prompt, model, max_repairs: maxRepairs }, { signal }) =>
        compileForHost(prompt, { model, maxRepairs, signal, catalog: await openCatalog() }, context),
    }),
    serveTool({
      name: 'tools',
      title: 'List the tools for tasks',
      description:
        'Lists the tools that tasks of a pipeline may call, or describes one of them with its inputs and its output.',
      readOnly: true,
      openWorld: false,
      inputs: { name: { type: 'string', minLength: 1, description: 'a tool; default: lists all' } },
      answer: async ({ name }) => ({ value: showTools(await openCatalog(), name) }),
    }),
    serveTool({
      name: 'runs',
      title: 'Look at earlier runs',
      description:
        'Lists the runs of this connection; or shows one of them with its tasks; or one task of a run with its inputs and its whole output.',
      readOnly: true,
      openWorld: false,
      inputs: {
        run_id: { type: 'string', minLength: 1, description: 'a run; default: lists all' },
        task_id: { type: 'string', minLength: 1, description: 'a task of that run' },
        sub_pipeline: {
          type: 'string',
          minLength: 1,
          description: 'the sub-pipeline of the task, in a plan',
        },
      },
      answer: async ({ run_id, task_id, sub_pipeline }) => ({
        value: await showRuns(runs, run_id, task_id, sub_pipeline),
      }),
    }),
  ];
}

async function compileForHost(
  prompt: string,
  options: Omit<CompilePromptOptions, 'models' | 'clock'>,
  { env, cwd, clock, modelLimiters: limiters }: CliContext,
): Promise<HostAnswer> {
  const { compile, CompileFailedError, createModels } = await import('../lazy/compile.js');
  const models = createModels(readModelConfig(env), { folders: [cwd], limiters });
  try {
    const { kind, yaml_text, warnings, attempts, repair_history, usage, model } = await compile(prompt, {
      ...options,
      models,
      clock,
    });
    return { value: toData({ kind, yaml_text, warnings, attempts, repair_history, usage, model }) };
  } catch (error) {
    if (!(error instanceof CompileFailedError)) throw error;
    const { code, message, attempts, repair_history, last_yaml } = error;
    return { value: toData({ error: message, code, attempts, repair_history, last_yaml }), isError: true };
  }
}
