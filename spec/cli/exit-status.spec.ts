import { expect } from 'chai';
import { EXIT, exitStatusForError, exitStatusForRun } from '../../lib/cli/exit-status.js';
import { type ErrorCode, WavetrainError } from '../../lib/common/errors.js';

describe('exit status (D40)', () => {
  it('has one number per kind of result', () => {
    expect(EXIT).to.deep.equal({ done: 0, invalid: 1, usage: 2, failed: 3, internal: 70, interrupted: 130 });
  });

  const STATUSES: Partial<Record<ErrorCode, number>> = {
    invalid_definition: 1,
    invalid_params: 2,
    invalid_options: 2,
    unreadable_file: 2,
    bad_usage: 2,
    bad_tool_file: 2,
    task_failed: 3,
    run_cancelled: 130,
  };
  for (const [code, status] of Object.entries(STATUSES)) {
    it(`is ${status} for ${code}`, () => {
      expect(exitStatusForError(new WavetrainError(code as ErrorCode, ''))).to.equal(status);
    });
  }

  it('is 70 for an error without a code, which is a bug in this program', () => {
    expect(exitStatusForError(new TypeError('x'))).to.equal(70);
    expect(exitStatusForError('x')).to.equal(70);
  });

  it('is 0, 3 or 130 for a run that succeeded, failed or was cancelled', () => {
    expect(exitStatusForRun('succeeded')).to.equal(0);
    expect(exitStatusForRun('failed')).to.equal(3);
    expect(exitStatusForRun('cancelled')).to.equal(130);
  });
});
