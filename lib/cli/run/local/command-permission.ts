import { createHash } from 'node:crypto';
import { AllowedCommands } from '../../../common/config/allowed-commands.js';
import { errorMessage } from '../../../common/errors.js';
import { joinFirst } from '../../../common/text.js';
import type { CheckedDefinition } from '../../../execution/prepare/run-inputs.js';
import type { CliContext } from '../../context.js';
import { ask, isTerminal, isYes } from '../../input/ask.js';
import type { DefinitionFile } from '../../input/load-definition.js';
import { UsageError } from '../../input/usage-errors.js';
import { RememberedCommands } from './remembered-commands.js';

interface PermissionFlags {
  /** Programs, or true for all: those of `--allow-commands`. */
  readonly allowCommands?: string | boolean | undefined;
  readonly quiet?: boolean | undefined;
}

/** Tasks that a question lists. */
const MAX_LISTED = 20;

/** Characters of a program with its arguments that a question shows. */
const MAX_COMMAND_LENGTH = 600;

/**
 * Decides which programs the tasks of a run in this process may start (D88): those of `--allow-commands`, or those that a
 * person has allowed for this folder and these texts, now or earlier. Where nobody can be asked, none.
 *
 * @throws UsageError for names that no program has
 */
export async function permitCommands(
  { allowCommands, quiet = false }: PermissionFlags,
  checked: CheckedDefinition,
  file: DefinitionFile,
  context: CliContext,
): Promise<AllowedCommands> {
  if (allowCommands === true) return AllowedCommands.all;
  if (typeof allowCommands === 'string') return parseFlag(allowCommands);
  const commands = listCommands(checked);
  if (commands.length === 0) return AllowedCommands.none;
  const remembered = new RememberedCommands(context);
  const key = hashTexts(file);
  const programs = new Set(commands.map(({ program = '*' }) => program));
  const allowed = AllowedCommands.of(programs);
  if (await remembered.has(key)) return allowed;
  if (quiet || !isTerminal(context)) return AllowedCommands.none;
  const answer = await askForCommands(commands, file, context);
  if (answer === 'always') await remembered.add(key, file.folder);
  return answer === 'no' ? AllowedCommands.none : allowed;
}

function parseFlag(text: string): AllowedCommands {
  try {
    return AllowedCommands.parse(text);
  } catch (error) {
    throw new UsageError(`--allow-commands ${errorMessage(error)}`, 'as in --allow-commands=git,python3');
  }
}

type Command = CheckedPipeline['contract']['commands'][number];

type CheckedPipeline = Extract<CheckedDefinition, { kind: 'pipeline' }>['pipeline'];

function listCommands(checked: CheckedDefinition): Command[] {
  if (checked.kind === 'pipeline') return [...checked.pipeline.contract.commands];
  const { subPipelines, handlers } = checked.plan;
  const pipelines = [
    ...[...subPipelines.values()].map(({ pipeline }) => pipeline),
    ...(handlers ? [handlers] : []),
  ];
  return pipelines.flatMap(({ contract }) => contract.commands);
}

/** A permission holds for these texts in this folder: others may start something else. */
function hashTexts({ folder, text, files }: DefinitionFile): string {
  const texts = [folder, text, ...[...files].flatMap(([name, other]) => [name, other.text])];
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

async function askForCommands(
  commands: readonly Command[],
  { name }: DefinitionFile,
  context: CliContext,
): Promise<'once' | 'always' | 'no'> {
  const lines = commands.slice(0, MAX_LISTED).map(describeCommand);
  const more = commands.length > MAX_LISTED ? [`  … and ${commands.length - MAX_LISTED} more`] : [];
  const programs = joinFirst(
    [...new Set(commands.map(({ program = 'a program that a value names' }) => program))],
    MAX_LISTED,
  );
  const question = [
    `${name} starts programs on this machine, as you: ${programs}`,
    ...lines,
    ...more,
    'Allow that? y (this time), a (always, until this file changes), or N: ',
  ].join('\n');
  return readAnswer(await ask(question, context));
}

/** The beginning and the end of a long command, whose middle is counted: blanks hide nothing. */
function describeCommand({ task, text }: Command): string {
  const words = text.replaceAll(/\s+/g, ' ').trim();
  const half = MAX_COMMAND_LENGTH / 2;
  const left = words.length - MAX_COMMAND_LENGTH;
  const shown =
    left <= 0
      ? words
      : `${words.slice(0, half)} … (${left} characters are not shown) … ${words.slice(-half)}`;
  return `  ${task}: ${shown}`;
}

function readAnswer(answer: string): 'once' | 'always' | 'no' {
  if (['a', 'always'].includes(answer)) return 'always';
  return isYes(answer) ? 'once' : 'no';
}
