import { mkdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { systemClock } from '../../../../lib/common/clock.js';
import type { Json, JsonObject } from '../../../../lib/common/json/json.js';
import { exportFile } from '../../../../lib/tools/builtin/export.js';
import { listFiles } from '../../../../lib/tools/builtin/files/list-files.js';
import { readFile } from '../../../../lib/tools/builtin/files/read-file.js';
import { writeFile } from '../../../../lib/tools/builtin/files/write-file.js';
import { ingestDocument } from '../../../../lib/tools/builtin/ingest-document.js';
import { loadSchema } from '../../../../lib/tools/builtin/load-schema.js';
import { AttemptFiles, fileAccess } from '../../../../lib/tools/files/file-access.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import type { Tool, ToolContext } from '../../../../lib/tools/tool.js';
import { catchToolMessage } from '../../../support/rejection.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { type TestContext, toolContext } from '../../../support/tool-context.js';
import { connectionsOf, S3Server } from '../../files/object-stores/s3-server.js';
import { fetchCaller, loopbackNetwork } from '../../fetching/loopback-server.js';

describe('Tools with files (D92)', () => {
  const folder = useTemporaryFolder();
  let server: S3Server;
  let context: ToolContext & Pick<TestContext, 'written'>;

  beforeEach(async () => {
    server = await S3Server.start('bucket');
    const network = loopbackNetwork();
    const caller = fetchCaller({ clock: systemClock });
    const base = {
      ...toolContext({
        connections: connectionsOf({ files: server.connection() }),
        fetch: (url, options = {}) => network.fetch(url, options, caller),
      }),
      clock: systemClock,
    };
    const files = fileAccess([folder.path], undefined, { writable: { folders: [folder.at('outputs')] } });
    context = { ...base, files: new AttemptFiles(files, base) };
  });

  afterEach(() => server.close());

  async function call(tool: Tool, inputs: Record<string, Json>): Promise<unknown> {
    const validated = validateInputs(tool, inputs);
    if (!validated.ok) throw new Error(validated.errors.join('; '));
    return await tool.run(validated.inputs, context, {
      functions: new Map(),
      schemas: new Map(),
      sources: new Map(),
    });
  }

  const write = (path: string, content: Json, more: JsonObject = {}): Promise<unknown> =>
    call(writeFile, { path, content, ...more });
  const read = (path: Json, more: JsonObject = {}): Promise<unknown> => call(readFile, { path, ...more });

  describe('write_file and read_file', () => {
    it('write a text as it is, a value as JSON, and bytes, and read each of them', async () => {
      for (const prefix of ['', 's3://bucket/']) {
        const at = (name: string): string => (prefix === '' ? folder.at(`outputs/${name}`) : prefix + name);
        expect(await write(`${prefix}a.txt`, 'ä\nb\r\n')).to.deep.include({
          status: 'written',
          path: at('a.txt'),
          size: 6,
        });
        expect(await read(at('a.txt'))).to.equal('ä\nb\r\n');
        expect(await read(at('a.txt'), { output: 'lines' })).to.deep.equal(['ä', 'b']);
        await write(`${prefix}a.json`, { a: [1] });
        expect(await read(at('a.json'))).to.equal('{\n  "a": [\n    1\n  ]\n}');
        expect(await read(at('a.json'), { output: 'json' })).to.deep.equal({ a: [1] });
        await write(`${prefix}a.bin`, 'AAEC/w==', { encoding: 'base64' });
        expect(await read(at('a.bin'), { output: 'base64' })).to.equal('AAEC/w==');
      }
    });

    it('keep a file of any size among those of the run', async () => {
      const content = Buffer.alloc(11 * 2 ** 20, 1);
      folder.write('large.pdf', content);
      const kept = await read('large.pdf', { output: 'file' });
      expect(kept).to.deep.include({
        name: 'large.pdf',
        size: content.length,
        media_type: 'application/pdf',
      });
      expect(context.written[0]?.bytes).to.have.length(content.length);
      expect(await catchToolMessage(read('large.pdf'))).to.contain(
        '"output: file" makes it a file of the run',
      );
    });

    it('refuse what is too large, what is no text, JSON or base64, and what is not there', async () => {
      folder.write('a.bin', Buffer.from([0xff, 0xfe, 0xfd]));
      expect(await catchToolMessage(read('a.bin'))).to.contain('UTF-16');
      expect(await catchToolMessage(read('a.bin', { max_bytes: 2 }))).to.contain('more than the limit');
      expect(await catchToolMessage(read('none'))).to.contain('there is no such file');
      expect(await catchToolMessage(read('s3://bucket/none'))).to.contain('there is no such object');
      folder.write('a.json', '{');
      expect(await catchToolMessage(read('a.json', { output: 'json' }))).to.contain('"a.json" is not JSON');
      expect(await catchToolMessage(write('a', '?', { encoding: 'base64' }))).to.contain('must be base64');
      expect(await catchToolMessage(write('a', 'x'.repeat(10 * 2 ** 20 + 1)))).to.contain('more than 10 MiB');
      expect(
        await catchToolMessage(write('a', ' '.repeat(2 ** 20) + '!', { encoding: 'base64' })),
      ).to.contain('base64');
    });
  });

  describe('list_files', () => {
    const list = async (path: string, more: JsonObject = {}): Promise<[string[], boolean]> => {
      const { files, truncated } = (await call(listFiles, { path, ...more })) as {
        files: { path: string }[];
        truncated: boolean;
      };
      return [files.map((file) => file.path), truncated];
    };

    beforeEach(async () => {
      for (const name of ['in/a.csv', 'in/b.txt', 'in/deep/c.csv', 'in/deep/er/d.csv', 'other.csv']) {
        folder.write(name, 'x');
        await write(`s3://bucket/${name}`, 'x');
      }
      mkdirSync(folder.at('empty'));
    });

    for (const [inputs, paths] of [
      [{ path: 'in' }, ['in/a.csv', 'in/b.txt']],
      [{ path: 'in/', pattern: '*.csv' }, ['in/a.csv']],
      [{ path: 'in', pattern: '**/*.csv' }, ['in/a.csv', 'in/deep/c.csv', 'in/deep/er/d.csv']],
      [{ path: 'in', pattern: 'deep/*.csv' }, ['in/deep/c.csv']],
      [{ path: 'in', pattern: '?.t*t' }, ['in/b.txt']],
      [{ path: 'in', include: 'folders' }, ['in/deep']],
      [{ path: 'in', include: 'all', max_entries: 1 }, ['in/a.csv']],
    ] as const) {
      it(`lists ${JSON.stringify(inputs)} of folders and of a store alike`, async () => {
        const { path, ...more } = inputs;
        const isCut = 'max_entries' in inputs;
        if (!isCut) expect(await list(path, more)).to.deep.equal([paths, false]);
        else expect((await list(path, more))[1]).to.equal(true);
        const [found, truncated] = await list(`s3://bucket/${path}`, more);
        expect(truncated).to.equal(isCut);
        if (!isCut) expect(found).to.deep.equal(paths.map((each) => `s3://bucket/${each}`));
      });
    }

    it('says size, time and name of each, whose path other tools take', async () => {
      const { files } = (await call(listFiles, { path: '.', pattern: 'other.csv' })) as {
        files: JsonObject[];
      };
      expect(files[0]).to.include({ name: 'other.csv', path: 'other.csv', size: 1, is_folder: false });
      expect(files[0]?.['modified']).to.match(/^20\d\d-/);
      expect(await read(files[0]?.['path'] ?? null)).to.equal('x');
      expect(await list('empty')).to.deep.equal([[], false]);
      expect((await list('s3://bucket', { pattern: '**/d.*' }))[0]).to.deep.equal([
        's3://bucket/in/deep/er/d.csv',
      ]);
    });

    it('cuts the list of a store that never ends', async () => {
      server.intercept = (_, response) => {
        const entries = '<Contents><Key>k</Key><Size>1</Size></Contents>'.repeat(500);
        response.end(
          `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>${entries}</ListBucketResult>`,
        );
        return true;
      };
      expect((await list('s3://bucket', { pattern: 'none' }))[1]).to.equal(true);
      expect(server.requests.length).to.be.below(220);
    });

    for (const [more, problem] of [
      [{ path: '..' }, 'may not climb'],
      [{ path: '/etc' }, 'outside the allowed folders'],
      [{ path: 's3://bucket/../x' }, 'may not have "." or ".."'],
      [{ path: '.', pattern: '../*' }, '"pattern": a pattern must be a path below the folder'],
      [{ path: '.', pattern: '*'.repeat(101) }, 'more than 100 characters'],
    ] as const) {
      it(`refuses ${JSON.stringify(more).slice(0, 50)}`, async () => {
        expect(await catchToolMessage(call(listFiles, more))).to.contain(problem);
      });
    }
  });

  it('s3:// is accepted by ingest_document, load_schema and export', async () => {
    await write('s3://bucket/a.csv', 'x,y\n1,2\n');
    expect(await call(ingestDocument, { path: 's3://bucket/a.csv' })).to.deep.include({
      rows: [{ x: 1, y: 2 }],
    });
    await write('s3://bucket/fields.json', ['total']);
    expect(await call(loadSchema, { source: 's3://bucket/fields.json' })).to.deep.include({ raw: ['total'] });
    const inputs = { data: [{ a: 1 }], filename: 's3://bucket/reports/r.csv', connection: 'files' };
    expect(await call(exportFile, inputs)).to.deep.include({
      path: 's3://bucket/reports/r.csv',
      name: 'r.csv',
      size: 6,
    });
    expect(await read('s3://bucket/reports/r.csv')).to.equal('a\r\n1\r\n');
    expect(context.written).to.deep.equal([]);
    expect(readFileSync(folder.write('x', 'y'), 'utf8')).to.equal('y');
  });
});
