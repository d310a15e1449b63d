import { expect } from 'chai';
import fc from 'fast-check';
import { Masker } from '../../../lib/definition/secrets/masker.js';
import { CommandLog } from '../../../lib/tools/commands/command-log.js';
import { COMMAND_LIMITS } from '../../../lib/tools/commands/command.js';
import { MaskedLines } from '../../../lib/tools/commands/masked-lines.js';
import { cases } from '../../support/measuring/cases.js';

const NO_SECRETS = new Masker([]);

/** Writes pieces, and returns the lines. */
function linesOf(
  pieces: readonly (string | Uint8Array)[],
  masker: ConstructorParameters<typeof MaskedLines>[0],
): string[] {
  const lines: string[] = [];
  const output = new MaskedLines(masker, (line) => lines.push(line));
  for (const piece of pieces) output.write(Buffer.from(piece));
  output.end();
  return lines;
}

/** Cuts bytes at places, in any order. */
function cutAt(text: string, places: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text);
  const cuts = [
    0,
    ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b),
    bytes.length,
  ];
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
}

describe('The lines of a command', () => {
  it('begin and end where the output says, not where its pieces do', () => {
    expect(linesOf(['on', 'e\ntw', 'o\r\n', '\nlast'], NO_SECRETS)).to.deep.equal(['one', 'two', '', 'last']);
  });

  it('keep a character whose bytes are in two pieces', () => {
    const bytes = Buffer.from('Zürich\n');
    expect(linesOf([bytes.subarray(0, 2), bytes.subarray(2)], NO_SECRETS)).to.deep.equal(['Zürich']);
  });

  it('come at once when no secret can reach from one into the next', () => {
    const lines: string[] = [];
    const output = new MaskedLines(new Masker(['hunter22']), (line) => lines.push(line));
    output.write(Buffer.from('key hunter22\nnext hun'));
    expect(lines).to.deep.equal(['key ***']);
    output.write(Buffer.from('ter22\n'));
    expect(lines).to.deep.equal(['key ***', 'next ***']);
  });

  it('mask a secret with a line break in it', () => {
    const masker = new Masker(['-----BEGIN-----\nabcdef\n-----END-----']);
    const pieces = ['key:\n-----BEGIN-----\nab', 'cdef\n-----END-----\ndone\n'];
    expect(linesOf(pieces, masker).join('\n')).to.equal('key:\n***\ndone');
  });

  it('divide no secret of a long line that has nothing else in it', () => {
    const secret = 'S3cretValue_ABCDEFGH';
    for (const before of ['', 'x', 'xyz'])
      expect(linesOf([before + secret.repeat(1000)], new Masker([secret])).join('')).to.match(
        new RegExp(`^${before}[*]+$`),
      );
  });

  it('mask the same wherever the pieces end, also in lines without an end', () => {
    const secrets = ['hunter22', 'two\nlines', 'päss wörd', 'aaaa-aaaa'];
    const masker = new Masker(secrets);
    const part = fc.oneof(
      fc.constantFrom(...secrets, '\n', '\r\n', 'a', 'aaaa-', 'hunter2', 'two', 'ü', ' '),
      fc.nat({ max: 3 }).map((count) => 'long '.repeat(count * 800)),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 20 }),
        fc.array(fc.nat({ max: 50_000 }), { maxLength: 12 }),
        (parts, places) => {
          const lines = linesOf(cutAt(parts.join(''), places), masker);
          for (const line of lines) for (const secret of secrets) expect(line).not.to.contain(secret);
          const joined = (texts: readonly string[]): string => texts.join('').replaceAll(/[\r\n]/g, '');
          const whole = joined(linesOf([parts.join('')], masker));
          expect(joined(lines)).to.equal(whole);
        },
      ),
      cases(300),
    );
  });
});

