import { errorMessage, WavetrainError } from '../../common/errors.js';
import { assertDefined } from '../../definition/assert.js';
import type { PipelineInput } from '../../plans/plan.js';
import type { ShellRun } from '../../runs/store/run-folders.js';
import type { StoredSubmission } from '../../runs/store/run-store.js';
import type { ReviveDefinitions } from '../../runs/run-factory.js';
import {
  type CheckedDefinition,
  checkDefinitionFile,
  type DefinitionFile,
  findChecked,
} from './load-definition.js';

type CheckSetup = Parameters<typeof checkDefinitionFile>[1];

/** A definition that was run before. */
export async function toDefinitionFile(
  { kind, definition, pipelines = {}, inputs, session }: Revived,
  folder: string,
): Promise<DefinitionFile> {
  const { readSource } = await import('../lazy/validation.js');
  const text = JSON.stringify(definition, undefined, 2);
  const parts = Object.entries(pipelines).map(([id, value]): [string, PipelineInput] => [id, { value }]);
  return {
    name: `the earlier ${kind}`,
    text,
    kind,
    source: readSource(text),
    inputs,
    session,
    folder,
    pipelines: new Map(parts),
    files: new Map(),
  };
}

type Revived = Pick<StoredSubmission, 'kind' | 'definition' | 'pipelines' | 'inputs' | 'session'>;

/** Checks the definitions of earlier runs again, with the tools that there are now. */
export function reviveWith(setup: CheckSetup): ReviveDefinitions {
  const revive = async (submission: Revived): Promise<CheckedDefinition> => {
    const file = await toDefinitionFile(submission, '');
    const loaded = await checkDefinitionFile(file, setup);
    const checked = findChecked(loaded);
    if (checked !== undefined) return checked;
    const [problem] = loaded.check.problems;
    throw new WavetrainError('invalid_definition', problem?.message ?? 'its definition is not valid');
  };
  return {
    async pipeline(definition, values) {
      const revived = await revive({ ...values, kind: 'pipeline', definition });
      return assertDefined('pipeline' in revived ? revived.pipeline : undefined, 'the pipeline');
    },
    async plan(definition, pipelines, values) {
      const revived = await revive({ ...values, kind: 'plan', definition, pipelines });
      return assertDefined('plan' in revived ? revived.plan : undefined, 'the plan');
    },
  };
}

/** Rejects with `invalid_definition`, and the first problem, when the definition of an earlier run is not valid any more. */
export async function assertRevivable({ id, submission }: ShellRun, setup: CheckSetup): Promise<void> {
  const { definition, pipelines = {} } = submission;
  const revive = reviveWith(setup);
  try {
    const values = { ...submission, hasSettled: true, isChecked: false };
    if (submission.kind === 'pipeline') await revive.pipeline(definition, values);
    else await revive.plan(definition, pipelines, values);
  } catch (cause) {
    const message = `run ${id} cannot be rebuilt: ${errorMessage(cause)}`;
    throw new WavetrainError('invalid_definition', message, { cause });
  }
}
