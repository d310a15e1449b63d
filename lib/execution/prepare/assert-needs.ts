import { WavetrainError } from '../../common/errors.js';
import type { RunDependencies } from '../run-context.js';
import type { PreparedRun } from './prepare-run.js';

/** The part of a run that says what it needs. */
type NeedyRun = Pick<PreparedRun, 'pipeline' | 'params' | 'tenantId'>;

/**
 * Checks before a run exists that this process has what its tasks need, as far as the definition says it.
 *
 * @throws WavetrainError `provider_misconfigured` for a language model (D50), `command_not_allowed` for a program (D88)
 */
export function assertNeeds(run: NeedyRun, dependencies: Pick<RunDependencies, 'models' | 'commands'>): void {
  assertModels(run, dependencies);
  assertCommands(run, dependencies);
}

/**
 * A model that the definition names, or a param, or a default of this process. One that another template names is known when
 * its task begins.
 */
function assertModels({ pipeline, params }: NeedyRun, { models }: Pick<RunDependencies, 'models'>): void {
  for (const { purpose, model, param } of pipeline.contract.models) {
    const named = param === undefined ? model : params[param];
    // A value that is no text fails the task, which checks the type of its input.
    if (param === undefined || (typeof named === 'string' && named !== ''))
      models.assertConfigured(purpose, named as string | undefined);
  }
}

/** A program that a template names is checked when its task starts it. */
function assertCommands(
  { pipeline, tenantId }: NeedyRun,
  { commands: { allowed, advice } }: Pick<RunDependencies, 'commands'>,
): void {
  for (const { task, program } of pipeline.contract.commands) {
    const problem = allowed.refuse(program, tenantId);
    if (problem === undefined) continue;
    throw new WavetrainError('command_not_allowed', `task "${task}": ${problem}; ${advice}`);
  }
}
