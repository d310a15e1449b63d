import type { CommandClass } from 'clipanion';
import type { CliContext } from '../context.js';
import { DoctorCommand } from './doctor.js';
import { GraphCommand } from './graph.js';
import { HelpCommand, VersionCommand } from './help.js';
import { InitCommand } from './init.js';
import { KeysNewCommand } from './keys.js';
import { RunCommand } from './run.js';
import {
  RunsCancelCommand,
  RunsDeleteCommand,
  RunsListCommand,
  RunsRerunCommand,
  RunsShowCommand,
  RunsWatchCommand,
} from './runs.js';
import { SchemaPipelineCommand, SchemaPlanCommand } from './schema.js';
import { ServeCommand } from './serve.js';
import { ToolsCommand } from './tools.js';
import { ValidateCommand } from './validate.js';

/** Every command, in the order in which help lists them. */
export const COMMANDS: readonly CommandClass<CliContext>[] = [
  InitCommand,
  ValidateCommand,
  RunCommand,
  ServeCommand,
  RunsListCommand,
  RunsShowCommand,
  RunsWatchCommand,
  RunsCancelCommand,
  RunsRerunCommand,
  RunsDeleteCommand,
  KeysNewCommand,
  ToolsCommand,
  GraphCommand,
  SchemaPipelineCommand,
  SchemaPlanCommand,
  DoctorCommand,
  HelpCommand,
  VersionCommand,
];

/**
 * The commands that the first word may mean: those it begins, or all. clipanion builds a state machine of every
 * command it is given, which takes longer than most commands.
 */
export function commandsNamed(word: string | undefined): readonly CommandClass<CliContext>[] {
  const named = COMMANDS.filter(({ paths, usage }) => usage && paths?.some(([first]) => first === word));
  return named.length === 0 ? COMMANDS : named;
}
