import { writeSync } from 'node:fs';
import type { CommandClass } from 'clipanion';
import { allCommands, commandsFor } from './commands/index.js';
import { type CliContext, systemContext } from './context.js';
import { EXIT, exitStatusForError } from './exit-status.js';
import { WavetrainCli } from './render/help.js';
import { PROGRAM } from './package-info.js';
import { BrokenPipeGuard, drain } from './render/stdout.js';
import { detectTerminal } from './render/terminal.js';
import { printError } from './input/usage-errors.js';

/** Runs a command line as this process and exits with its status. Called by `bin/start.cjs`. */
export function start(argv: readonly string[]): void {
  const removeGuard = guardProcessExit();
  void main(argv).then((status) => {
    removeGuard();
    process.exit(status);
  });
}

/**
 * Runs a command line, given without the program name: `['run', 'pipeline.yaml', '--json']`.
 *
 * @param overrides replaces any part of the system context: streams, environment, folder, clock
 * @returns the exit status (D40). Never rejects: errors are printed on standard error.
 */
export async function main(argv: readonly string[], overrides: Partial<CliContext> = {}): Promise<number> {
  const endings: (() => Promise<void>)[] = [];
  const atEnd: CliContext['atEnd'] = (close) => void endings.push(close);
  const context: CliContext = { ...systemContext(), atEnd, ...overrides };
  const stdout = new BrokenPipeGuard(context.stdout);
  const stderr = new BrokenPipeGuard(context.stderr);
  const status = await runCommand(argv, context);
  await Promise.all(endings.map((close) => close()));
  await drain(context.stdout);
  const { failure } = stdout;
  // Such as a full disk behind `> file`. It may be full for standard error too.
  if (failure !== undefined) {
    context.stderr.write(`${PROGRAM}: cannot write to standard output: ${failure.message}\n`);
  }
  await drain(context.stderr);
  stdout.close();
  stderr.close();
  return failure === undefined ? status : EXIT.failed;
}

async function runCommand(argv: readonly string[], context: CliContext): Promise<number> {
  // `help run` means `run --help`.
  const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv];
  const commands = commandsFor(words);
  // They are a promise in the built command, unless it has them at hand: a command at hand begins at once.
  const cli = createCli(commands instanceof Promise ? await commands : commands, context);
  if (cli.printGroupHelp(words, context)) return EXIT.done;
  const status = await cli.run(words, context);
  if (cli.failure === undefined) return status;
  const pages = createCli(await allCommands(), context).pages();
  return exitStatusForError(printError(cli.failure.error, words, pages, context));
}

function createCli(commands: readonly CommandClass<CliContext>[], context: CliContext): WavetrainCli {
  const cli = new WavetrainCli(detectTerminal(context.stdout, context.env));
  for (const command of commands) cli.register(command);
  return cli;
}

const STDERR = 2;

/** Node.js exits with these statuses after it has printed an uncaught error. */
const CRASH_STATUSES = new Set<unknown>([1, 7]);

/**
 * Makes the process fail with a message if it exits before the command is done: because a tool waits for something that can
 * no longer happen, or exits the process. Otherwise both would look like success. Returns a function that removes the guard.
 */
function guardProcessExit(): () => void {
  const onBeforeExit = (): void => {
    fail(
      'a tool or a tool file is waiting for something that can no longer happen (the event loop is empty); stopping',
    );
    removeGuard();
  };
  const onExit = (status: unknown): void => {
    if (!CRASH_STATUSES.has(status)) fail('a tool or a tool file exited the process before the run was done');
  };
  const removeGuard = (): void => {
    process.off('beforeExit', onBeforeExit);
    process.off('exit', onExit);
  };
  process.on('beforeExit', onBeforeExit);
  process.on('exit', onExit);
  return removeGuard;
}

/** Writes synchronously, because the process is about to exit. */
function fail(message: string): void {
  writeSync(STDERR, `${PROGRAM}: ${message}\n`);
  process.exitCode = EXIT.failed;
}
