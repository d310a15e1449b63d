import { WavetrainError } from '../common/errors.js';

/** The command line was not understood: says what was wrong and, in the hint, what to write instead (D40). */
export class BadUsage extends WavetrainError {
  override readonly name = 'BadUsage';
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super('bad_usage', message);
    this.hint = hint;
  }
}
