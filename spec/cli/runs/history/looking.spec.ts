import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { systemContext } from '../../../../lib/cli/context.js';
import type { Invocation } from '../../invoke.js';
import { explainFirst } from '../../../../lib/cli/runs/kept-run.js';
import { type ErrorCode, errorMessage, WavetrainError } from '../../../../lib/common/errors.js';
import { Project, twoTasks } from './project.js';

describe('the history of the shell: the runs commands without a server (D68)', () => {
  let project: Project;
  let id: string;

  beforeEach(async () => {
    project = new Project();
    project.folder.write('p.yaml', twoTasks('fail', '{message: "no way"}'));
    await project.invoke(['run', 'p.yaml']);
    id = project.runs[0] ?? '';
  });
  afterEach(() => project.remove());

  it('runs list shows them without rebuilding them, the newest first', async () => {
    project.folder.write('ok.yaml', twoTasks('note').replace('id: two', 'id: other'));
    await project.invoke(['run', 'ok.yaml']);
    const { stdout } = await project.invoke(['runs', 'list', '--json']);
    const { runs } = JSON.parse(stdout) as { runs: { pipeline_id: string; status: string }[] };
    expect(runs.map(({ pipeline_id, status }) => `${pipeline_id} ${status}`)).to.deep.equal([
      'other succeeded',
      'two failed',
    ]);
    const failed = await project.invoke(['runs', 'list', '--status', 'failed']);
    expect(failed.stdout).to.match(/RUN ID.*\n\S+ +failed .* 2\/2 +two\n$/);
    const limited = await project.invoke(['runs', 'list', '--limit', '1']);
    expect(limited.stderr).to.contain('.wavetrain has more runs: --limit N');
  });

  it('runs list does not read what settled runs were given, which may be large', async () => {
    project.change((database) => database.exec("UPDATE piece SET text = 'nobody parses this'"));
    expect((await project.invoke(['runs', 'list'])).stdout).to.match(
      new RegExp(`\\n${id} +failed .* 2/2 +two\\n$`),
    );
  });

  it('runs list has a filter for each status of the history, and refuses those of servers', async () => {
    const list = (...argv: string[]): Promise<Invocation> => project.invoke(['runs', 'list', ...argv]);
    for (const argv of [
      ['--status', 'failed', '--pipeline', 'two', '--tenant', 'default'],
      ['--text', 'NO WAY'],
      ['--text', id.slice(-8)],
      ['--since', '2h'],
    ]) {
      expect((await list(...argv)).stdout, argv.join(' ')).to.contain(id);
    }
    for (const argv of [
      ['--status', 'running'],
      ['--status', 'succeeded'],
      ['--status', 'cancelled'],
      ['--status', 'interrupted'],
      ['--pipeline', 'other'],
      ['--tenant', 'other'],
      ['--trigger', 'schedule'],
      ['--text', 'no.way'],
      ['--until', '2h'],
      ['--since', '2999-01-01'],
    ]) {
      expect((await list(...argv)).stdout, argv.join(' ')).to.equal('no runs found\n');
    }
    for (const word of ['paused', 'queued']) {
      const { status, stderr } = await list('--status', word);
      expect(status).to.equal(2);
      expect(stderr).to.contain(`no run of ${project.folder.at('.wavetrain')} is ever ${word}`);
      expect(stderr).to.contain('one of running, succeeded, failed, cancelled, interrupted\n');
    }
    const ofServer = await list('--status', 'interrupted', '--server', 'http://127.0.0.1:1');
    expect(ofServer.stderr).to.contain('no run of a server is ever interrupted');
    expect((await list('--status', 'dead')).stderr).to.contain('--status must be one of queued, running');
  });

  it('runs list finds a text at both ends of ids, from six characters on, as a server does', async () => {
    const find = async (text: string): Promise<boolean> =>
      (await project.invoke(['runs', 'list', '--text', text])).stdout.includes(id);
    expect(await find(id.slice(-6).toUpperCase())).to.equal(true);
    expect(await find(id.slice(0, 6))).to.equal(true);
    expect(await find(id.slice(-5)), 'five characters').to.equal(false);
    expect(await find(id.slice(9, 20)), 'in the middle').to.equal(false);
    const hint = '--text searches ids from 6 characters on; wavetrain runs show beef finds a run by 4\n';
    const said = async (text: string): Promise<string> =>
      (await project.invoke(['runs', 'list', '--text', text])).stderr;
    expect(await said('beef')).to.equal(hint);
    expect(await said('dead5')).to.contain('runs show dead5');
    for (const text of ['bee', 'beefee', 'no way', 'nope']) expect(await said(text), text).to.equal('');
    const help = (await project.invoke(['runs', 'delete', '--help'])).stdout.replaceAll(/\s+/g, ' ');
    expect(help).to.contain('4 or more characters of its end or its beginning');
    expect((await project.invoke(['runs', 'show', id.slice(0, 4)])).stdout).to.contain(id);
  });

  it('runs list filters by the labels of definitions and submissions, also of runs that have not settled (D76)', async () => {
    project.folder.write('l.yaml', `${twoTasks('note')}labels: {team: billing, stage: test}\n`);
    const list = async (...argv: string[]): Promise<string[]> => {
      const { runs } = JSON.parse((await project.invoke(['runs', 'list', '--json', ...argv])).stdout);
      return (runs as { run_id: string; labels: object }[]).map(
        ({ run_id, labels }) => `${run_id} ${JSON.stringify(labels)}`,
      );
    };
    expect(await list(), 'without labels').to.deep.equal([`${id} {}`]);
    const { status, stderr } = await project.invoke(['run', 'l.yaml', '--label', 'team=ops']);
    expect(status, stderr).to.equal(0);
    const labelled = project.runs.find((run) => run !== id) ?? '';
    const shown = `${labelled} {"team":"ops","stage":"test"}`;
    expect(await list('--label', 'team=ops', '--label', 'stage:test')).to.deep.equal([shown]);
    expect(await list('--text', 'STAGE:te')).to.deep.equal([shown]);
    expect(await list('--label', 'team=billing')).to.deep.equal([]);
    project.loseEnd(labelled, 'second');
    expect(await list('--label', 'team=ops'), 'interrupted').to.deep.equal([shown]);
  });

  it('runs show shows a run with its failures, and one of its tasks', async () => {
    const { status, stdout } = await project.invoke(['runs', 'show', id.slice(-8)]);
    expect(status).to.equal(0);
    expect(stdout).to.contain('second after 1 attempt: no way').and.to.contain(`wavetrain rerun ${id}\n`);
    const task = await project.invoke(['runs', 'show', id, '--task', 'first']);
    expect(task.stdout).to.contain('inputs: {"city": "Oslo"}');
    expect(project.noted).to.deep.equal(['first']);
  });

  it('runs snapshot, recording and artifacts work on it', async () => {
    expect((await project.invoke(['runs', 'snapshot', id])).stdout).to.match(/^run {2}failed\n/);
    expect((await project.invoke(['runs', 'artifacts', id])).stdout).to.equal('no files\n');
    const recorded = await project.invoke(['runs', 'recording', id, '--output', 'x.wtrec']);
    expect(recorded.stderr).to.contain('recorded in x.wtrec');
    expect(existsSync(project.folder.at('x.wtrec'))).to.equal(true);
  });

  it('runs report writes what an issue needs, as Markdown', async () => {
    const { stdout } = await project.invoke(['runs', 'report', id]);
    expect(stdout).to.match(/^# two: failed\n/);
    expect(stdout).to.match(/\n\| second \| fail \| failed in [^|]+ \| 1 \|\n/);
    expect(stdout).to.contain(
      '### second\n\n- attempt 1: no way\n\nInputs:\n\n    {\n      "message": "no way"',
    );
    const written = await project.invoke(['runs', 'report', id, '--output', 'report.md']);
    expect(written.stderr).to.equal('wrote report.md\n');
    expect(readFileSync(project.folder.at('report.md'), 'utf8')).to.equal(stdout);
  });

  it('runs report writes HTML, which a browser opens from disk, by the name of the file or by --format', async () => {
    const { status, stderr } = await project.invoke(['runs', 'report', id, '--output', 'report.html']);
    expect([status, stderr]).to.deep.equal([0, 'wrote report.html\n']);
    const html = readFileSync(project.folder.at('report.html'), 'utf8');
    expect(html)
      .to.match(/^<!DOCTYPE html>\n/)
      .and.to.match(/<\/html>\n$/);
    expect(html).to.contain('<title>two: failed</title>').and.to.contain('no way').and.to.contain('Oslo');
    expect((await project.invoke(['runs', 'report', id, '--format', 'html'])).stdout).to.contain(
      '<h2>Tasks</h2>',
    );
    expect(html).to.contain('<title>second awaits first</title>');
    const markdown = await project.invoke(['runs', 'report', id, '--format', 'markdown', '-o', 'x.html']);
    expect(markdown.status).to.equal(0);
    expect(readFileSync(project.folder.at('x.html'), 'utf8')).to.match(/^# two: failed\n/);
    const refused = await project.invoke(['runs', 'report', id, '--format', 'pdf']);
    expect(refused.status).to.equal(2);
    expect(refused.stderr).to.contain('--format must be one of markdown, html, not "pdf"');
  });

  it('a run whose process was killed is shown as interrupted, and nothing of it is called again', async () => {
    project.loseEnd(id, 'second');
    const listed = await project.invoke(['runs', 'list', '--status', 'interrupted']);
    expect(listed.stdout).to.match(new RegExp(`\\n${id} +interrupted .* \\?/2 +two\n`));
    const { stdout } = await project.invoke(['runs', 'show', id]);
    expect(stdout).to.match(/\nstatus +interrupted: its process has ended/);
    expect(stdout)
      .to.contain('✓ first')
      .and.to.match(/- second|second .*stopped by force/);
    expect(JSON.parse((await project.invoke(['runs', 'show', id, '--json'])).stdout)).to.include({
      status: 'interrupted',
      finished_at: null,
    });
    expect((await project.invoke(['runs', 'report', id])).stdout)
      .to.contain('\n- status: interrupted: its process has ended;')
      .and.not.contain('finished:');
    expect((await project.invoke(['runs', 'report', id, '--format', 'html'])).stdout)
      .to.contain('<title>two: interrupted</title>')
      .and.not.contain('<dt>Finished</dt>');
    expect(project.noted).to.deep.equal(['first']);
    project.folder.write('p.yaml', twoTasks('note'));
    expect((await project.invoke(['rerun'])).status).to.equal(0);
    expect(project.noted).to.deep.equal(['first', 'second']);
  });

  it('a run that another shell is at work on is shown as running, and is not deleted', async () => {
    project.loseEnd(id, 'second');
    const kept = project.kept;
    const release = project.takeFile();
    expect((await project.invoke(['runs', 'show', id])).stdout).to.match(
      /\nstatus +running in another shell/,
    );
    expect((await project.invoke(['runs', 'delete', id])).stderr).to.contain('is still at work');
    const { stderr } = await project.invoke(['runs', 'delete', '--all']);
    expect(stderr).to.match(/^deleted 0 runs of /);
    release();
    expect(project.kept).to.equal(kept);
  });

  it('runs delete deletes a run, also one that another repeats, and all with --all', async () => {
    await project.invoke(['rerun']);
    expect((await project.invoke(['runs', 'delete', id])).stderr).to.equal(`deleted ${id}\n`);
    project.folder.write('p.yaml', twoTasks('note'));
    expect((await project.invoke(['rerun'])).status).to.equal(0);
    expect(project.noted).to.deep.equal(['first', 'second']);
    expect((await project.invoke(['runs', 'delete', '--all'])).stderr).to.match(/^deleted 2 runs of /);
    expect(project.runs).to.deep.equal([]);
  });

  it('a server that is named is asked instead, and also for a run that the history lacks', async () => {
    const env = { WAVETRAIN_SERVER: 'http://127.0.0.1:1' };
    const named = await project.invoke(['runs', 'list'], { env });
    expect(named.stderr).to.contain('cannot reach a server at http://127.0.0.1:1');
    const shown = await project.invoke(['runs', 'show', id], { env });
    expect(shown.stderr).to.contain('cannot reach a server');
    const all = await project.invoke(['runs', 'delete', '--all'], { env });
    expect(all.stderr).to.contain('--all is for the history of a folder');
  });

  it('commands for runs of servers refuse a run of the history, and name what there is for it', async () => {
    for (const [command, hint] of [
      ['watch', `wavetrain runs show ${id} shows it`],
      ['cancel', 'Ctrl-C in its shell cancels it'],
      ['continue', 'its shell asks how it goes on'],
      ['rerun', `wavetrain rerun ${id} goes on from there`],
    ] as const) {
      const { status, stderr } = await project.invoke(['runs', command, id.slice(-8)]);
      expect(status).to.equal(2);
      expect(stderr).to.contain(`runs ${command} is for runs of a server, and ${id} is a run of `);
      expect(stderr).to.contain(`\n  ${hint}\n`);
    }
  });

  it('what this folder lacks is said before anything is said of the default server', async () => {
    const explain = async (
      code: ErrorCode,
      lacking: string | undefined,
      server?: string,
    ): Promise<string> => {
      const flags = { server, envFile: undefined };
      const context = { ...systemContext(), env: {} };
      return errorMessage(
        await explainFirst(new WavetrainError(code, 'its message'), flags, lacking, context),
      );
    };
    expect(await explain('server_unreachable', undefined)).to.equal(
      'this folder has no runs (wavetrain run FILE keeps its runs in .wavetrain), and there is no server to ask:\n  its message',
    );
    expect(await explain('run_not_found', 'it lacks x')).to.equal(
      'it lacks x, nor has the default server:\n  its message',
    );
    expect(await explain('run_not_found', 'it lacks x', 'http://127.0.0.1:1')).to.equal('its message');
    expect(await explain('unauthorized', 'it lacks x')).to.equal('its message');
  });

  it('--store names the history of another folder, also in the commands that are printed', async () => {
    const elsewhere = (...argv: string[]): Promise<Invocation> =>
      project.invoke([...argv, '--store', 'elsewhere'], { keepsHistory: false, env: { CI: '1' } });
    await elsewhere('run', 'p.yaml');
    const { runs } = JSON.parse((await elsewhere('runs', 'list', '--json')).stdout) as {
      readonly runs: readonly { readonly run_id: string }[];
    };
    const other = runs[0]?.run_id ?? '';
    expect(runs).to.have.length(1);
    expect(other).not.to.equal(id);
    const shown = await elsewhere('runs', 'show', other);
    expect(shown.stdout)
      .to.contain(`wavetrain runs show ${other} --task second --store elsewhere\n`)
      .and.contain(`wavetrain rerun ${other} --store elsewhere\n`);
    expect((await elsewhere('runs', 'show', other, '--task', 'x')).stderr).to.contain(
      `wavetrain runs show ${other} --store elsewhere shows the run`,
    );
    expect((await elsewhere('runs', 'report', other)).stdout).to.contain('# two: failed');
    const unknown = await elsewhere('runs', 'show', id);
    expect(unknown.stderr).to.contain(`elsewhere has no run whose id begins or ends with "${id}"`);
    expect((await elsewhere('runs', 'list', '--server', 'http://127.0.0.1:1')).stderr).to.contain(
      'give --server or --store, not both',
    );
    expect((await project.invoke(['runs', 'list', '--store', 'missing'])).stderr).to.contain(
      'there is no folder missing\n  wavetrain run FILE --store missing keeps its runs there',
    );
    expect((await elsewhere('runs', 'delete', other)).stderr).to.equal(`deleted ${other}\n`);
  });

  it('runs show says why a run cannot be shown whose tool is gone', async () => {
    const { openCatalog } = systemContext();
    const { status, stderr } = await project.invoke(['runs', 'show', id], { openCatalog });
    expect(status).to.equal(1);
    expect(stderr).to.contain(`run ${id} cannot be rebuilt: there is no tool "note"`);
  });
});
