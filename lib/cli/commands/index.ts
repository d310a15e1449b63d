import type { CommandClass } from 'clipanion';
import type { CliContext } from '../context.js';
import { HelpCommand, VersionCommand } from '../render/help.js';
import { McpCommand } from '../mcp-host/mcp.js';
import { PipelinesListCommand } from './pipelines/list.js';
import { PipelinesPauseCommand, PipelinesResumeCommand } from './pipelines/pause.js';
import { PipelinesRunCommand } from './pipelines/run.js';
import { PipelinesShowCommand } from './pipelines/show.js';
import { RunsCancelCommand, RunsContinueCommand, RunsDeleteCommand } from '../runs/change.js';
import { RunsArtifactsCommand } from '../runs/files/artifacts.js';
import { RunsRecordingCommand } from '../runs/files/recording.js';
import { InspectCommand } from '../runs/inspection/inspect.js';
import { RunsSnapshotCommand } from '../runs/inspection/snapshot.js';
import { RunsListCommand } from '../runs/list.js';
import { RunsReportCommand } from '../runs/report.js';
import { RunsRerunCommand } from '../runs/rerun.js';
import { RunsShowCommand } from '../runs/show.js';
import { RunsStatsCommand } from '../runs/stats.js';
import { RunsSubmitCommand } from '../runs/submit.js';
import { RunsWatchCommand } from '../runs/watch.js';
import { StoreBackupCommand } from '../store/backup.js';
import { StoreCheckCommand } from '../store/check.js';
import { StoreStatsCommand } from '../store/stats.js';
import { StoreVacuumCommand } from '../store/vacuum.js';
import { AuditCommand } from './audit.js';
import { CompileCommand } from './compile.js';
import { DoctorCommand } from './doctor.js';
import { GraphCommand } from './graph.js';
import { InitCommand } from './init.js';
import { KeysNewCommand } from './keys.js';
import { RerunCommand } from './rerun.js';
import { RunCommand } from './run.js';
import { SchemaPipelineCommand, SchemaPlanCommand, SchemaTestCommand } from './schema.js';
import { ServeCommand } from './serve/serve.js';
import { TestCommand } from './test.js';
import { ToolsCommand } from './tools.js';
import { ValidateCommand } from './validate.js';

/** All commands, in the order in which help lists them. */
export const COMMANDS: readonly CommandClass<CliContext>[] = [
  InitCommand,
  ValidateCommand,
  RunCommand,
  RerunCommand,
  TestCommand,
  CompileCommand,
  ServeCommand,
  McpCommand,
  PipelinesListCommand,
  PipelinesShowCommand,
  PipelinesRunCommand,
  PipelinesPauseCommand,
  PipelinesResumeCommand,
  RunsSubmitCommand,
  RunsListCommand,
  RunsStatsCommand,
  RunsShowCommand,
  RunsSnapshotCommand,
  RunsReportCommand,
  RunsRecordingCommand,
  RunsArtifactsCommand,
  RunsWatchCommand,
  RunsCancelCommand,
  RunsContinueCommand,
  RunsRerunCommand,
  RunsDeleteCommand,
  InspectCommand,
  AuditCommand,
  StoreBackupCommand,
  StoreCheckCommand,
  StoreStatsCommand,
  StoreVacuumCommand,
  KeysNewCommand,
  ToolsCommand,
  GraphCommand,
  SchemaPipelineCommand,
  SchemaPlanCommand,
  SchemaTestCommand,
  DoctorCommand,
  HelpCommand,
  VersionCommand,
];

export type Commands = readonly CommandClass<CliContext>[];

/** All commands. The build puts `lazy/commands.ts` in the place of this function and the next one. */
export function allCommands(): Commands | Promise<Commands> {
  return COMMANDS;
}

/** Selects the commands of the first word, or all: clipanion takes longer to learn all commands than most take to run. */
export function commandsFor([word]: readonly string[]): Commands | Promise<Commands> {
  const matching = COMMANDS.filter(({ paths, usage }) => usage && paths?.some(([first]) => first === word));
  return matching.length === 0 ? COMMANDS : matching;
}
