import { expect } from 'chai';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';

const TEXT = 'id: p\ngoal: g\ntasks:\n  - {id: a, tool: mock, pool: erp}\n';

describe('A file whose task has a pool, in the shell (D81)', () => {
  const folder = new TemporaryFolder();
  before(() => void folder.write('p.yaml', TEXT));
  after(() => folder.remove());

  const at = (command: string, pools?: string) =>
    invoke([command, 'p.yaml'], {
      cwd: folder.path,
      env: pools === undefined ? {} : { SERVICE_POOLS: pools },
    });

  it('is valid for validate, with a warning, without SERVICE_POOLS: the server may have the pool', async () => {
    const { status, stderr } = await at('validate');
    expect(status).to.equal(0);
    expect(stderr).to.contain('whether there is a pool "erp" is not known here');
  });

  it('is not valid for validate where SERVICE_POOLS sets others', async () => {
    const { status, stderr } = await at('validate', 'gpu=1');
    expect(status).to.equal(1);
    expect(stderr).to.contain('there is no pool "erp": SERVICE_POOLS sets "gpu"');
  });

  it('is not run without its pool, and is run with it', async () => {
    const refused = await at('run');
    expect(refused.status).to.equal(1);
    expect(refused.stderr).to.contain('there is no pool "erp": SERVICE_POOLS sets none');
    expect((await at('run', 'erp=1')).status).to.equal(0);
  });

  it('is not looked at where SERVICE_POOLS makes no sense', async () => {
    const { status, stderr } = await at('validate', 'erp');
    expect(status).to.equal(2);
    expect(stderr).to.contain('SERVICE_POOLS contains "erp": write NAME=PLACES');
  });
});
