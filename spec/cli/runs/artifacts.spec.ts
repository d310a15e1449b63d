import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { startTestServer } from '../../support/http/test-server.js';
import { invoke } from '../invoke.js';

const PIPELINE = `{id: p, goal: g, tasks: [{id: t, tool: export, inputs: {data: [{a: 1}], format: csv, filename: rows}}]}`;

describe('Files of runs on the command line (D63)', () => {
  const temporary = new TemporaryFolder();
  after(() => temporary.remove());
  const cwd = temporary.path;

  it('are in outputs in the working directory, or where --artifacts says', async () => {
    const { status } = await invoke(['run', '-'], { input: PIPELINE, cwd });
    expect(status).to.equal(0);
    expect(readFileSync(join(cwd, 'outputs', 'rows.csv'), 'utf8')).to.equal('a\r\n1\r\n');
    await invoke(['run', '-', '--artifacts', 'elsewhere/deep'], { input: PIPELINE, cwd });
    expect(existsSync(join(cwd, 'elsewhere', 'deep', 'rows.csv'))).to.equal(true);
  });

  it('are listed, downloaded once and printed by runs artifacts, and listed by runs show', async () => {
    const server = await startTestServer();
    const call = (...words: string[]) => invoke(['runs', ...words, '--server', server.url], { cwd });
    const submitted = await invoke(['runs', 'submit', '-', '--server', server.url, '--watch'], {
      input: PIPELINE,
      cwd,
    });
    expect(submitted.status).to.equal(0);
    const runId = /submitted (\S+)/.exec(submitted.stderr)?.[1] ?? '';
    expect((await call('artifacts', runId)).stdout).to.equal('rows.csv  6 bytes  from t\n');
    const { artifacts } = JSON.parse((await call('artifacts', runId, '--json')).stdout) as {
      artifacts: unknown;
    };
    expect(artifacts).to.deep.equal([{ name: 'rows.csv', task_id: 't', media_type: 'text/csv', size: 6 }]);
    expect((await call('artifacts', runId, 'rows.csv', '--output', '-')).stdout).to.equal('a\r\n1\r\n');
    expect((await call('artifacts', runId, 'rows.csv')).status).to.equal(0);
    expect(readFileSync(join(cwd, 'rows.csv'), 'utf8')).to.equal('a\r\n1\r\n');
    const again = await call('artifacts', runId, 'rows.csv');
    expect(again.status).not.to.equal(0);
    expect(again.stderr).to.contain('name another with --output');
    expect((await call('artifacts', runId, 'rows.csv', '--output', 'rows.csv')).status).to.equal(0);
    expect((await call('show', runId)).stdout).to.contain('Files:\n  rows.csv  6 bytes  from t\n');
    expect((await call('artifacts', runId, 'nothing')).stderr).to.contain('has no file "nothing"');
    await server.close(0);
  });
});
