import { expect } from 'chai';
import fc from 'fast-check';
import { encodeSecret, findSecretProblem } from '../../../lib/definition/secrets/encodings.js';
import { Masker } from '../../../lib/definition/secrets/masker.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

const secretText = fc
  .oneof(
    fc.string({ minLength: 4, maxLength: 40 }),
    fc.string({ minLength: 4, maxLength: 20, unit: 'grapheme' }),
    fc.constantFrom('p"a\\s\n\ts/w', 'a+b c&d=e', 'sk-live-1234567890', '密码密码密码'),
  )
  .filter((text) => findSecretProblem(text) === undefined && !text.includes('*'));

describe('A masker (D61)', () => {
  const cases: [title: string, secrets: string[], text: string, masked: string][] = [
    ['replaces a secret in a text', ['hunter22'], 'login hunter22!', 'login ***!'],
    ['replaces all of a text', ['hunter22'], 'hunter22', '***'],
    ['replaces each of several', ['hunter22'], 'hunter22hunter22', '******'],
    ['takes the longer one of two that begin together', ['abcd', 'abcdefgh'], 'x abcdefgh y', 'x *** y'],
    ['leaves nothing of a secret that contains another', ['cdef', 'abcdefgh'], '(abcdefgh)', '(***)'],
    ['replaces secrets that overlap as one', ['abcdef', 'defghi'], '-abcdefghi-', '-***-'],
    ['leaves a part of a secret', ['hunter22'], 'hunter2 unter22', 'hunter2 unter22'],
    ['ignores spaces around a secret', [' hunter22\n'], '<hunter22>', '<***>'],
    ['keeps a short text', ['hunter22'], 'hun', 'hun'],
    [
      'replaces the beginning of a secret that was cut',
      ['hunter22'],
      'body: hunter2 … (9 characters)',
      'body: *** … (9 characters)',
    ],
    [
      'replaces what Node.js has cut from a secret',
      ['hunter22-abc'],
      'token "hunter22-a"... is not JSON',
      'token "***"... is not JSON',
    ],
    ['replaces the end of a secret after a cut', ['hunter22-abc'], '..."22-abc}" is not', '..."***}" is not'],
    ['replaces the middle of a secret between two cuts', ['hunter22-abc'], '…"ter22-a"… no', '…"***"… no'],
    ['leaves other words beside a cut', ['hunter22'], 'see the hut … and 2 more', 'see the hut … and 2 more'],
  ];
  for (const [title, secrets, text, masked] of cases) {
    it(title, () => {
      expect(new Masker(secrets).mask(text)).to.equal(masked);
    });
  }

  const awkward = 'p"a\\s\n\té/w +&';
  const encoded: [title: string, text: string][] = [
    ['as it is', awkward],
    ['in JSON, where it spans several escapes', JSON.stringify(awkward).slice(1, -1)],
    ['in JSON within JSON', JSON.stringify(JSON.stringify(awkward)).slice(3, -3)],
    ['in JSON of letters in ASCII', JSON.stringify(awkward).slice(1, -1).replace('é', String.raw`\u00e9`)],
    ['in JSON with escaped slashes', JSON.stringify(awkward).slice(1, -1).replace('/', String.raw`\/`)],
    ['percent-encoded', encodeURIComponent(awkward)],
    [
      'percent-encoded in small digits',
      encodeURIComponent(awkward).replaceAll(/%../g, (x) => x.toLowerCase()),
    ],
    ['in a form', new URLSearchParams({ x: awkward }).toString().slice(2)],
    ['in HTML', awkward.replace('&', '&amp;').replace('"', '&quot;')],
    ['in Base64', Buffer.from(awkward).toString('base64').replaceAll('=', '')],
    ['in Base64 for URLs', Buffer.from(awkward).toString('base64url')],
  ];
  for (const [title, text] of encoded) {
    it(`finds a secret ${title}`, () => {
      const masked = new Masker([awkward]).mask(`<<${text}>>`);
      // The last character of Base64 may also depend on what follows.
      expect(masked).to.match(/^<<\*\*\*.?=*>>$/);
    });
  }

  it('finds a secret in the middle of Base64, as in the header of a user and a password', () => {
    const masker = new Masker(['open sesame 22']);
    for (const user of ['', 'a', 'al', 'ali', 'alice']) {
      const header = Buffer.from(`${user}:open sesame 22`).toString('base64');
      expect(masker.mask(`Basic ${header}`)).to.include('***');
      expect(masker.mask(`Basic ${header}`).length).to.be.below(6 + Buffer.from(`${user}:`).length * 2 + 8);
    }
  });

  it('replaces a number that is a secret, or contains one', () => {
    const masker = new Masker(['12345678']);
    expect([1, 12345678, 9912345678, 1234567].map((number) => masker.maskNumber(number))).to.deep.equal([
      1,
      '***',
      '***',
      1234567,
    ]);
    expect(new Masker(['hunter22']).maskNumber(12345678)).to.equal(12345678);
  });

  it('leaves no secret in any text, whatever surrounds it', () => {
    const texts = fc.array(fc.oneof(fc.string(), fc.nat()), { maxLength: 8 });
    fc.assert(
      fc.property(fc.uniqueArray(secretText, { minLength: 1, maxLength: 5 }), texts, (secrets, parts) => {
        const text = parts
          .map((part) => (typeof part === 'string' ? part : secrets[part % secrets.length]))
          .join('');
        const masked = new Masker(secrets).mask(text);
        for (const secret of secrets) expect(masked).not.to.include(secret.trim());
      }),
    );
  });

  it('changes nothing in a text without secrets', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(secretText, { minLength: 1, maxLength: 5 }),
        fc.string(),
        (secrets, text) => {
          const forms = secrets.flatMap((secret) => [...encodeSecret(secret)]);
          fc.pre(!forms.some((form) => text.includes(form)));
          expect(new Masker(secrets).mask(text)).to.equal(text);
        },
      ),
    );
  });

  itTimed('takes a time that is linear in the length of the text, however many secrets there are', () => {
    const secrets = Array.from({ length: 100 }, (_, index) => `secret-${index}-${'x'.repeat(index)}`);
    const masker = new Masker(secrets);
    const text = `${'the quick brown fox, secret-1'.repeat(1000)} ${secrets.join(' ')}`;
    const long = text.repeat(8);
    masker.mask(long);
    const measure = (masked: string): number => measureCpuMsSync(() => void masker.mask(masked));
    const [one, eight] = [measure(text), measure(long)];
    expect(eight).to.be.below(8 * one * 3 + 5);
  });

  const periodic = 'ab'.repeat(2000);
  const hostile: [title: string, createSecret: (length: number) => string, text: string][] = [
    ['that repeats itself as the secret does', (length) => 'ab'.repeat(length / 2), 'ab'.repeat(2 ** 16)],
    ['that nearly is the secret all over', (length) => `${'a'.repeat(length - 1)}b`, 'a'.repeat(2 ** 17)],
    ['that is most of the secret all over', (length) => `b${'a'.repeat(length - 1)}`, 'a'.repeat(2 ** 17)],
    [
      'that was cut, and nearly ends with most of the secret',
      (length) => `${'a'.repeat(length - 1)}b`,
      `${'a'.repeat(8000)}c${'a'.repeat(2000)}c…`,
    ],
    [
      'that was cut, and nearly begins with most of the secret',
      (length) => `b${'a'.repeat(length - 1)}`,
      `…${'a'.repeat(2000)}c${'a'.repeat(8000)}`,
    ],
  ];
  for (const [title, createSecret, text] of hostile) {
    itTimed(`takes as long for a long secret as for a short one, in a text ${title}`, () => {
      const maskers = [100, 4000].map((length) => new Masker([createSecret(length)]));
      const measure = (): number[] => maskers.map((masker) => measureCpuMsSync(() => void masker.mask(text)));
      measure();
      const [short = 0, long] = measure();
      expect(long).to.be.below(4 * short + 30);
    });
  }

  it('masks a text of a secret that repeats itself as one, and what is left of it not at all', () => {
    const masker = new Masker([periodic]);
    const text = `${periodic.slice(0, -1)}-${periodic}${periodic}aba-b${periodic}`;
    expect(masker.mask(text)).to.equal(`${periodic.slice(0, -1)}-***a-b***`);
  });

  it('finds the same occurrences as a search for each form, in texts that repeat themselves', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 4, maxLength: 12 });
    const some = letters.filter((text) => findSecretProblem(text) === undefined);
    const long = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 200 });
    fc.assert(
      fc.property(fc.uniqueArray(some, { minLength: 1, maxLength: 4 }), long, (secrets, text) => {
        expect(new Masker(secrets).mask(text)).to.equal(maskBySearch(secrets, text));
      }),
    );
  });
});

