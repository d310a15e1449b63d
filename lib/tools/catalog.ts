import { createHash } from 'node:crypto';
import { ToolError, WavetrainError } from '../common/errors.js';
import type { JsonObject } from '../common/json/json.js';
import type { TaskNames, ToolSchema } from '../definition/schema/json-schema.js';
import { assert } from './builtin/values/assert.js';
import { command } from './builtin/command.js';
import { BUILTIN_FUNCTIONS, compute } from './builtin/compute/compute.js';
import { exportFile } from './builtin/export.js';
import { copyFile } from './builtin/files/copy-file.js';
import { listFiles } from './builtin/files/list-files.js';
import { readFile } from './builtin/files/read-file.js';
import { writeFile } from './builtin/files/write-file.js';
import { extractFields } from './builtin/models/extract-fields.js';
import { extractFromTables } from './builtin/models/extract-from-tables.js';
import { extractFromTexts } from './builtin/models/extract-from-texts.js';
import { fail } from './builtin/testing/fail.js';
import { BUILTIN_SOURCES, fetchData } from './builtin/web/fetch-data/fetch-data.js';
import { httpRequest } from './builtin/web/http-request.js';
import { ingestDocument } from './builtin/ingest-document.js';
import { llmJob } from './builtin/models/llm-job.js';
import { loadSchema } from './builtin/load-schema.js';
import { mock } from './builtin/testing/mock.js';
import { runPipeline } from './builtin/run-pipeline.js';
import { sqlQuery } from './builtin/sql-query/sql-query.js';
import { searchWeb } from './builtin/web/search-web.js';
import { select } from './builtin/select/select.js';
import { sleep } from './builtin/testing/sleep.js';
import { store } from './builtin/values/store.js';
import { transform } from './builtin/values/transform.js';
import { createToolSchema } from './inputs/editor-schema.js';
import { bindRegistries, originOf, sortByName } from './inputs/registries.js';
import {
  type CatalogEntry,
  type ComputeFunction,
  type DataSource,
  defineTool,
  type RegisteredSchema,
  type Registries,
  type Tool,
  type ToolInput,
} from './tool.js';
import type { ToolMetadataSchema } from '../common/wire/report.js';
import type { Shape } from '../common/wire/shape.js';

/**
 * The tools that a pipeline may call, the functions and schemas that their inputs may name, and the pools that its tasks
 * may name. Immutable: {@link Catalog.with} returns another catalog.
 */
