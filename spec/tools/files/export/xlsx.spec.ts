import { assert, expect } from 'chai';
import { getEventListeners } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { EXPORT_LIMITS } from '../../../../lib/common/limits.js';
import { type NamedTable, toXlsx } from '../../../../lib/tools/files/export/xlsx.js';
import { exportFile } from '../../../../lib/tools/builtin/export.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import { catchRejection } from '../../../support/rejection.js';
import { toolContext } from '../../../support/tool-context.js';

const TABLES: NamedTable[] = [{ name: 's', table: { columns: ['a'], rows: [[1]] } }];
const TOO_LONG: NamedTable[] = [
  { name: 's', table: { columns: ['a'], rows: [['x'.repeat(EXPORT_LIMITS.cellLength + 1)]] } },
];

/** A thread that has ended has no id any more. */
const isAtWork = ({ threadId }: Worker): boolean => threadId !== -1;

describe('The threads that write workbooks (D63)', () => {
  let workers: Worker[] = [];
  /** How many were at work whenever another one began. */
  let counts: number[] = [];

  const onWorker = (worker: Worker): void => {
    counts.push(workers.filter(isAtWork).length);
    workers.push(worker);
  };

  beforeEach(() => {
    workers = [];
    counts = [];
    process.on('worker', onWorker);
  });
  afterEach(async () => {
    process.off('worker', onWorker);
    await Promise.all(workers.map((worker) => worker.terminate()));
  });

  it('have ended when their workbook is there, so that a program can end, and listen to no signal', async () => {
    const context = toolContext();
    for (let count = 0; count < 3; count++) await toXlsx(TABLES, context);
    expect(workers.map(isAtWork)).to.deep.equal([false, false, false]);
    expect(getEventListeners(context.signal, 'abort')).to.deep.equal([]);
  });

  it('have ended when their workbook has failed, or its attempt', async () => {
    const context = toolContext();
    expect(await catchRejection(toXlsx(TOO_LONG, context)))
      .to.have.property('message')
      .that.contains('32767 characters');
    const aborted = catchRejection(toXlsx(TABLES, context));
    context.abort();
    expect(await aborted)
      .to.have.property('message')
      .that.matches(/^the workbook cannot be written: /);
    expect(workers.map(isAtWork)).to.deep.equal([false, false]);
    expect(getEventListeners(context.signal, 'abort')).to.deep.equal([]);
  });

  it('are never more than may be at work at once: one that ends still counts', async () => {
    const inputs = validateInputs(exportFile, { format: 'xlsx', data: [[1]] });
    assert(inputs.ok);
    const write = (): unknown => exportFile.run(inputs.inputs, toolContext());
    await Promise.all(Array.from({ length: 6 }, write));
    expect(workers).to.have.length(6);
    expect(Math.max(...counts)).to.equal(EXPORT_LIMITS.atOnce - 1);
  });
});
