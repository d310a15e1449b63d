import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { createAuthenticator } from '../../../lib/http/auth/authenticate.js';
import { parseKeysFile, readKeysFile } from '../../../lib/http/auth/keys-file.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { type Invocation, invoke } from '../invoke.js';
import { sha256 } from '../../support/http/api-key.js';

/** Creates the same key each time. */
const fixedBytes = (value: number) => (count: number) => new Uint8Array(count).fill(value);
describe('keys new (D37, D43)', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  const keysNew = (flags: readonly string[], value = 7): Promise<Invocation> =>
    invoke(['keys', 'new', ...flags], { cwd: folder.path, secretBytes: fixedBytes(value) });

  it('prints a key of 32 random bytes once, and an entry that authenticates it', async () => {
    const { status, stdout, stderr } = await keysNew(['--name', 'ada']);
    expect(status).to.equal(0);
    const [key = '', empty, ...entry] = stdout.split('\n');
    expect(key).to.equal(`wt_${Buffer.alloc(32, 7).toString('base64url')}`);
    expect(empty).to.equal('');
    expect(stdout.split(key)).to.have.length(2);
    expect(stderr).to.contain('SERVICE_API_KEYS_FILE').and.not.to.contain(key);
    const keys = parseKeysFile(entry.join('\n'), 'entry');
    expect(keys).to.deep.equal([
      { name: 'ada', sha256: sha256(key), tenants: ['default'], scopes: ['read', 'run'] },
    ]);
    expect(createAuthenticator(keys, false)({ headersDistinct: { 'x-api-key': [key] } })).to.include({
      name: 'ada',
    });
  });

  it('creates a key with the scope "admin", which no key has otherwise (D74)', async () => {
    const { stdout } = await keysNew(['--name', 'backups', '--scope', 'admin']);
    const keys = parseKeysFile(stdout.slice(stdout.indexOf('\n')), 'entry');
    expect(keys.map(({ scopes }) => scopes)).to.deep.equal([['admin']]);
  });

  it('creates a different key with a different name each time', async () => {
    const made = await Promise.all(
      [1, 2].map(
        async () =>
          JSON.parse((await invoke(['keys', 'new', '--json'])).stdout) as { key: string; name: string },
      ),
    );
    expect(new Set(made.map(({ key }) => key))).to.have.property('size', 2);
    for (const { key, name } of made) expect(name).to.equal(`key-${sha256(key).slice(0, 8)}`);
  });

  it('prints one JSON document with --json (D41)', async () => {
    const flags = ['--name', 'Zoë "☂"', '--tenant', 'a', '--tenant', 'b', '--scope', 'metrics', '--json'];
    const { stdout, stderr } = await keysNew(flags);
    const key = `wt_${Buffer.alloc(32, 7).toString('base64url')}`;
    expect(JSON.parse(stdout)).to.deep.equal({
      key,
      name: 'Zoë "☂"',
      sha256: sha256(key),
      tenants: ['a', 'b'],
      scopes: ['metrics'],
    });
    expect(stderr).to.equal('');
  });

  it('adds entries to a file that only its owner can read, and prints only the key', async () => {
    const first = await keysNew(['--file', 'keys.yaml'], 1);
    const second = await keysNew(['--file', 'keys.yaml', '--tenant', '*'], 2);
    expect(statSync(folder.at('keys.yaml')).mode & 0o777).to.equal(0o600);
    const keys = await readKeysFile(folder.at('keys.yaml'));
    expect(keys.map(({ sha256: hash }) => hash)).to.deep.equal(
      [first, second].map(({ stdout }) => sha256(stdout.trimEnd())),
    );
    expect(first.stderr).to.contain('keys.yaml');
  });

  it('appends to a file whose last line is unterminated, and keeps its content', async () => {
    const there = `# ours\n- {name: old, sha256: "${'ab'.repeat(32)}", tenants: [x]} # last`;
    folder.write('old.yaml', there);
    expect((await keysNew(['--file', 'old.yaml'])).status).to.equal(0);
    expect(readFileSync(folder.at('old.yaml'), 'utf8').startsWith(there)).to.equal(true);
    expect(await readKeysFile(folder.at('old.yaml'))).to.have.length(2);
  });

  const KEPT: [what: string, text: string | Uint8Array, flags: string[], message: RegExp][] = [
    [
      'already has the name',
      `- {name: a, sha256: "${'ab'.repeat(32)}", tenants: [x]}`,
      ['--name', 'a'],
      /keys 1 and 2 have the same name/,
    ],
    ['is no list', 'keys: []\n', [], /line \d/],
    ['is a list that cannot be added to', '[]\n', [], /cannot add a key to/],
    ['is not UTF-8', Buffer.from([0xff]), [], /cannot add a key to/],
  ];
  for (const [what, text, flags, message] of KEPT) {
    it(`does not change a file that ${what}, and prints no key`, async () => {
      const path = folder.write('kept.yaml', text);
      const { status, stdout, stderr } = await keysNew(['--file', 'kept.yaml', ...flags]);
      expect(status).to.equal(2);
      expect(stdout).to.equal('');
      expect(stderr).to.match(message).and.not.to.contain('bad_usage');
      expect(readFileSync(path)).to.deep.equal(Buffer.from(text));
    });
  }

  it('replaces the file that a link leads to, and keeps its mode', async () => {
    const entry = `- {name: old, sha256: "${'cd'.repeat(32)}", tenants: [x]}\n`;
    chmodSync(folder.write('real/keys.yaml', entry), 0o640);
    symlinkSync('real/keys.yaml', folder.at('linked.yaml'));
    expect((await keysNew(['--file', 'linked.yaml'])).status).to.equal(0);
    expect(lstatSync(folder.at('linked.yaml')).isSymbolicLink()).to.equal(true);
    expect(statSync(folder.at('real/keys.yaml')).mode & 0o777).to.equal(0o640);
    expect(await readKeysFile(folder.at('real/keys.yaml'))).to.have.length(2);
    expect(readdirSync(folder.at('real'))).to.deep.equal(['keys.yaml']);
  });

  it('creates the file that a link leads to', async () => {
    symlinkSync('missing.yaml', folder.at('dangling.yaml'));
    expect((await keysNew(['--file', 'dangling.yaml'])).status).to.equal(0);
    expect(await readKeysFile(folder.at('missing.yaml'))).to.have.length(1);
  });

  it('adds all keys or says which it did not add when several commands change one file at once', async () => {
    const all = await Promise.all(
      [1, 2, 3, 4].map((value) => keysNew(['--file', 'busy.yaml', '--name', `k${value}`], value)),
    );
    const added = all.filter(({ status }) => status === 0).length;
    expect(await readKeysFile(folder.at('busy.yaml'))).to.have.length(added);
    expect(added).to.be.greaterThan(0);
    for (const { status, stderr } of all) {
      if (status !== 0)
        expect(stderr).to.match(/busy\.yaml\.new exists: another process is changing the file/);
    }
  });

  const REFUSED: [flags: string[], message: RegExp][] = [
    [['--name', ''], /--name: name must not be empty/],
    [['--name', 'a\nb'], /cannot be printed/],
    [['--tenant', 'a b'], /--tenant: "a b" is not a tenant/],
    [['--tenant', '*', '--tenant', 'a'], /must be the only entry/],
    [['--scope', 'reed'], /--scope: there is no scope "reed": did you mean read/],
    [['--file', 'no/such/folder.yaml'], /cannot add a key to/],
    [['--file', '.'], /it is a folder; nothing was changed/],
    [['--file', '/dev/null'], /it is not a regular file/],
  ];
  for (const [flags, message] of REFUSED) {
    it(`exits with 2 for ${flags.join(' ').replace('\n', ' ')}`, async () => {
      const { status, stdout, stderr } = await keysNew(flags);
      expect(status).to.equal(2);
      expect(stdout).to.equal('');
      expect(stderr).to.match(message);
    });
  }
});
