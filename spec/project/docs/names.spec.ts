import { expect } from 'chai';
import { VARIABLES } from '../../../lib/common/config/config.js';
import { COMMANDS } from '../../../lib/cli/commands/index.js';
import { RunCommand } from '../../../lib/cli/commands/run.js';
import { proseOf, tableRows } from './markdown.js';
import { documents, read } from '../files.js';

const ALL = documents().map((file) => ({ file, text: read(file) }));

/** Lists every match of a pattern's group in the documents, with its file. */
function mentions(pattern: RegExp): { file: string; name: string }[] {
  return ALL.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map(([, name = '']) => ({ file, name })),
  );
}

describe('The names in the documents', () => {
  it('of scripts exist in package.json', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));
    const unknown = mentions(/\bnpm run ([\w:]+)/g).filter(({ name }) => !Object.hasOwn(scripts, name));
    expect(unknown).to.deep.equal([]);
  });

  it('of environment variables are those that the code reads', () => {
    const known = [...VARIABLES.map(({ name }) => name), 'NO_COLOR'];
    const unknown = mentions(/\b((?:SERVICE|WAVETRAIN|NO)_[A-Z_]+)\b/g).filter(
      ({ name }) => !known.includes(name),
    );
    expect(unknown).to.deep.equal([]);
  });

  it('of commands exist, and the README describes each command', () => {
    const shown = tableRows(proseOf('README.md')).flatMap(
      ([command = '']) => /^`wavetrain ([a-z ]+)/.exec(command)?.[1]?.trim() ?? [],
    );
    const known = COMMANDS.filter(({ usage }) => usage !== undefined).map(({ paths }) =>
      paths?.[0]?.join(' '),
    );
    expect(shown).to.have.members(known);
  });

  it('of the flags of run exist, and the reference lists each flag', () => {
    const section = /### D42\n([^]*?)\n### /.exec(read('docs/reference.md'))?.[1] ?? '';
    const declared = Object.values(new RunCommand()).flatMap(flagsIn);
    expect(declared.length).to.be.above(10);
    const missing = declared.filter(
      (flag) => !section.includes(`\`${flag}`) && !['--json', '--verbose', '--quiet'].includes(flag),
    );
    expect(missing).to.deep.equal([]);
  });

  it('contain no address or path of one machine', () => {
    expect(mentions(/(\/(?:home|root|work|Users|tmp)\/[\w/]*|localhost)/g)).to.deep.equal([]);
  });
});

/** Reads the names of an option, which clipanion stores on the option until it parses a command line. */
function flagsIn(option: unknown): string[] {
  const definition = (option as { definition?: (builder: unknown) => void } | null)?.definition;
  const flags: string[] = [];
  const builder = {
    addOption: ({ names }: { names: string[] }) => flags.push(...names),
    addPositional: () => 0,
  };
  definition?.(builder);
  return flags;
}
