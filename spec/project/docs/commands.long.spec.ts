import { expect } from 'chai';
import { documents, requireBuild } from '../files.js';
import { type Fence, fencesOf } from './markdown.js';
import { eachOf, type Finished, Shell } from './shell.js';

/** Not run: these install the project or run these very specs. */
const NOT_RUN = new Set(['npm ci', 'npm cit', 'npm install']);

/** All commands take minutes, and several times as long on a busy machine. */
const LONGEST_MS = 1_800_000;

/** Commands with the output shown below them. */
interface Shown {
  readonly fence: Fence;
  readonly script: string;
  readonly output: string | undefined;
}

/**
 * Saves every file and runs every command that a document shows, in the order of the document, in a folder of its own.
 * The spec of the published package runs the blocks marked `package`. SPEC_DOCUMENT=docs/tools.md runs one document.
 */
describe('The commands in the documents', () => {
  const shown = documents().map((file) => ({ file, commands: commandsOf(file) }));
  const outcomes = new Map<Fence, Finished>();

  before(async function () {
    this.timeout(LONGEST_MS);
    requireBuild();
    await eachOf(shown, async ({ file, commands }) => {
      if (commands.length === 0 || !(process.env['SPEC_DOCUMENT'] ?? file).includes(file)) return;
      const shell = new Shell();
      // Files are there from the start, as a server may have read its folder by the time that the page shows one more.
      for (const { info, text } of fencesOf(file).toReversed()) shell.save(info['file'], text);
      const scripts = new Map(commands.map(({ fence, script }) => [fence.line, { fence, script }]));
      for (const { line, info, text } of fencesOf(file)) {
        shell.save(info['file'], text);
        const command = scripts.get(line);
        if (command !== undefined) outcomes.set(command.fence, await outcomeOf(command, shell));
      }
      shell.remove();
    });
  });

  it('appear in the README and the guides', () => {
    expect(shown.filter(({ commands }) => commands.length > 0).map(({ file }) => file)).to.include.members([
      'README.md',
      'docs/pipelines.md',
      'docs/tools.md',
      'docs/library.md',
    ]);
  });

  for (const { file, commands } of shown) {
    for (const { fence, script, output } of commands) {
      it(`${file}:${fence.line} ${script.split('\n')[0]}`, () => {
        const finished = outcomes.get(fence);
        const said = finished?.output ?? '';
        expect(finished?.status, said).to.equal(Number(fence.info['exit'] ?? 0));
        if (output !== undefined) expectShown(said, output);
      });
    }
  }
});

/** A block marked `server` starts one; `server=URL` names its address where it is not the default one. */
function outcomeOf({ fence, script }: Pick<Shown, 'fence' | 'script'>, shell: Shell): Promise<Finished> {
  const address = fence.info['server'];
  if (address === undefined) return shell.run(`exec 2>&1\n${script}`);
  return address === 'server' ? shell.serve(script) : shell.serve(script, address);
}

function commandsOf(file: string): Shown[] {
  const fences = fencesOf(file);
  return fences.flatMap((fence, index) => {
    if (fence.language !== 'sh' || fence.info['package'] !== undefined) return [];
    const script = fence.text
      .split('\n')
      .filter((line) => line !== '' && !NOT_RUN.has(line))
      .join('\n');
    const next = fences[index + 1];
    return script === ''
      ? []
      : [{ fence, script, output: next?.language === 'text' ? next.text : undefined }];
  });
}

function expectShown(said: string, shown: string): void {
  const [actual, expected] = [withoutTimes(said), withoutTimes(shown)];
  if (!expected.split('\n').includes('…')) expect(actual).to.equal(expected);
  else
    expect(matches(actual.split('\n'), expected.split('\n')), `${actual}\nis not as shown:\n${expected}`).to
      .be.true;
}

/** A line with a single `…` matches any lines. */
function matches(actual: readonly string[], expected: readonly string[]): boolean {
  const [first, ...rest] = expected;
  if (first === undefined) return actual.length === 0;
  if (first !== '…') return actual[0] === first && matches(actual.slice(1), rest);
  return Array.from({ length: actual.length + 1 }, (_, skipped) => actual.slice(skipped)).some((left) =>
    matches(left, rest),
  );
}

function withoutTimes(text: string): string {
  return (
    text
      .replaceAll(/\b\d\d:\d\d:\d\d\.\d{3}\b/g, 'HH:MM:SS.mmm')
      .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'RUN_ID')
      .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
      .replaceAll(/\bin \d+(?:\.\d+)? m?s\b/g, 'in N ms')
      // The column is as wide as the ages in it.
      .replaceAll(/\bAGE +/g, 'AGE  ')
      .trimEnd()
  );
}