describe('The log of a command', () => {
  const { loggedLines, lastLines, lastLineLength } = COMMAND_LIMITS;

  function logOf(
    write: (log: CommandLog) => void,
    masker = NO_SECRETS as ConstructorParameters<typeof CommandLog>[0],
  ) {
    const logged: string[] = [];
    const log = new CommandLog(masker, (line) => logged.push(line));
    write(log);
    return { last: log.end(), logged };
  }

  it('has the lines of both streams in the order of their arrival', () => {
    const { logged, last } = logOf((log) => {
      log.write('stdout', Buffer.from('one\n'));
      log.write('stderr', Buffer.from('two\n'));
      log.write('stdout', Buffer.from('three\n\n'));
    });
    expect(logged).to.deep.equal(['one', 'two', 'three', '']);
    expect(last).to.deep.equal(['one', 'two', 'three']);
  });

  it('shows no part of a secret at the place where the log ends', () => {
    const { loggedBytes } = COMMAND_LIMITS;
    const secrets = ['hunter22-pässword', 'two\nlines\nof a key'];
    const masker = new Masker(secrets);
    for (const secret of secrets) {
      for (let before = 0; before <= Buffer.byteLength(secret); before++) {
        const text = `${'x'.repeat(loggedBytes - before)}${secret}\nend\n`;
        const bytes = Buffer.from(text);
        for (const pieces of [[bytes], [bytes.subarray(0, loggedBytes), bytes.subarray(loggedBytes)]]) {
          const { logged, last } = logOf((log) => {
            for (const piece of pieces) log.write('stderr', piece);
          }, masker);
          const shown = [...logged, ...last].join('\n').replaceAll(/x+/g, '');
          expect(shown, `${before}`).not.to.match(/hun|unt|word|pä|\ufffd|two|lines|of a|key/);
          expect(last.at(-1)).to.equal('end');
        }
      }
    }
  });

  it('shows no rest of a secret whose beginning it has forgotten', () => {
    const { loggedBytes } = COMMAND_LIMITS;
    const secret = `first\n${'abc\n'.repeat(40_000)}last`;
    const { last } = logOf(
      (log) => {
        log.write('stdout', Buffer.from('x'.repeat(loggedBytes)));
        for (const piece of cutAt(`\n${secret}\nend\n`, [100, 70_000, 110_000])) log.write('stdout', piece);
      },
      new Masker([secret]),
    );
    expect(last.join()).not.to.contain('abc').and.not.to.contain('last');
  });

  it('ends at a number of lines, and says how much was not logged', () => {
    const count = loggedLines + 2000;
    const { logged, last } = logOf((log) => {
      for (let line = 0; line < count; line++) log.write('stdout', Buffer.from(`line ${line}\n`));
    });
    expect(logged.slice(0, loggedLines)).to.deep.equal(
      Array.from({ length: loggedLines }, (_, line) => `line ${line}`),
    );
    expect(logged.slice(loggedLines)).to.have.length(1);
    expect(logged.at(-1)).to.match(/^… 0(\.\d)? MiB more were not logged$/);
    expect(last).to.deep.equal(
      Array.from({ length: lastLines }, (_, index) => `line ${count - lastLines + index}`),
    );
  });

  it('ends at a number of bytes, and knows the last lines of each stream after it', () => {
    const block = Buffer.from(`${'x'.repeat(999)}\n`.repeat(100));
    const { logged, last } = logOf((log) => {
      for (let count = 0; count < 200; count++) log.write('stdout', block);
      log.write('stderr', Buffer.from('warning\nit broke\n'));
    });
    expect(logged.length).to.be.below(1100);
    expect(logged.at(-1)).to.equal('… 18.1 MiB more were not logged');
    expect(last.at(-1)).to.equal('it broke');
    expect(last.every((line) => line.length <= lastLineLength + 2)).to.equal(true);
  });

  it('masks the last lines after its end, also a secret with which the kept bytes begin', () => {
    const masker = new Masker(['hunter22']);
    const fill = Buffer.from('hunter22'.repeat(8192));
    const { last } = logOf((log) => {
      for (let count = 0; count < 40; count++) log.write('stdout', fill);
      log.write('stdout', Buffer.from('\nlogin hunter22\n'));
    }, masker);
    expect(last.join('')).not.to.match(/hunter|unter|nter2/);
    expect(last.at(-1)).to.equal('login ***');
  });
});
