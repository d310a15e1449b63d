import { dirname, extname, posix } from 'node:path';
import { ToolError } from '../common/errors.js';
import { DEFINITION_EXTENSIONS, isTestFile, TEST_ENDINGS } from '../common/files.js';
import type { Steps } from '../common/scheduling/steps.js';
import type { Source } from '../definition/text/source.js';
import { listExternal } from '../plans/load.js';
import type { PipelineInput } from '../plans/plan.js';
import { decodeText, readRegularFile } from '../tools/files/regular-file.js';
import { LIBRARY_LIMITS } from './limits.js';
import { inspectFile, type ListedFile } from './list-files.js';

/** The files of one tenant, as they count. */
export interface TenantFiles {
  /** Changes whenever a file is added, changed or removed. */
  readonly changes: number;
  readonly find: (path: string) => ListedFile | undefined;
}

/** The files with which a definition was checked: a plan names others, or has them beside it. */
export interface UsedFiles {
  /** The signatures that the files had, by path. */
  readonly signatures: ReadonlyMap<string, string>;
  readonly hasMissing: boolean;
  /** The `changes` of the tenant's files when they were looked for. */
  readonly changes: number;
  /** The length of all texts that were checked, in bytes, each as often as it is used. */
  readonly bytes: number;
}

interface PlanFiles {
  readonly used: UsedFiles;
  /** Undefined when the files are too long together: then nothing is read. */
  readonly pipelines: ReadonlyMap<string, PipelineInput> | undefined;
}

interface PlanReading {
  /** Does steps beside the runs. */
  readonly run: <T>(steps: Steps<T>) => Promise<T>;
  /** Of one file, in bytes. */
  readonly limitBytes: number;
}

interface FoundFile {
  readonly id: string;
  /** As the plan names it. */
  readonly name: string;
  readonly listed: ListedFile;
}

/** Finds the files that a plan names, or has beside it (D44), in steps. @param planFile where the plan is, or would be */
export function* findPlanFiles(
  source: Pick<Source, 'value'>,
  planFile: string,
  files: TenantFiles,
): Steps<(FoundFile | ({ readonly id: string } & Extract<PipelineInput, { missing: unknown }>))[]> {
  const external = yield* listExternal(source);
  return external.map(({ id, file }) => {
    const names = file === undefined ? DEFINITION_EXTENSIONS.map((end) => `${id}${end}`) : [file];
    const listed = findFile(names, planFile, files);
    return listed === undefined ? { id, ...missing(id, names) } : { id, name: names[0] ?? '', listed };
  });
}

/**
 * Reads the pipelines that a plan names, or has beside it (D44): files of the same folder and tenant, which are pipelines of
 * this server themselves.
 *
 * @param planBytes the length of the plan itself
 */
export async function readPlanFiles(
  source: Source,
  planFile: string,
  planBytes: number,
  files: TenantFiles,
  reading: PlanReading,
): Promise<PlanFiles> {
  const { changes } = files;
  const pipelines = new Map<string, PipelineInput>();
  const found: FoundFile[] = [];
  let bytes = planBytes;
  for (const part of await reading.run(findPlanFiles(source, planFile, files))) {
    if ('missing' in part) {
      pipelines.set(part.id, part);
      continue;
    }
    bytes += part.listed.bytes;
    found.push(part);
  }
  const signatures = new Map(found.map(({ listed }) => [listed.file, listed.signature]));
  const used = { signatures, hasMissing: pipelines.size > 0, changes, bytes };
  if (bytes > LIBRARY_LIMITS.planBytes) return { used: { ...used, bytes: planBytes }, pipelines: undefined };
  const texts = new Map<string, Promise<PipelineInput>>();
  for (const { id, name, listed } of found) {
    const text = texts.get(listed.file) ?? readPlanFile(id, name, listed, reading.limitBytes);
    texts.set(listed.file, text);
    pipelines.set(id, await text);
  }
  return { used, pipelines };
}

/** Returns true when a definition was checked with files that are the same now. */
export function isUpToDate({ signatures, hasMissing, changes }: UsedFiles, files: TenantFiles): boolean {
  if (changes === files.changes) return true;
  return (
    !hasMissing && [...signatures].every(([path, signature]) => files.find(path)?.signature === signature)
  );
}

/** Returns true when a plan may be another one once a file of its tenant has changed, or is there or gone. */
export function mayUse(planFile: string, { signatures, hasMissing }: UsedFiles, path: string): boolean {
  if (hasMissing && isWithin(path, dirname(planFile))) return true;
  // A file may take the place of one of its name that ends otherwise.
  const stem = path.slice(0, path.length - extname(path).length);
  return signatures.has(path) || DEFINITION_EXTENSIONS.some((end) => signatures.has(stem + end));
}

/** The first of these names that is a file in the folder of the plan, or below it. */
function findFile(names: readonly string[], planFile: string, files: TenantFiles): ListedFile | undefined {
  const folder = dirname(planFile);
  for (const name of names) {
    const path = posix.normalize(posix.join(folder, name));
    if (posix.isAbsolute(name) || path === planFile || !isWithin(path, folder)) continue;
    const listed = files.find(path);
    if (listed !== undefined) return listed;
  }
  return undefined;
}

function isWithin(path: string, folder: string): boolean {
  return folder === '.' || path.startsWith(`${folder}/`);
}

async function readPlanFile(
  id: string,
  name: string,
  listed: ListedFile,
  limitBytes: number,
): Promise<PipelineInput> {
  try {
    return { text: await readFileText(listed, limitBytes), file: name };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { unreadable: { message: `sub-pipeline "${id}": ${error.message}` } };
  }
}

/** The text of a file of the folder. Rejects with a ToolError that says what is wrong with the file. */
export async function readFileText({ realPath, file }: ListedFile, limitBytes: number): Promise<string> {
  return decodeText(await readRegularFile(realPath, file, limitBytes), file);
}

/** A file of tests of the folder (D91). */
export interface TestsFile {
  /** Its path in the folder. */
  readonly file: string;
  readonly text: string;
}

/**
 * Reads the tests beside a definition; undefined when there are none. Nothing outside of the folder is read, whatever links
 * say. Rejects with a ToolError for a file that cannot be read, or is too long.
 */
export async function readTestsBeside(
  { file, tenantId }: Pick<ListedFile, 'file' | 'tenantId'>,
  root: string,
  limitBytes: number,
): Promise<TestsFile | undefined> {
  const stem = file.slice(0, file.length - extname(file).length);
  for (const ending of TEST_ENDINGS) {
    const found = await inspectFile({ file: `${stem}${ending}`, tenantId, isLink: false }, root);
    if (found === undefined || !isTestFile(found.realPath)) continue;
    return { file: found.file, text: await readFileText(found, limitBytes) };
  }
  return undefined;
}

function missing(id: string, names: readonly string[]): Extract<PipelineInput, { missing: unknown }> {
  return {
    missing: {
      message: `sub-pipeline "${id}": there is no file ${names.map((name) => `"${name}"`).join(' or ')} beside the plan, or below it`,
      hint: 'put its pipeline into the folder of the plan, or write it in the plan under "pipeline"',
    },
  };
}
