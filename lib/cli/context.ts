import { randomBytes, randomUUID } from 'node:crypto';
import type { BaseContext } from 'clipanion';
import { type Clock, systemClock } from '../common/clock.js';
import { systemEnvironment } from '../common/config.js';
import type { JsonObject } from '../common/json.js';
import type { ResolvedParams } from '../definition/params.js';
import type { DefinitionKind } from '../definition/schema/root.js';
import type { PipelineDefinition } from '../definition/schema/schema.js';
import type { Source } from '../definition/text/source.js';
import type { Check, CheckOptions } from '../pipelines/check.js';
import type { ValidationReport } from '../pipelines/report.js';
import type { RunRegistry } from '../runs/registry.js';
import type { Catalog } from '../tools/catalog.js';
import { importModule, packageEntry } from './package-info.js';

/** Where signals and stray errors arrive: `process`, or an emitter in specs. */
export interface ProcessEvents {
  on(name: string, listener: (...details: unknown[]) => void): unknown;
  off(name: string, listener: (...details: unknown[]) => void): unknown;
}

/** What surrounds a command; specs replace any part of it. */
export type CliContext = BaseContext & {
  readonly cwd: string;
  readonly clock: Clock;
  readonly processEvents: ProcessEvents;
  /** An id that nothing else has. */
  readonly newId: () => string;
  /** Bytes that nobody can guess. */
  readonly secretBytes: (count: number) => Uint8Array;
  readonly services: Services;
};

/** The context of this process. */
export function systemContext(): CliContext {
  return {
    env: systemEnvironment(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    colorDepth: 1,
    cwd: process.cwd(),
    clock: systemClock,
    processEvents: process,
    newId: () => randomUUID(),
    secretBytes: randomBytes,
    services: systemServices,
  };
}

/** What the command line does with runs: the registry is the one door to them (law L2). */
export type RunDoor = Pick<RunRegistry, 'submit' | 'submitPlan' | 'settled' | 'cancel' | 'forget'>;

/**
 * The rest of Wavetrain as the commands see it. Everything behind it is imported when it is first asked for, so
 * that a command pays only for what it uses.
 */
interface Services {
  /** The built-in tools and those of the files and packages named. */
  catalog(specifiers: readonly string[], cwd: string): Promise<Catalog>;
  /** Reads a text, once for all that is asked of it, and says what it defines (D42). */
  read(text: string): Promise<{ readonly source: Source; readonly kind: DefinitionKind }>;
  check(source: Source, options: CheckOptions): Promise<Check>;
  report(check: Check): Promise<ValidationReport>;
  params(definition: PipelineDefinition, given: JsonObject): Promise<ResolvedParams>;
  /** What plans are checked and drawn with. */
  plans(): Promise<typeof import('./lazy/plans.js')>;
  /** Opens a registry whose tools read files inside `roots` only (D51). */
  registry(roots: readonly string[], clock: Clock): Promise<RunDoor>;
  /** What a server is opened with. */
  server(): Promise<typeof import('./lazy/server.js')>;
  /** What keys are made with. */
  keys(): Promise<typeof import('./lazy/keys.js')>;
  /** What servers are asked with. */
  client(): Promise<typeof import('../client/index.js')>;
}

export const systemServices: Services = {
  async catalog(specifiers, cwd) {
    const { builtinCatalog } = await import('./lazy/validation.js');
    if (specifiers.length === 0) return builtinCatalog();
    const { loadTools } = await import('../tools/loading/load.js');
    const entry = packageEntry();
    const loaded = await Promise.all(
      specifiers.map((specifier) => loadTools(specifier, cwd, { entry, importModule })),
    );
    return builtinCatalog().with(loaded.flat());
  },
  async read(text) {
    const { kindOfDefinition, readSource } = await import('./lazy/validation.js');
    const source = readSource(text);
    return { source, kind: kindOfDefinition(text, source) };
  },
  async check(source, options) {
    const { checkPipelineSource } = await import('./lazy/validation.js');
    return checkPipelineSource(source, options);
  },
  async report(check) {
    const { reportOf } = await import('./lazy/validation.js');
    return reportOf(check);
  },
  async params(definition, given) {
    const { resolveParams } = await import('./lazy/validation.js');
    return resolveParams(definition, given);
  },
  plans() {
    return import('./lazy/plans.js');
  },
  async registry(roots, clock) {
    const { RunRegistry, fileAccess } = await import('./lazy/execution.js');
    return new RunRegistry({ files: fileAccess(roots), clock });
  },
  server() {
    return import('./lazy/server.js');
  },
  keys() {
    return import('./lazy/keys.js');
  },
  client() {
    return import('../client/index.js');
  },
};

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The signals that ask a server to end: politely, then at once. */
export class EndSignals {
  readonly first: Promise<void>;
  readonly second: Promise<void>;
  readonly #events: ProcessEvents;
  #hear: (() => void)[] = [];

  constructor(events: ProcessEvents) {
    this.#events = events;
    this.first = this.#next();
    this.second = this.#next();
    for (const signal of SIGNALS) events.on(signal, this.#onSignal);
  }

  close(): void {
    for (const signal of SIGNALS) this.#events.off(signal, this.#onSignal);
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#hear.push(resolve);
    });
  }

  readonly #onSignal = (): void => {
    this.#hear.shift()?.();
  };
}
