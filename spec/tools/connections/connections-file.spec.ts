import { chmodSync } from 'node:fs';
import { expect } from 'chai';
import {
  parseConnectionsFile,
  readConnectionsFile,
} from '../../../lib/tools/connections/connections-file.js';
import { invoke } from '../../cli/invoke.js';
import { catchRejection } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const STORE =
  '{type: s3, endpoint: "https://s3.example/", region: eu, access_key_id: abcd1, secret_access_key: efgh2';

describe('A connections file (D92)', () => {
  it('gives each tenant its own connections, and no other', () => {
    const connections = parseConnectionsFile(
      `default:\n  warehouse: {url: "postgres://u:sesame-22@host/db"}\n  local: {type: database, url: "sqlite:a.db"}\nacme:\n  files: ${STORE}, buckets: [in], path_style: true}\n`,
      'c.yaml',
    );
    expect(connections.find('default', 'warehouse')).to.deep.equal({
      type: 'database',
      url: 'postgres://u:sesame-22@host/db',
    });
    expect(connections.find('acme', 'files')).to.deep.equal({
      type: 's3',
      endpoint: 'https://s3.example',
      region: 'eu',
      accessKeyId: 'abcd1',
      secretAccessKey: 'efgh2',
      buckets: ['in'],
      pathStyle: true,
    });
    expect(connections.find('acme', 'warehouse')).to.equal(undefined);
    expect(connections.find('toString', 'warehouse')).to.equal(undefined);
    expect(connections.namesOf('default')).to.deep.equal(['local', 'warehouse']);
    expect(connections.namesOf('nobody')).to.deep.equal([]);
  });

  const broken: [title: string, text: string, message: RegExp][] = [
    [
      'a connection without a tenant',
      'db: {url: "sqlite:sesame-22"}',
      /line 1: "url" must be a connection such as/,
    ],
    ['a name with a space', 'default:\n  a b: {url: "sqlite:sesame-22"}', /line 2: a name must have letters/],
    [
      'a text as a connection',
      'default:\n  db: sqlite:sesame-22',
      /"db" must be a connection such as .*not a string/,
    ],
    [
      'an unknown type',
      'default:\n  db: {type: ftp, url: "x"}',
      /the "type" of "db" must be s3, or database/,
    ],
    [
      'an unknown key',
      'default:\n  db: {urll: "sesame-22"}',
      /line 2: "db" has no "urll": did you mean "url"\?/,
    ],
    ['no URL', 'default:\n  db: {}', /"db" lacks "url": write \{url:/],
    ['a number', 'default:\n  db: {url: 12345678}', /the "url" of "db" must be a text, not a number/],
    [
      'another scheme',
      'default:\n  db: {url: "oracle://sesame-22"}',
      /"url" of "db" must begin with postgres/,
    ],
    [
      'a password that breaks the URL',
      'default:\n  db: {url: "postgres://u:se/same-22#x@host/db"}',
      /"url" of "db" must be like postgres:.*percent-encoded/,
    ],
    [
      'a short password',
      'default:\n  db: {url: "mysql://u:122@h/db"}',
      /has a password that has fewer than 4/,
    ],
    ['no keys', 'default:\n  s: {type: s3, endpoint: "https://h", region: r}', /"s" lacks "access_key_id"/],
    [
      'a bad endpoint',
      `default:\n  s: ${STORE.replace('https://', 'ftp://')}}`,
      /"endpoint" of "s" must be an address/,
    ],
    [
      'buckets that are no list',
      `default:\n  s: ${STORE}, buckets: sesame-22}`,
      /"buckets" of "s" must be a list/,
    ],
  ];
  for (const [title, text, message] of broken) {
    it(`is refused with ${title}, in words without a value`, () => {
      expect(() => parseConnectionsFile(text, 'c.yaml'))
        .to.throw(message)
        .with.property('code', 'bad_usage');
      expect(() => parseConnectionsFile(text, 'c.yaml')).not.to.throw(/sesame|same-22|122$|12345678/);
    });
  }

  const folder = new TemporaryFolder();
  after(() => folder.remove());

  it('is read when others may not read it, and doctor lists its names', async function () {
    if (process.platform === 'win32') return this.skip();
    const file = folder.write('c.yaml', 'default: {warehouse: {url: "postgres://u:sesame-22@host/db"}}');
    chmodSync(file, 0o644);
    expect(String(await catchRejection(readConnectionsFile(file, 'c.yaml')))).to.match(
      /others may read or change it/,
    );
    const env = { SERVICE_CONNECTIONS: 'c.yaml' };
    const { status, stdout } = await invoke(['doctor'], { cwd: folder.path, env: { ...env } });
    expect(status).to.equal(3);
    expect(stdout).to.match(/connections +cannot read the connections file c\.yaml: others may/);
    chmodSync(file, 0o600);
    const { stdout: good } = await invoke(['doctor'], { cwd: folder.path, env: { ...env } });
    expect(good)
      .to.match(/connections +default: warehouse/)
      .and.not.to.include('sesame');
  });
});
