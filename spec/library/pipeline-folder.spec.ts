import { expect } from 'chai';
import { renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { errorMessage } from '../../lib/common/errors.js';
import { PipelineLibrary } from '../../lib/library/library.js';
import { itTimed, measureCpuMs } from '../support/measuring/cpu-time.js';
import { deferred } from '../support/deferred.js';
import { pipelineText, type TestLibrary, useLibraries } from './test-library.js';
import { LIBRARY_LIMITS } from '../../lib/library/limits.js';

describe('The folder of pipelines (D69)', () => {
  const { folder, open, write } = useLibraries();
  /** Tenant, id and file of each, with a mark for what is not valid, and the codes of its problems. */
  const listed = ({ library }: TestLibrary): string[] =>
    library.entries.map(({ id, isValid, good, problems, listed: { file, tenantId } }) =>
      [
        tenantId,
        id,
        file,
        isValid ? 'ok' : good === undefined ? 'broken' : 'stale',
        ...problems.map(({ code }) => code),
      ].join(' '),
    );

  it('has the definitions of its files and folders, by tenant and id, under the ids in the files', async () => {
    write('b.yaml', pipelineText('beta', ''));
    write('a/deep/c.yml', pipelineText('alpha', ''));
    write(
      'd.json',
      JSON.stringify({ pipeline: { id: 'delta', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] } }),
    );
    write('tenants/acme/b.yaml', pipelineText('beta', ''));
    write('notes.txt', 'no definition');
    expect(listed(await open())).to.deep.equal([
      'acme beta tenants/acme/b.yaml ok',
      'default alpha a/deep/c.yml ok',
      'default beta b.yaml ok',
      'default delta d.json ok',
    ]);
  });

  it('lists a file that cannot be read as a definition under its name, with its problems', async () => {
    write('broken.yaml', 'pipeline: {id: broken');
    write('bytes.yaml', '');
    writeFileSync(folder.at('pipelines/bytes.yaml'), Buffer.from([0xc3, 0x28]));
    write('no id!.yaml', 'pipeline: {goal: x}');
    expect(listed(await open())).to.deep.equal([
      'default broken broken.yaml broken syntax',
      'default bytes bytes.yaml broken unreadable_file',
      'default no_id_ no id!.yaml broken missing_field missing_field',
    ]);
  });

  it('keeps the first 100 problems of a file', async () => {
    const tasks = Array.from({ length: 150 }, (_, index) => `    - {id: t${index}, tool: mokc}`);
    write('many.yaml', `pipeline:\n  id: many\n  goal: g\n  tasks:\n${tasks.join('\n')}\n`);
    const [entry] = (await open()).library.entries;
    expect(entry?.problems).to.have.lengthOf(100);
  });

  it('refuses ids that other addresses have, and a longer file', async () => {
    write('runs.yaml', pipelineText('runs', ''));
    write('validate.yaml', pipelineText('validate', ''));
    write('long.yaml', `# ${'x'.repeat(2 ** 20)}\n${pipelineText('long', '')}`);
    const entries = listed(await open());
    expect(entries).to.deep.equal([
      'default long long.yaml broken unreadable_file',
      'default runs runs.yaml broken reserved_id',
      'default validate validate.yaml broken reserved_id',
    ]);
  });

  it('gives an id of two files to the first by path, and to the other when that is gone', async () => {
    write('a.yaml', pipelineText('same', '', 'first'));
    write('b.yaml', pipelineText('same', '', 'second'));
    const library = await open();
    expect(listed(library)).to.deep.equal([
      'default same a.yaml ok',
      'default same b.yaml broken duplicate_id',
    ]);
    expect((await library.show('same')).goal).to.equal('first');
    rmSync(folder.at('pipelines/a.yaml'));
    await library.look();
    expect(listed(library)).to.deep.equal(['default same b.yaml ok']);
    expect((await library.show('same')).goal).to.equal('second');
  });

  it('leaves out hidden files, deep folders, and links that lead elsewhere, with a reason in the log', async () => {
    write('.hidden.yaml', pipelineText('hidden', ''));
    write('.git/x.yaml', pipelineText('git', ''));
    write('1/2/3/4/5/ok.yaml', pipelineText('five', ''));
    write('1/2/3/4/5/6/deep.yaml', pipelineText('six', ''));
    write('tenants/loose.yaml', pipelineText('loose', ''));
    write('tenants/No Tenant/x.yaml', pipelineText('none', ''));
    folder.write('elsewhere/secret.yaml', pipelineText('secret', ''));
    write('.data/target.yaml', pipelineText('linked', ''));
    symlinkSync(folder.at('elsewhere/secret.yaml'), folder.at('pipelines/evil.yaml'));
    symlinkSync(folder.at('elsewhere'), folder.at('pipelines/evil-folder'));
    symlinkSync('nowhere.yaml', folder.at('pipelines/dangling.yaml'));
    symlinkSync('.data/target.yaml', folder.at('pipelines/linked.yaml'));
    const library = await open();
    expect(listed(library)).to.deep.equal([
      'default five 1/2/3/4/5/ok.yaml ok',
      'default linked linked.yaml ok',
    ]);
    const log = library.log.join('\n');
    expect(log).to.match(/left out: it is a link to a file outside of the folder.*evil\.yaml/);
    expect(log).to.match(/left out: it is deeper than 5 folders.*1\/2\/3\/4\/5\/6/);
    expect(log).to.match(/left out: it is in no folder of a tenant.*loose\.yaml/);
    expect(log).to.match(/left out: there is no such file.*dangling\.yaml/);
    expect(log).to.not.match(/hidden|git/);
  });

  it('reads a pipeline that expects inputs of a run, and not one that a schedule starts without them', async () => {
    const text = (fields: string): string =>
      `pipeline: {id: p, goal: g, ${fields} tasks: [{id: a, tool: mock, inputs: {x: "{{pipeline.inputs.x}}"}}]}`;
    write('p.yaml', text(''));
    const library = await open();
    expect(listed(library)).to.deep.equal(['default p p.yaml ok']);
    write('p.yaml', text('schedule: "@daily",'));
    await library.look();
    expect(listed(library)).to.deep.equal(['default p p.yaml stale unknown_reference']);
  });

  describe('of plans', () => {
    const plan = (parts: string): string => `plan: {id: plan, goal: g, sub_pipelines: [${parts}]}`;

    it('takes their pipelines from files beside and below them, and follows changes of those', async () => {
      write('plan.yaml', plan('{id: one}, {id: two, file: parts/second.yaml}'));
      write('one.yaml', pipelineText('one', ''));
      const library = await open();
      expect(listed(library)[1]).to.equal('default plan plan.yaml broken missing_pipeline');
      write('parts/second.yaml', pipelineText('two', ''));
      await library.look();
      expect(listed(library)).to.include('default plan plan.yaml ok');
      write('one.yaml', pipelineText('one', '').replace('tool: wait', 'tool: wat'));
      await library.look();
      expect(listed(library)).to.include('default plan plan.yaml stale unknown_tool');
      expect(await library.show('plan')).to.include({ kind: 'plan', ok: false, stale: true });
    });

    it('takes none from other tenants, other folders or links that lead elsewhere', async () => {
      folder.write('elsewhere.yaml', pipelineText('one', ''));
      write('tenants/acme/one.yaml', pipelineText('one', ''));
      write('other/one.yaml', pipelineText('one', ''));
      const files = [
        'tenants/acme/one.yaml',
        '../elsewhere.yaml',
        folder.at('elsewhere.yaml'),
        'x/../../other/one.yaml',
      ];
      for (const [index, file] of files.entries()) {
        write(`plans/p${index}.yaml`, plan(`{id: one, file: ${file}}`).replace('id: plan', `id: p${index}`));
      }
      write('tenants.yaml', plan('{id: one, file: tenants/acme/one.yaml}'));
      const library = await open();
      const plans = listed(library).filter((line) => /p\d|tenants\.yaml/.test(line));
      expect(plans).to.have.length(files.length + 1);
      for (const line of plans) expect(line).to.match(/broken missing_pipeline$/);
    });
  });

  describe('of plans, when other files change', () => {
    const plan = (id: string, parts: string): string =>
      `plan: {id: ${id}, goal: g, sub_pipelines: [${parts}]}`;
    /** How often each of these texts was parsed since. */
    const count = ({ parser }: TestLibrary, ids: readonly string[]): number[] =>
      ids.map((id) => parser.count(`{id: ${id}, goal`));

    it('reads those again that name it, and no others', async () => {
      write('one.yaml', pipelineText('one', ''));
      write('two.yaml', pipelineText('two', ''));
      write('first.yaml', plan('first', '{id: one}'));
      write('second.yaml', plan('second', '{id: two}'));
      const library = await open();
      library.parser.texts = [];
      write('one.yaml', pipelineText('one', '', 'changed'));
      write('tenants/acme/two.yaml', pipelineText('two', '', 'of acme'));
      write('three.yaml', pipelineText('three', ''));
      await library.look();
      expect(count(library, ['first', 'second'])).to.deep.equal([1, 0]);
    });

    it('reads those again that lack it, or have found one of the same name', async () => {
      write('lacking.yaml', plan('lacking', '{id: one}'));
      write('found.yaml', plan('found', '{id: two}'));
      write('two.yml', pipelineText('two', '', 'first'));
      const library = await open();
      write('one.yaml', pipelineText('one', ''));
      write('two.yaml', pipelineText('two', '').replace('tool: wait', 'tool: wat'));
      await library.look();
      expect(listed(library).filter((line) => /lacking|found/.test(line))).to.deep.equal([
        'default found found.yaml stale unknown_tool',
        'default lacking lacking.yaml ok',
      ]);
      rmSync(folder.at('pipelines/one.yaml'));
      await library.look();
      expect(listed(library)).to.include('default lacking lacking.yaml stale missing_pipeline');
    });

    it('refuses one that is too long with the files that it names, without reading them for it', async () => {
      const filler = `# ${'x'.repeat(2 ** 20 - 500)}\n`;
      const parts = ['a', 'b', 'c', 'd', 'e'];
      for (const id of parts) write(`${id}.yaml`, filler + pipelineText(id, ''));
      write('plan.yaml', plan('plan', parts.map((id) => `{id: ${id}}`).join(', ')));
      const library = await open();
      const entry = await library.library.entry('default', 'plan');
      expect(entry.problems).to.deep.equal([
        {
          code: 'too_large',
          message: 'the plan and the files of its pipelines are longer than 4 MiB together',
          path: '',
          severity: 'error',
          hint: 'name fewer files, or make several plans',
        },
      ]);
      expect(count(library, parts)).to.deep.equal([1, 1, 1, 1, 1]);
    });

    it('counts the files that a plan names as often as plans hold them', async () => {
      const filler = `# ${'x'.repeat(2 ** 20 - 500)}\n`;
      const parts = ['a', 'b', 'c'];
      for (const id of parts) write(`${id}.yaml`, filler + pipelineText(id, ''));
      const names = parts.map((id) => `{id: ${id}}`).join(', ');
      write('p1.yaml', plan('p1', names));
      write('p2.yaml', plan('p2', names));
      const library = await open();
      const states = listed(library).filter((line) => / p\d /.test(line));
      expect(states.map((line) => line.replace(/p\d/g, 'p')).sort()).to.deep.equal([
        'default p p.yaml broken too_large',
        'default p p.yaml ok',
      ]);
    });
  });

  it('shows the changes of a tenant while a file of another one is read', async () => {
    const library = await open();
    const release = library.parser.hold('hard');
    write('tenants/evil/a.yaml', pipelineText('a', '', 'hard'));
    const first = library.look();
    const isSeen = deferred<void>();
    library.library.onChange(() => {
      if (library.library.find('acme', 'b') !== undefined) isSeen.resolve();
    });
    write('tenants/acme/b.yaml', pipelineText('b', ''));
    const second = library.look();
    await isSeen.promise;
    expect(library.library.find('evil', 'a')).to.equal(undefined);
    release();
    await Promise.all([first, second]);
    expect(listed(library)).to.deep.equal(['acme b tenants/acme/b.yaml ok', 'evil a tenants/evil/a.yaml ok']);
  });

  it('leaves its room to a file that is in use when another one comes before it', async () => {
    const filler = `# ${'x'.repeat(2 ** 20 - 500)}\n`;
    for (let index = 1; index <= 8; index++) write(`p${index}.yaml`, filler + pipelineText(`p${index}`, ''));
    const library = await open();
    write('early.yaml', filler + pipelineText('early', ''));
    write('p8.yaml', filler + pipelineText('p8', '', 'changed'));
    await library.look();
    expect(listed(library)).to.include('default early early.yaml broken too_large');
    expect(await library.show('p8')).to.include({ goal: 'changed', ok: true });
    rmSync(folder.at('pipelines/p8.yaml'));
    await library.look();
    expect(listed(library)).to.include('default early early.yaml ok');
  });

  describe('when files change', () => {
    it('sees a changed, a new and a removed file', async () => {
      write('a.yaml', pipelineText('a', '', 'old'));
      const library = await open();
      write('a.yaml', pipelineText('a', '', 'new'));
      write('b.yaml', pipelineText('b', ''));
      await library.look();
      expect((await library.show('a')).goal).to.equal('new');
      expect(listed(library)).to.deep.equal(['default a a.yaml ok', 'default b b.yaml ok']);
      rmSync(folder.at('pipelines/b.yaml'));
      await library.look();
      expect(listed(library)).to.deep.equal(['default a a.yaml ok']);
    });

    it('keeps the last version without errors in use, and shows the problems of the file', async () => {
      write('a.yaml', pipelineText('a', '', 'good'));
      const library = await open();
      for (const text of ['pipeline: {id: a', '', pipelineText('a', '').replace('tool: wait', 'tool: wat')]) {
        write('a.yaml', text);
        await library.look();
        const shown = await library.show('a');
        expect(shown).to.include({ id: 'a', goal: 'good', ok: false, stale: true });
        expect(shown.problems).to.not.deep.equal([]);
      }
      write('a.yaml', pipelineText('a', '', 'better'));
      await library.look();
      expect(await library.show('a')).to.include({ goal: 'better', ok: true, stale: false });
    });

    it('waits with a file that is still being written', async () => {
      const file = write('a.yaml', pipelineText('a', '', 'whole'));
      const library = await open();
      // A valid beginning of what is to come.
      writeFileSync(file, pipelineText('a', '', 'half'));
      await library.library.lookAgain();
      expect((await library.show('a')).goal).to.equal('whole');
      writeFileSync(file, `${pipelineText('a', '', 'half')}# more\n`);
      await library.library.lookAgain();
      expect((await library.show('a')).goal).to.equal('whole');
      await library.library.lookAgain();
      expect((await library.show('a')).goal).to.equal('half');
    });

    it('does not take a file for removed that an editor writes anew', async () => {
      const file = write('a.yaml', pipelineText('a', '', 'good'));
      const library = await open();
      renameSync(file, folder.at('pipelines/a.yaml~'));
      await library.library.lookAgain();
      expect(listed(library)).to.deep.equal(['default a a.yaml ok']);
      writeFileSync(file, 'pipeline: {id: a');
      await library.look();
      expect(await library.show('a')).to.include({ goal: 'good', stale: true });
    });

    it('keeps what it has when the whole folder cannot be read for a while, and says so once', async () => {
      write('a.yaml', pipelineText('a', ''));
      const library = await open();
      renameSync(folder.at('pipelines'), folder.at('away'));
      await library.look();
      expect(listed(library)).to.deep.equal(['default a a.yaml ok']);
      renameSync(folder.at('away'), folder.at('pipelines'));
      await library.look();
      expect(library.log.filter((line) => /cannot read the folder/.test(line))).to.have.length(1);
      expect(library.log.filter((line) => /can be read again/.test(line))).to.have.length(1);
    });

    it('sees a file that was cut to nothing and back with the same length', async () => {
      const file = write('a.yaml', pipelineText('a', '', 'aaa'));
      const library = await open();
      truncateSync(file);
      writeFileSync(file, pipelineText('a', '', 'bbb'));
      await library.look();
      expect((await library.show('a')).goal).to.equal('bbb');
    });
  });

  itTimed('has room for so many files, and leaves out the others', async () => {
    for (let index = 0; index <= LIBRARY_LIMITS.files; index++) {
      write(`p${String(index).padStart(4, '0')}.yaml`, pipelineText(`p${index}`, ''));
    }
    const library = await open();
    expect(library.library.entries).to.have.length(LIBRARY_LIMITS.files);
    expect(library.log.join('\n')).to.match(/there are more than 1,000 files.*p1000\.yaml/);
    // Without a change nothing is read again.
    expect(await measureCpuMs(() => library.library.lookAgain())).to.be.below(1000);
  });

  it('says of files for which there is no room that there is none, and reads the others', async () => {
    const filler = `# ${'x'.repeat(2 ** 20 - 500)}\n`;
    for (let index = 0; index < 10; index++) write(`p${index}.yaml`, filler + pipelineText(`p${index}`, ''));
    write('tenants/acme/small.yaml', pipelineText('small', ''));
    const entries = listed(await open());
    expect(entries.filter((line) => line.endsWith('too_large'))).to.deep.equal([
      'default p8 p8.yaml broken too_large',
      'default p9 p9.yaml broken too_large',
    ]);
    expect(entries[0]).to.equal('acme small tenants/acme/small.yaml ok');
  });

  it('refuses to begin with a folder that is not there, or is none', async () => {
    folder.write('file', '');
    for (const name of ['absent', 'file']) {
      const error = await PipelineLibrary.open({ folder: folder.at(name) } as never).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(errorMessage(error)).to.match(
        /^cannot read the folder of SERVICE_PIPELINES, .*: there is no such file$/,
      );
    }
  });
});