/** Replaces all occurrences of all forms, those that overlap together. */
function maskBySearch(secrets: readonly string[], text: string): string {
  const found: [start: number, end: number][] = [];
  for (const form of secrets.flatMap((secret) => [...encodeSecret(secret)])) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) {
      found.push([at, at + form.length]);
    }
  }
  let masked = '';
  let done = 0;
  for (const [start, end] of found.sort((a, b) => a[0] - b[0])) {
    if (start >= done) masked += `${text.slice(done, start)}***`;
    done = Math.max(done, end);
  }
  return masked + text.slice(done);
}

describe('What can be a secret (D61)', () => {
  const refused: [string, RegExp][] = [
    ['', /fewer than 4 characters/],
    ['abc', /fewer than 4 characters/],
    ['  abc  ', /fewer than 4 characters/],
    ['true', /a word that stands everywhere/],
    ['NULL', /a word that stands everywhere/],
    ['aaaaaaaa', /one character over and over/],
    ['x'.repeat(4000) + 'y'.repeat(5000), /more than 8,192 characters/],
    ['abcd\ud800', /half of a character/],
  ];
  for (const [value, problem] of refused) {
    it(`refuses ${JSON.stringify(value.slice(0, 20))} in words that do not contain it`, () => {
      expect(findSecretProblem(value)).to.match(problem);
    });
  }

  it('accepts a common word of four characters', () => {
    expect(findSecretProblem('task')).to.equal(undefined);
  });
});