export class Catalog {
  readonly #tools = new Map<string, Tool>();
  readonly #functions = new Map<string, ComputeFunction>();
  readonly #schemas = new Map<string, RegisteredSchema>();
  readonly #sources = new Map<string, DataSource>();
  readonly #registries: Registries = {
    functions: this.#functions,
    schemas: this.#schemas,
    sources: this.#sources,
  };
  readonly #builtin: ReadonlySet<CatalogEntry>;
  /** Names of the pools that there are (D81); undefined when nobody knows before the run. */
  readonly pools: ReadonlySet<string> | undefined;

  /**
   * An own tool, function or schema replaces the built-in one of the same name (D58).
   *
   * @throws WavetrainError `bad_tool_file` when two different own ones have the same name
   */
  constructor(
    entries: Iterable<CatalogEntry>,
    builtin: Iterable<CatalogEntry> = BUILTIN_ENTRIES,
    pools?: ReadonlySet<string>,
  ) {
    this.#builtin = new Set(builtin);
    this.pools = pools;
    for (const entry of entries) this.#add(entry);
  }

  #add(entry: CatalogEntry): void {
    if (entry.kind === 'schema') this.#addTo(this.#schemas, entry, 'schemas');
    else if (isFunction(entry)) this.#addTo(this.#functions, entry, 'functions');
    else if (isSource(entry)) this.#addTo(this.#sources, entry, 'sources');
    else this.#addTo(this.#tools, originOf(entry), 'tools');
  }

  #addTo<T extends CatalogEntry>(entries: Map<string, T>, entry: T, what: string): void {
    const present = entries.get(entry.name);
    if (present === undefined || this.#builtin.has(present)) entries.set(entry.name, entry);
    else if (present !== entry && !this.#builtin.has(entry)) {
      throw new WavetrainError(
        'bad_tool_file',
        `there are two ${what} named "${entry.name}": rename one of them`,
      );
    }
  }

  get(name: string): Tool | undefined {
    const tool = this.#tools.get(name);
    return tool && bindRegistries(tool, this.#registries);
  }

  /** Returns true if a name means the tool that comes with the package. */
  isBuiltin(name: string): boolean {
    const tool = this.#tools.get(name);
    return tool !== undefined && this.#builtin.has(tool);
  }

  /** Lists the names of the tools in alphabetical order. */
  names(): string[] {
    return [...this.#tools.keys()].sort();
  }

  /** Describes all tools in alphabetical order. */
  metadata(): ToolMetadata[] {
    return this.#sorted().map((tool) => describeTool(tool, this.isBuiltin(tool.name)));
  }

  /** A text that changes with what the checks of definitions know of the tools and the pools. */
  fingerprint(): string {
    const pools = this.pools === undefined ? [] : [...this.pools].sort();
    const known = JSON.stringify([this.metadata(), this.toolSchemas(), ...pools]);
    return createHash('sha256').update(known).digest('base64');
  }

  /** Describes all tools in alphabetical order for the JSON Schema of definitions. */
  toolSchemas(): ToolSchema[] {
    return this.#sorted().map(createToolSchema);
  }

  /** The names that tasks may have, for the JSON Schema of definitions. */
  taskNames(): TaskNames {
    return { tools: this.toolSchemas(), pools: this.pools };
  }

  #sorted(): Tool[] {
    return this.names().flatMap((name) => this.get(name) ?? []);
  }

  /** Adds own entries. @throws WavetrainError `bad_tool_file` when a name is taken by a different own one */
  with(entries: Iterable<CatalogEntry>): Catalog {
    return new Catalog([...this.#all(), ...entries], this.#builtin, this.pools);
  }

  /** Lets tasks name these pools, and no other ones. */
  withPools(names: Iterable<string>): Catalog {
    return new Catalog(this.#all(), this.#builtin, new Set(names));
  }

  /**
   * The built-in tools, and one that cannot be called in place of every other one that a definition names, with any pools:
   * for runs that are only looked at.
   */
  withPlaceholders(definition: unknown): Catalog {
    const builtin = this.#all().filter((entry) => this.#builtin.has(entry));
    const names = [...new Set(toolNamesIn(definition))].filter((name) => !this.isBuiltin(name));
    return new Catalog([...builtin, ...names.map(createPlaceholder)], this.#builtin);
  }

  /** Replaces the built-in tool, or source, of the same name by a variant of it. An own one stays in its place. */
  withVariant(builtin: Tool): Catalog {
    const present = (isSource(builtin) ? this.#sources : this.#tools).get(builtin.name);
    if (present === undefined || !this.#builtin.has(present)) return this;
    const entries = this.#all().map((entry) => (entry === present ? builtin : entry));
    return new Catalog(entries, [...this.#builtin, builtin], this.pools);
  }

  /** Leaves out the built-in tool of a name. An own one stays. */
  withoutBuiltin(name: string): Catalog {
    const tool = this.#tools.get(name);
    if (tool === undefined || !this.#builtin.has(tool)) return this;
    return new Catalog(
      this.#all().filter((entry) => entry !== tool),
      this.#builtin,
      this.pools,
    );
  }

  /** Replaces what each tool, function and source does. Its declaration stays, but none asks a model any more. */
  withRuns(replace: (tool: Tool) => Tool['run']): Catalog {
    const builtin: CatalogEntry[] = [];
    const entries = this.#all().map((entry) => {
      if (entry.kind === 'schema') return entry;
      const { usesModel: _, ...declared } = entry;
      const replaced: Tool = { ...declared, run: replace(entry) };
      if (this.#builtin.has(entry)) builtin.push(replaced);
      return replaced;
    });
    return new Catalog(entries, builtin, this.pools);
  }

  #all(): CatalogEntry[] {
    const { functions, schemas, sources } = this.#registries;
    return [this.#tools, functions, schemas, sources].flatMap((entries) => [...entries.values()]);
  }
}

function isFunction(entry: Tool): entry is ComputeFunction {
  return entry.kind === 'function';
}

function isSource(entry: Tool): entry is DataSource {
  return entry.kind === 'source';
}

/** The tools that come with the package (D22, D49). */
const BUILTIN_TOOLS: readonly Tool[] = [
  assert,
  command,
  compute,
  copyFile,
  exportFile,
  extractFields,
  extractFromTables,
  extractFromTexts,
  fail,
  fetchData,
  httpRequest,
  ingestDocument,
  listFiles,
  llmJob,
  loadSchema,
  mock,
  readFile,
  runPipeline,
  searchWeb,
  select,
  sleep,
  sqlQuery,
  store,
  transform,
  writeFile,
];

const BUILTIN_ENTRIES: readonly CatalogEntry[] = [...BUILTIN_TOOLS, ...BUILTIN_FUNCTIONS, ...BUILTIN_SOURCES];

/** Creates the catalog of the built-in tools and functions. */
export function builtinCatalog(): Catalog {
  return new Catalog(BUILTIN_ENTRIES);
}

/** A tool, as the catalog lists it (Tool metadata). */
export interface ToolMetadata extends Shape<typeof ToolMetadataSchema> {}

/** A function or a tool: what it takes and gives. */
export type FunctionMetadata = NonNullable<ToolMetadata['functions']>[number];

/** One input of a tool, as the catalog lists it. */
export type InputMetadata = FunctionMetadata['inputs'][string];

const BUILTIN_NAMES: ReadonlySet<string> = new Set(BUILTIN_TOOLS.map(({ name }) => name));

/** Derives the metadata of a tool from its declaration (D48). */
function describeTool(tool: Tool, isBuiltin: boolean): ToolMetadata {
  const named = new Set(Object.values(tool.inputs).map(({ registry }) => registry));
  const { functions, schemas, sources } = tool.registries ?? {};
  return {
    ...describeCallable(tool),
    ...(!isBuiltin && BUILTIN_NAMES.has(tool.name) && { replaces_builtin: true }),
    ...(named.has('functions') && { functions: sortByName(functions).map(describeCallable) }),
    ...(named.has('sources') && { sources: sortByName(sources).map(describeCallable) }),
    ...(named.has('schemas') && {
      schemas: sortByName(schemas).map(({ name, description }) => ({ name, description })),
    }),
  };
}

function describeCallable({ name, description, inputs, output }: Tool): FunctionMetadata {
  const described = Object.entries(inputs).map(
    ([input, declaration]) => [input, describeInput(input, declaration)] as const,
  );
  return {
    name,
    description,
    inputs: Object.fromEntries<InputMetadata>(described),
    output: {
      name: output.name,
      description: output.description,
      type: output.type,
      ...(output.schema !== undefined && { schema: output.schema as JsonObject }),
    },
  };
}

function describeInput(name: string, declaration: ToolInput): InputMetadata {
  return {
    name,
    description: declaration.description,
    required: declaration.required ?? false,
    default: declaration.default ?? null,
    ...(declaration.type !== undefined && { type: declaration.type }),
    ...(declaration.enum !== undefined && declaration.registry === undefined && { enum: declaration.enum }),
    ...(declaration.verbatim === true && { verbatim: true }),
    ...(declaration.registry !== undefined && { registry: declaration.registry }),
  };
}

function createPlaceholder(name: string): Tool {
  return defineTool({
    name,
    description: 'is not there any more',
    inputs: {},
    openInputs: true,
    run: () => {
      throw ToolError.nonRetryable(`the tool "${name}" is not there any more`);
    },
  });
}

/** Yields all that is written as `tool`, at any depth. */
export function* toolNamesIn(value: unknown): Iterable<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    if (key === 'tool' && typeof part === 'string') yield part;
    else yield* toolNamesIn(part);
  }
}
