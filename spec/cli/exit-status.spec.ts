import { expect } from 'chai';
import { EXIT, statusOfError, statusOfRun } from '../../lib/cli/exit-status.js';
import { type ErrorCode, WavetrainError } from '../../lib/common/errors.js';

describe('the exit status (D40)', () => {
  it('has one number for each way to end', () => {
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
      expect(statusOfError(new WavetrainError(code as ErrorCode, ''))).to.equal(status);
    });
  }

  it('is 70 for what was thrown without a code: a fault of this program', () => {
    expect(statusOfError(new TypeError('x'))).to.equal(70);
    expect(statusOfError('x')).to.equal(70);
  });

  it('follows the state in which a run ended', () => {
    expect(statusOfRun('succeeded')).to.equal(0);
    expect(statusOfRun('failed')).to.equal(3);
    expect(statusOfRun('cancelled')).to.equal(130);
  });
});
