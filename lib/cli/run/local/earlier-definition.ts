import { errorMessage, WavetrainError } from '../../../common/errors.js';
import type { PipelineInput } from '../../../plans/plan.js';
import type { ShellRun } from '../../../runs/store/shell/kept-runs.js';
import type { StoredSubmission } from '../../../runs/store/run-store.js';
import type { ReviveDefinition } from '../../../runs/store/restore/stored-run-reader.js';
import {
  type CheckSetup,
  checkDefinitionFile,
  type DefinitionFile,
  findChecked,
} from '../../input/load-definition.js';

export async function toDefinitionFile(
  { kind, definition, pipelines = {}, inputs, session }: Revived,
  folder: string,
): Promise<DefinitionFile> {
  const { readSource } = await import('../../lazy/validation.js');
  const text = JSON.stringify(definition, undefined, 2);
  return {
    name: `the earlier ${kind}`,
    text,
    kind,
    source: readSource(text),
    inputs,
    session,
    folder,
    pipelines: kind === 'plan' ? await readPipelineInputs(pipelines) : new Map(),
    files: new Map(),
  };
}

type Revived = Pick<StoredSubmission, 'kind' | 'definition' | 'pipelines' | 'inputs' | 'session'>;

async function readPipelineInputs(
  pipelines: Readonly<Record<string, unknown>>,
): Promise<ReadonlyMap<string, PipelineInput>> {
  const { toPipelineInputs } = await import('../../lazy/plans.js');
  return toPipelineInputs(pipelines);
}

/** Checks the definitions of earlier runs again, with the tools that there are now. */
export function reviveWith(setup: CheckSetup): ReviveDefinition {
  return async (stored, values) => {
    const file = await toDefinitionFile({ ...values, ...stored }, '');
    const loaded = await checkDefinitionFile(file, setup);
    const checked = findChecked(loaded);
    if (checked !== undefined) return checked;
    const [problem] = loaded.check.problems;
    throw new WavetrainError('invalid_definition', problem?.message ?? 'its definition is not valid');
  };
}

/** Rejects with `invalid_definition`, and the first problem, when the definition of an earlier run is not valid any more. */
export async function assertRevivable({ id, submission }: ShellRun, setup: CheckSetup): Promise<void> {
  try {
    await reviveWith(setup)(submission, { ...submission, isForSettledRun: true, isChecked: false });
  } catch (cause) {
    const message = `run ${id} cannot be rebuilt: ${errorMessage(cause)}`;
    throw new WavetrainError('invalid_definition', message, { cause });
  }
}
