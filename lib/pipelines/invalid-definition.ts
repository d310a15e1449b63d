import type { Problem } from '../definition/problem.js';
import { WavetrainError } from '../common/errors.js';
import { errorsOf } from './report.js';

/** A definition that cannot run, with all that is wrong with it. */
export class InvalidDefinitionError extends WavetrainError {
  override readonly name = 'InvalidDefinitionError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super('invalid_definition', errorsOf(problems).join('\n'));
    this.problems = problems;
  }
}
