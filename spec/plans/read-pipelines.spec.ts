import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { readSource } from '../../lib/definition/text/source.js';
import { readPipelines } from '../../lib/plans/load.js';
import type { PipelineInput } from '../../lib/plans/plan.js';
import { wrapSubPipelines } from '../support/definitions/check-plan.js';
import { asUnprivilegedUser } from '../support/unprivileged-user.js';
import { TemporaryFolder } from '../support/temporary-folder.js';

describe('readPipelines (D44)', () => {
  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = new TemporaryFolder();
  });

  afterEach(() => folder.remove());

  /** Reads the pipeline of one sub-pipeline `b` with this `file`. */
  async function readInputOfB(file?: string, planFile?: string): Promise<PipelineInput | undefined> {
    const text = wrapSubPipelines(
      file === undefined ? '- {id: b}' : `- {id: b, file: ${JSON.stringify(file)}}`,
    );
    return (await readPipelines(readSource(text), folder.at('plans'), planFile)).get('b');
  }

  async function missing(file?: string, planFile?: string): Promise<{ message: string; hint?: string }> {
    const given = await readInputOfB(file, planFile);
    if (given !== undefined && 'missing' in given) return given.missing;
    if (given !== undefined && 'unreadable' in given) return given.unreadable;
    throw new Error(`it is there: ${JSON.stringify(given)}`);
  }

  async function missingMessage(file?: string, planFile?: string): Promise<string> {
    return (await missing(file, planFile)).message;
  }

  it('reads files beside or below the plan', async () => {
    folder.write('plans/below/b.yaml', 'text');
    expect(await readInputOfB('below/b.yaml')).to.deep.equal({ text: 'text', file: 'below/b.yaml' });
    expect(await readInputOfB('./below/../below/b.yaml')).to.include({ text: 'text' });
  });

  it('reads siblings named after the sub-pipelines when no file is named: yaml, yml, json, in this order', async () => {
    for (const ending of ['json', 'yml', 'yaml']) {
      folder.write(`plans/b.${ending}`, ending);
      expect(await readInputOfB()).to.deep.equal({ text: ending, file: `b.${ending}` });
    }
  });

  it('reports missing files with the paths that were tried', async () => {
    folder.write('plans/c.yaml', '');
    const place = folder.at('plans');
    expect(await missingMessage('x/b.yaml')).to.equal(
      `sub-pipeline "b": there is no file "x/b.yaml" in ${place}`,
    );
    expect(await missingMessage('c.yaml/b.yaml')).to.contain('there is no file "c.yaml/b.yaml"');
    expect(await missingMessage()).to.equal(
      `sub-pipeline "b" has no "file", and there is no b.yaml, b.yml or b.json in ${place}`,
    );
  });

  it('distinguishes a file that is not there from one that cannot be read (D55)', async () => {
    mkdirSync(folder.at('plans/folder.yaml'), { recursive: true });
    const plan = folder.write('plans/b.yaml', 'text');
    for (const file of ['absent.yaml', 'absent/b.yaml', 'b.yaml/b.yaml']) {
      expect(await readInputOfB(file), file).to.have.property('missing');
    }
    for (const file of ['folder.yaml', '../b.yaml', '/etc/passwd', 'b.yaml']) {
      expect(await readInputOfB(file, plan), file).to.have.property('unreadable');
    }
    expect(await readInputOfB(undefined, plan)).to.have.property('unreadable');
  });

  it('suggests a similar file for a missing one', async () => {
    const plan = folder.write('plans/letter.yml', '');
    folder.write('plans/letters.yaml', '');
    folder.write('plans/letter.txt', '');
    folder.write('plans/below/tides.json', '');
    mkdirSync(folder.at('plans/letterr.yaml'));
    expect((await missing('letter.yaml', plan)).hint).to.equal('did you mean "letters.yaml"?');
    expect((await missing('./letter.yaml', plan)).hint).to.equal('did you mean "letters.yaml"?');
    expect((await missing('below/tide.json')).hint).to.equal('did you mean "below/tides.json"?');
    expect(await missing('harbour.yaml', plan)).not.to.have.property('hint');
    expect(await missing('gone/letter.yaml', plan)).not.to.have.property('hint');
  });

  it('suggests no files behind a link that leads out of the folder', async () => {
    folder.write('secret/letters.yaml', 'secret');
    mkdirSync(folder.at('plans'));
    symlinkSync(folder.at('secret'), folder.at('plans/below'));
    expect(await missing('below/letter.yaml')).not.to.have.property('hint');
  });

  it('never reads outside the folder, whatever the path', async () => {
    const outside = folder.write('b.yaml', 'secret');
    const beside = folder.write('plans-of-others/b.yaml', 'secret');
    folder.write('plans/c.yaml', '');
    const place = folder.at('plans');
    for (const path of ['../b.yaml', 'x/../../b.yaml', '../plans-of-others/b.yaml', '../absent.yaml']) {
      expect(await missingMessage(path), path).to.equal(
        `sub-pipeline "b": cannot read "${path}": it is outside the plan's folder ${place}`,
      );
    }
    for (const path of [outside, beside, folder.at('plans/c.yaml'), '/etc/passwd']) {
      expect(await missingMessage(path), path).to.contain(
        `a path must be relative to the plan's folder ${place}`,
      );
    }
  });

  it('never reads through a link that leads out, to a file or a folder', async () => {
    folder.write('secret/b.yaml', 'secret');
    mkdirSync(folder.at('plans'));
    symlinkSync(folder.at('secret/b.yaml'), folder.at('plans/link.yaml'));
    symlinkSync(folder.at('secret/b.yaml'), folder.at('plans/b.yaml'));
    symlinkSync(folder.at('secret'), folder.at('plans/below'));
    for (const path of ['link.yaml', 'below/b.yaml', undefined]) {
      expect(await missingMessage(path), path).to.contain(
        `it is outside the plan's folder ${folder.at('plans')}`,
      );
    }
  });

  it('follows links within the folder, and a link to the folder', async () => {
    folder.write('real/c.yaml', 'text');
    symlinkSync(folder.at('real/c.yaml'), folder.at('real/b.yaml'));
    symlinkSync(folder.at('real'), folder.at('plans'));
    expect(await readInputOfB('b.yaml')).to.include({ text: 'text' });
  });

  it('reads only regular files, without waiting for pipes or opening devices', async () => {
    mkdirSync(folder.at('plans/b.yml'), { recursive: true });
    execFileSync('mkfifo', [folder.at('plans/pipe')]);
    symlinkSync('/dev/zero', folder.at('plans/zero'));
    symlinkSync('circle', folder.at('plans/circle'));
    expect(await missingMessage('pipe')).to.contain('not a regular file');
    expect(await missingMessage('zero')).to.contain("outside the plan's folder");
    expect(await missingMessage('circle')).to.contain('links lead in a circle');
    expect(await missingMessage('.')).to.contain('it is a folder');
    expect(await missingMessage()).to.equal(
      'sub-pipeline "b": cannot read "b.yml": it is a folder: name a file in it',
    );
  });

  it('rejects files that are too large or not UTF-8', async () => {
    folder.write('plans/utf16', Buffer.from('\uFEFFid: p', 'utf16le'));
    folder.write('plans/binary', new Uint8Array([0x61, 0xff, 0x62]));
    folder.write('plans/large', Buffer.alloc(16 * 2 ** 20 + 1, 0x20));
    folder.write('plans/marked', '\uFEFFid: p');
    expect(await missingMessage('utf16')).to.contain('it looks like UTF-16');
    expect(await missingMessage('binary')).to.contain('it is not UTF-8 text');
    expect(await missingMessage('large')).to.contain('larger than the limit of 16 MiB');
    expect(await readInputOfB('marked')).to.include({ text: 'id: p' });
  });

  it('rejects unusual paths with a message', async () => {
    mkdirSync(folder.at('plans'));
    expect(await missingMessage('a\0b')).to.contain('a path cannot contain a NUL character');
    expect(await missingMessage('x'.repeat(5000))).to.contain('its name is too long');
  });

  it('rejects files without permission with a message', async () => {
    chmodSync(folder.write('plans/b.yaml', 'text'), 0);
    await asUnprivilegedUser(async () => expect(await missingMessage()).to.contain('permission denied'));
  });

  it('rejects the plan itself, whether named, linked or a sibling', async () => {
    const plan = folder.write('plans/b.yaml', 'text');
    symlinkSync(plan, folder.at('plans/link.yaml'));
    for (const path of ['b.yaml', 'link.yaml']) {
      expect(await missing(path, plan)).to.deep.equal({
        message: `sub-pipeline "b" names the plan itself: ${path}`,
        hint: 'name the file of its own pipeline',
      });
    }
    expect(await missingMessage(undefined, plan)).to.equal(
      'sub-pipeline "b" has no "file", and b.yaml is the plan itself',
    );
  });

  it('reads nothing for an inline pipeline, or when the text is not a plan', async () => {
    folder.write('a.yaml', 'text');
    expect(
      await readPipelines(readSource(wrapSubPipelines('- {id: a, file: a.yaml, pipeline: {}}')), folder.path),
    ).to.have.property('size', 0);
    for (const text of ['', ': [', 'pipeline: {id: a}', '- a', 'sub_pipelines: 1']) {
      expect((await readPipelines(readSource(text), folder.path)).size, text).to.equal(0);
    }
  });

  it('reads only the first of two sub-pipelines with the same id', async () => {
    for (const name of ['x', 'y']) folder.write(`${name}.yaml`, name);
    const text = wrapSubPipelines('- {id: b, file: x.yaml}\n- {id: b, file: y.yaml}');
    expect((await readPipelines(readSource(text), folder.path)).get('b')).to.include({ text: 'x' });
  });

  it('reads 500 files and returns them in declared order', async () => {
    const ids = Array.from({ length: 500 }, (_, index) => `p${index}`);
    for (const id of ids) folder.write(`${id}.yml`, id);
    const pipelines = await readPipelines(
      readSource(wrapSubPipelines(ids.map((id) => `- {id: ${id}}`).join('\n'))),
      folder.path,
    );
    expect([...pipelines.keys()]).to.deep.equal(ids);
    expect([...pipelines.values()]).to.deep.equal(ids.map((id) => ({ text: id, file: `${id}.yml` })));
  });

  it('reports every file as missing when the folder does not exist', async () => {
    expect(await missingMessage('b.yaml')).to.contain('there is no file "b.yaml"');
    expect(await missingMessage()).to.contain('there is no b.yaml, b.yml or b.json');
  });
});
