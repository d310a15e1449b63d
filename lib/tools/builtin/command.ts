import { errorMessage, ToolError } from '../../common/errors.js';
import type { Json } from '../../common/json/json.js';
import { ellipsize, formatCount, joinFirst } from '../../common/text.js';
import { COMMAND_LIMITS } from '../commands/command-limits.js';
import { type CommandResult, defineTool, type ToolContext } from '../tool.js';

/** How each shell is given a script. */
const SHELLS: Readonly<Record<string, (script: string) => [string, ...string[]]>> = {
  bash: (script) => ['bash', '-c', script],
  sh: (script) => ['sh', '-c', script],
  python3: (script) => ['python3', '-c', script],
  node: (script) => ['node', '-e', script],
};

/** Starts a program, or a script in a shell, where a person has allowed it (D88). */
export const command = defineTool({
  name: 'command',
  description: 'Starts a program, or a script in a shell, and returns what it writes',
  repeatable: false,
  inputs: {
    run: {
      type: 'list',
      items: { type: ['string', 'number', 'boolean'] },
      minItems: 1,
      maxItems: COMMAND_LIMITS.arguments,
      description: 'the program and its arguments, which no shell reads',
    },
    script: { type: 'string', minLength: 1, description: 'instead of run: a script; values come to it in env and stdin' },
    shell: {
      type: 'string',
      enum: Object.keys(SHELLS),
      default: 'bash',
      description: 'the program that runs the script',
    },
    env: {
      type: 'object',
      default: {},
      description: 'variables that it sees besides PATH, HOME and LANG; lists and objects as JSON, null leaves one out',
    },
    cwd: { type: 'string', minLength: 1, description: 'the folder in which it starts' },
    stdin: { description: 'what it reads on its standard input: a text, or a value as JSON' },
    output: {
      type: 'string',
      enum: ['text', 'json', 'lines'],
      default: 'text',
      description: 'how to read its standard output',
    },
    success_codes: {
      type: 'list',
      items: { type: 'integer', minimum: 0, maximum: 255 },
      minItems: 1,
      maxItems: COMMAND_LIMITS.statuses,
      default: [0],
      description: 'the exit statuses that succeed',
    },
  },
  output: { name: 'output', description: 'its standard output: the text, the parsed JSON, or the list of lines', type: 'any' },
  async run({ run, script, shell, env, cwd, stdin, output, success_codes: successCodes }, context) {
    const result = await context.command({
      argv: readArguments(run, script, shell),
      env: readEnvironment(env),
      ...(cwd !== undefined && { cwd }),
      stdin: toText(stdin ?? ''),
    });
    assertSuccess(result, successCodes, context);
    return readOutput(result, output);
  },
});

function readArguments(
  run: readonly (string | number | boolean)[] | undefined,
  script: string | undefined,
  shell: string,
): [string, ...string[]] {
  if ((run === undefined) === (script === undefined))
    throw ToolError.nonRetryable(
      `give exactly one of "run" and "script": ${run === undefined ? 'neither is' : 'both are'} given`,
    );
  if (script !== undefined) return (SHELLS[shell] ?? SHELLS['sh'])?.(script) ?? ['sh', '-c', script];
  const [program = '', ...args] = (run ?? []).map(String);
  const withNul = [program, ...args].find((argument) => argument.includes('\0'));
  if (program === '' || withNul !== undefined)
    throw ToolError.nonRetryable('"run" must begin with the name of a program, and no argument may have a NUL in it');
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
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === null ? [] : [[name, toText(value)]])),
  );
}

function toText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function assertSuccess(
  { status, signal, lastLines }: CommandResult,
  successCodes: readonly number[],
  { signal: aborted }: ToolContext,
): void {
  if (aborted.aborted) throw ToolError.nonRetryable('stopped');
  if (status !== null && successCodes.includes(status)) return;
  const how = status === null ? `was ended by ${signal ?? 'a signal'}` : `ended with status ${status}`;
  const words = lastLines.length === 0 ? 'it wrote nothing' : `its last lines were: ${lastLines.join(' | ')}`;
  throw new ToolError(`the command ${how}; ${words}`);
}

function readOutput({ stdout, cut }: CommandResult, kind: 'text' | 'json' | 'lines'): Json {
  if (kind === 'text') return cut === undefined ? stdout : `${stdout}\n… ${cut} more were cut`;
  if (cut !== undefined)
    throw ToolError.nonRetryable(
      `its output is longer than a value may be, by ${cut}: let it write a file, or read it as text, which is cut`,
    );
  if (kind === 'lines') return stdout === '' ? [] : stdout.replace(/\r?\n$/, '').split(/\r?\n/);
  return parseJson(stdout);
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const shown = joinFirst(text.trim().split('\n'), 1) || 'nothing';
    throw ToolError.nonRetryable(`its output is no JSON: ${errorMessage(error)}: ${ellipsize(shown, 200)}`, error);
  }
}
