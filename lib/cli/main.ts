import { writeSync } from 'node:fs';
import type { CommandClass } from 'clipanion';
import { COMMANDS, commandsNamed } from './commands/index.js';
import { type CliContext, systemContext } from './context.js';
import { EXIT, statusOfError } from './exit-status.js';
import { WavetrainCli } from './help.js';
import { Output } from './render/stdout.js';
import { styleOf, terminalOf } from './render/terminal.js';
import { tellFailure } from './usage-errors.js';

/**
 * Runs one command line, without the program's name: `['run', 'pipeline.yaml', '--json']`.
 *
 * @param context replaces any part of the surroundings: streams, environment, folder, clock
 * @returns the exit status (D40). Never rejects: whatever goes wrong is told on standard error.
 */
export async function main(argv: readonly string[], context: Partial<CliContext> = {}): Promise<number> {
  const surroundings: CliContext = { ...systemContext(), ...context };
  const outputs = [new Output(surroundings.stdout), new Output(surroundings.stderr)] as const;
  const status = await runCommand(argv, surroundings);
  for (const output of outputs) await output.drain();
  for (const output of outputs) output.close();
  return outputs[0].failure === undefined ? status : tellLostOutput(outputs[0].failure, surroundings);
}

/** Runs a command line as this process: it ends with the exit status, and never without a word. */
export function start(argv: readonly string[]): void {
  const close = watchTheEnd();
  void main(argv).then((status) => {
    close();
    process.exit(status);
  });
}

async function runCommand(argv: readonly string[], context: CliContext): Promise<number> {
  const words = helpLast(argv);
  const cli = createCli(commandsNamed(words[0]), context);
  if (cli.tellGroup(words, context)) return EXIT.done;
  const status = await cli.run(words, context);
  if (cli.failure === undefined) return status;
  return statusOfError(tellFailure(cli.failure.error, words, createCli(COMMANDS, context).pages(), context));
}

/** `help run` means `run --help`. */
function helpLast(argv: readonly string[]): string[] {
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv];
}

function createCli(commands: readonly CommandClass<CliContext>[], context: CliContext): WavetrainCli {
  const terminal = terminalOf(context.stdout, context.env);
  const cli = new WavetrainCli(styleOf(terminal), terminal.columns);
  for (const command of commands) cli.register(command);
  return cli;
}

/** A full disk behind `> file` must not look like success. */
function tellLostOutput(failure: Error, context: CliContext): number {
  context.stderr.write(`wavetrain: cannot write to standard output: ${failure.message}\n`);
  return EXIT.failed;
}

const STDERR = 2;

/** With these the process ends by an error that it has told itself. */
const TOLD = new Set<unknown>([1, 7]);

/**
 * Tells of an end that the command did not come to by itself, and lets it count as a failure: a tool that waits for
 * what nothing is left to bring, and a tool that ends the process. Both would look like success, or like nothing.
 *
 * @returns to be called when the command has come to its own end
 */
function watchTheEnd(): () => void {
  const onBeforeExit = (): void => {
    tell('a tool or a tool file waits for what nothing is left to bring, so this can never end');
    process.exitCode = EXIT.failed;
    close();
  };
  const onExit = (status: unknown): void => {
    if (TOLD.has(status)) return;
    tell('a tool or a tool file ended the process, and the run with it');
    process.exitCode = EXIT.failed;
  };
  const close = (): void => {
    process.off('beforeExit', onBeforeExit);
    process.off('exit', onExit);
  };
  process.on('beforeExit', onBeforeExit);
  process.on('exit', onExit);
  return close;
}

function tell(what: string): void {
  writeSync(STDERR, `wavetrain: ${what}\n`);
}
