import type { Problem } from '../definition/problem.js';
import { WavetrainError } from '../errors.js';
import { sentence } from './report.js';

/** A definition that cannot run, with all that is wrong with it. */
export class InvalidDefinitionError extends WavetrainError {
  override readonly name = 'InvalidDefinitionError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const errors = problems.filter(({ severity }) => severity === 'error');
    super('invalid_definition', errors.map(sentence).join('\n'));
    this.problems = problems;
  }
}
