import { errorMessage, ToolError } from '../../common/errors.js';
import type { Json } from '../../common/json/json.js';
import { ellipsize, formatCount, joinFirst } from '../../common/text.js';
import { COMMAND_LIMITS, type CommandResult } from '../commands/command.js';
import type { ValueShape } from '../../definition/shapes/shape.js';
import { TEXT_SCHEMA } from '../schemas/output.js';
import { defineTool } from '../tool.js';

const SHELLS = ['bash', 'sh', 'python3', 'node'] as const;

const OUTPUT_SHAPES: ReadonlyMap<string, ValueShape> = new Map<string, ValueShape>([
  ['text', TEXT_SCHEMA],
  ['lines', { type: 'array', items: TEXT_SCHEMA }],
]);

/** Starts a program, or a script in a shell, where a person has allowed it (D88). */
export const command = defineTool({
  name: 'command',
  description: 'Starts a program, or a script in a shell, and returns what it writes',
  repeatable: ({ repeatable }) => repeatable === true,
  inputs: {
    run: {
      type: 'list',
      items: { type: ['string', 'number', 'boolean'] },
      maxItems: COMMAND_LIMITS.arguments,
      description: 'the program and its arguments, which no shell reads',
    },
    script: {
      type: 'string',
      minLength: 1,
      description: 'instead of run: a script; values come to it in env and stdin',
    },
    shell: {
      type: 'string',
      enum: SHELLS,
      default: 'bash',
      description: 'the program that runs the script',
    },
    env: {
      type: 'object',
      default: {},
      description:
        'variables that it sees besides PATH, HOME and LANG; lists and objects as JSON, null leaves one out',
    },
    cwd: { type: 'string', minLength: 1, description: 'the folder in which it starts' },
    stdin: { description: 'what it reads on its standard input: a text, or a value as JSON' },
    output: {
      type: 'string',
      enum: ['text', 'json', 'lines'],
      default: 'text',
      description: 'how to read its standard output',
    },
    files: {
      type: 'list',
      items: { type: 'string', minLength: 1 },
      maxItems: COMMAND_LIMITS.patterns,
      default: [],
      description:
        'patterns such as out/*.csv of files in its folder, which become files of the run when it succeeds',
    },
    success_codes: {
      type: 'list',
      items: { type: 'integer', minimum: 0, maximum: 255 },
      minItems: 1,
      maxItems: COMMAND_LIMITS.statuses,
      default: [0],
      description: 'the exit statuses that succeed',
    },
    repeatable: {
      type: 'boolean',
      default: false,
      description: 'whether the program may be started again when the server has ended while it was at work',
    },
  },
  output: {
    name: 'output',
    description: 'its standard output: the text, the parsed JSON, or the list of lines',
    type: 'any',
  },
  deriveOutput: ({ output = 'text' }) => (typeof output === 'string' ? OUTPUT_SHAPES.get(output) : undefined),
  async run({ run, script, shell, env, cwd, stdin, output, files, success_codes: successCodes }, context) {
    const argv = readArguments(run, script, shell);
    const input = toText(stdin ?? '');
    context.holdMemory(input.length);
    const result = await context.command({
      argv,
      env: readEnvironment(env),
      cwd,
      stdin: input,
      files,
      successCodes,
    });
    assertSuccess(result, argv[0]);
    return readOutput(result, output);
  },
});

function readArguments(
  run: readonly (string | number | boolean)[] | undefined,
  script: string | undefined,
  shell: (typeof SHELLS)[number],
): [string, ...string[]] {
  if ((run === undefined) === (script === undefined))
    throw ToolError.nonRetryable(
      `give exactly one of "run" and "script": ${run === undefined ? 'neither is' : 'both are'} given`,
    );
  if (script !== undefined) return [shell, shell === 'node' ? '-e' : '-c', script];
  const [program = '', ...args] = (run ?? []).map(String);
  const withNul = [program, ...args].find((argument) => argument.includes('\0'));
  if (program === '' || withNul !== undefined)
    throw ToolError.nonRetryable(
      '"run" must begin with the name of a program, and no argument may have a NUL in it',
    );
  return [program, ...args];
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

function readEnvironment(env: Readonly<Record<string, Json>>): Record<string, string> {
  const names = Object.keys(env);
  if (names.length > COMMAND_LIMITS.variables)
    throw ToolError.nonRetryable(`"env" has more than ${formatCount(COMMAND_LIMITS.variables, 'variable')}`);
  const wrong = names.find((name) => !VARIABLE.test(name));
  if (wrong !== undefined)
    throw ToolError.nonRetryable(`"env": ${JSON.stringify(wrong)} cannot be the name of a variable`);
  const withNul = names.find((name) => toText(env[name] ?? '').includes('\0'));
  if (withNul !== undefined) throw ToolError.nonRetryable(`"env": the value of ${withNul} has a NUL in it`);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === null ? [] : [[name, toText(value)]])),
  );
}

function toText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function assertSuccess({ succeeded, status, signal, lastLines }: CommandResult, program: string): void {
  if (succeeded) return;
  const how = status === null ? `was ended by ${signal ?? 'a signal'}` : `ended with status ${status}`;
  const words = lastLines.length === 0 ? 'it wrote nothing' : `the last lines were:\n${lastLines.join('\n')}`;
  throw new ToolError(`${program} ${how}; ${words}`);
}

function readOutput({ stdout, cut }: CommandResult, kind: 'text' | 'json' | 'lines'): Json {
  if (kind === 'text') return cut === undefined ? withoutEnd(stdout) : `${stdout}\n… ${cut} more were cut`;
  if (cut !== undefined)
    throw ToolError.nonRetryable(
      `its output is longer than a value may be, by ${cut}: let it write a file, or read it as text, which is cut`,
    );
  if (kind === 'lines') return stdout === '' ? [] : withoutEnd(stdout).split(/\r?\n/);
  return parseJson(stdout);
}

/** Without the end of the last line, as `$(…)` of a shell gives it. */
function withoutEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const shown = joinFirst(text.trim().split('\n'), 1) || 'nothing';
    throw ToolError.nonRetryable(
      `its output is no JSON: ${errorMessage(error)}: ${ellipsize(shown, 200)}`,
      error,
    );
  }
}
