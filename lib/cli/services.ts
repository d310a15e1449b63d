import type { Clock } from '../common/clock.js';
import type { ResolvedParams } from '../definition/params.js';
import type { DefinitionKind } from '../definition/schema/root.js';
import type { PipelineDefinition } from '../definition/schema/schema.js';
import type { Source } from '../definition/text/source.js';
import type { JsonObject } from '../common/json.js';
import type { Check, CheckOptions } from '../pipelines/check.js';
import type { ValidationReport } from '../pipelines/report.js';
import type { RunRegistry } from '../runs/registry.js';
import type { Catalog } from '../tools/catalog.js';
import { importModule, packageEntry } from './program.js';

/** What the command line does with runs: the registry is the one door to them (law L2). */
export type RunDoor = Pick<RunRegistry, 'submit' | 'submitPlan' | 'settled' | 'cancel' | 'forget'>;

/**
 * The rest of Wavetrain as the commands see it. Everything behind it is imported when it is first asked for, so
 * that a command pays only for what it uses.
 */
export interface Services {
  /** The built-in tools and those of the files and packages named. */
  catalog(specifiers: readonly string[], cwd: string): Promise<Catalog>;
  /** Reads a text, once for all that is asked of it, and says what it defines (D42). */
  read(text: string): Promise<{ readonly source: Source; readonly kind: DefinitionKind }>;
  check(source: Source, options: CheckOptions): Promise<Check>;
  report(check: Check): Promise<ValidationReport>;
  params(definition: PipelineDefinition, given: JsonObject): Promise<ResolvedParams>;
  /** What plans are checked and drawn with. */
  plans(): Promise<typeof import('./planning.js')>;
  /** Opens a registry whose tools read files inside `roots` only (D51). */
  registry(roots: readonly string[], clock: Clock): Promise<RunDoor>;
  /** What a server is opened with. */
  server(): Promise<typeof import('./serving.js')>;
  /** What keys are made with. */
  keys(): Promise<typeof import('./keys.js')>;
  /** What servers are asked with. */
  client(): Promise<typeof import('../client/index.js')>;
}

export const systemServices: Services = {
  async catalog(specifiers, cwd) {
    const { builtinCatalog } = await import('./checking.js');
    if (specifiers.length === 0) return builtinCatalog();
    const { loadTools } = await import('../tools/load.js');
    const entry = packageEntry();
    const loaded = await Promise.all(
      specifiers.map((specifier) => loadTools(specifier, cwd, { entry, importModule })),
    );
    return builtinCatalog().with(loaded.flat());
  },
  async read(text) {
    const { kindOfDefinition, readSource } = await import('./checking.js');
    const source = readSource(text);
    return { source, kind: kindOfDefinition(text, source) };
  },
  async check(source, options) {
    const { checkPipelineSource } = await import('./checking.js');
    return checkPipelineSource(source, options);
  },
  async report(check) {
    const { reportOf } = await import('./checking.js');
    return reportOf(check);
  },
  async params(definition, given) {
    const { resolveParams } = await import('./checking.js');
    return resolveParams(definition, given);
  },
  plans() {
    return import('./planning.js');
  },
  async registry(roots, clock) {
    const { RunRegistry, fileAccess } = await import('./running.js');
    return new RunRegistry({ files: fileAccess(roots), clock });
  },
  server() {
    return import('./serving.js');
  },
  keys() {
    return import('./keys.js');
  },
  client() {
    return import('../client/index.js');
  },
};
