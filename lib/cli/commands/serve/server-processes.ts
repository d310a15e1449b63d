import { availableParallelism } from 'node:os';
import type { ServerConfig } from '../../../common/config/server-config.js';
import { distFile } from '../../../common/files.js';
import type { Launcher } from '../../../common/workers/launcher.js';
import type { ProgramLauncher } from '../../../common/workers/programs/program-launcher.js';
import type { CliContext } from '../../context.js';

/** The parts of a server that are loaded when one starts. */
export type ServerModule = typeof import('../../lazy/server.js');

/** The processes that work for a server. */
export interface ServerProcesses {
  readonly launcher: Launcher;
  readonly documents: InstanceType<ServerModule['DocumentPool']>;
  readonly expressions: InstanceType<ServerModule['ExpressionPool']>;
  readonly texts: InstanceType<ServerModule['TextParser']>;
  /** The connections to databases. */
  readonly databases: InstanceType<ServerModule['SessionPool']>;
  readonly programs: ProgramLauncher;
  /** Does something before what has started the programs ends. */
  readonly atEnd: CliContext['atEnd'];
  readonly closeAll: () => Promise<void>;
}

/**
 * Starts the processes for expressions, texts, documents and programs, with a lower priority than the server, so that they may
 * use every processor; two at least, so that more than one tenant finds a process.
 */
export function startProcesses(
  { DocumentPool, ExpressionPool, SessionPool, TextParser, startLauncher }: ServerModule,
  { tenantShare }: ServerConfig,
  { clock }: CliContext,
): ServerProcesses {
  const launcher = startLauncher(distFile('fork-server-process.cjs'));
  const parallelism = Math.max(2, availableParallelism());
  const options = { parallelism, tenantShare, clock, launcher };
  const documents = new DocumentPool({
    ...options,
    file: distFile('document-process.cjs'),
    isolateTenants: true,
  });
  const expressions = new ExpressionPool({ ...options, file: distFile('expression-process.cjs') });
  const texts = TextParser.start({ ...options, file: distFile('parsing-process.cjs') });
  const databases = new SessionPool(tenantShare);
  const endings: (() => Promise<void>)[] = [];
  const closeAll = async (): Promise<void> => {
    const closed = endings.map((close) => close());
    await Promise.all([...closed, documents.close(), expressions.close(), texts.close(), databases.close()]);
    await launcher.close();
  };
  const atEnd: CliContext['atEnd'] = (close) => void endings.push(close);
  const { programs } = launcher;
  return { launcher, documents, expressions, texts, databases, programs, atEnd, closeAll };
}
