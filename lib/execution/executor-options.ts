import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { completeClock, type HostClock } from '../common/clock.js';
import { MAX_NESTED_PIPELINES, MAX_OUTPUT_LENGTH } from '../common/limits.js';
import type { MemoryPool } from '../common/memory/memory-pool.js';
import { TaskPools } from '../common/scheduling/task-pools.js';
import type { RunSteps } from '../common/scheduling/steps.js';
import type { SecretSource } from '../definition/secrets/run-secrets.js';
import { modelAccess } from '../models/create-models.js';
import type { ModelAccess } from '../models/models.js';
import { type CommandAccess, commandAccess } from '../tools/commands/command-access.js';
import type { ConnectionSource } from '../tools/connections/connection.js';
import { type NetworkAccess, networkAccess } from '../tools/fetching/network.js';
import { fileAccess } from '../tools/files/file-access.js';
import type { FileAccess } from '../tools/files/access.js';
import { type AttemptObserver, guardObserver } from './invocation/attempt/attempt-observer.js';
import { DiskCache } from './invocation/cache/disk-cache.js';
import { OutputCache } from './invocation/cache/output-cache.js';
import { ArtifactStore } from './invocation/files/artifact-store.js';
import type { ParseText, StepRunner } from './prepare/step-runner.js';
import type { RunDependencies } from './run-context.js';
import type { Blackboard } from './session/blackboard.js';

export interface LocalExecutorOptions {
  /** Shared by the runs of this executor (Blackboard, rule 3; D57). Default: one in memory; in a registry, one for each run. */
  readonly blackboard?: Blackboard;
  /** The files that tools may read. Default: those in the working directory. */
  readonly files?: FileAccess;
  /** Sends the requests of tools. Default: to public addresses only (D51). */
  readonly network?: NetworkAccess;
  /** Starts the programs of tasks. Default: none is allowed (D88). */
  readonly commands?: CommandAccess;
  /** The databases and object stores that tasks name (D92). Default: there are none. */
  readonly connections?: ConnectionSource | undefined;
  /** Asks language models for tools. Default: no key is configured; `mock` and `ollama` answer (D50). */
  readonly models?: ModelAccess;
  /** Parses long definitions of pipelines that tasks run. Default: in this process. */
  readonly parseText?: ParseText | undefined;
  readonly clock?: HostClock;
  /** Returns a number from 0 to 1, for the jitter of retry delays. */
  readonly random?: () => number;
  /** Maximum output of one invocation, in bytes. Default 10 MiB. */
  readonly outputLimitBytes?: number;
  /** Maximum memory of what a run makes and keeps, mostly its outputs, in bytes. Default 1 GiB. */
  readonly runOutputLimitBytes?: number;
  /** The memory that all runs share, instead of a limit for each. */
  readonly memory?: MemoryPool;
  /** The disk that files of more than 64 MiB of all runs share (D92). Default: unlimited. */
  readonly largeFiles?: MemoryPool;
  /** Maximum number of nested runs of a submitted run at once, at every depth. Default 10,000. */
  readonly maxNestedPipelines?: number;
  /** Folder for a folder of this executor's own, for bytes that tools return (D24). Default: the system's temporary one. */
  readonly artifactFolder?: string;
  /** Folder for the files that tools name (D63), of all runs: the last one of a name stays. Default: the folder of each run. */
  readonly outputFolder?: string;
  /** Keeps the files of a run when it is forgotten, and after `close`. Default: false. */
  readonly keepArtifacts?: boolean;
  /** Folder of the files of runs that go on in another process (D68), instead of one in `artifactFolder`. */
  readonly storedArtifactFolder?: string | undefined;
  /** Folder that keeps the outputs of tasks with `cache` (D65), for other processes too. Default: they are kept in memory. */
  readonly cacheFolder?: string;
  /** Where the secrets of tasks come from (D61). Default: there are none. */
  readonly secrets?: SecretSource | undefined;
  /** The numbers of places of pools, by name (D81); or pools that are shared with others. Default: there are none. */
  readonly pools?: ReadonlyMap<string, number> | TaskPools;
  /** Returns the address of the page of a run, which templates read as `run.url` (D80). Default: runs have none. */
  readonly urlOfRun?: (runId: string) => string | null;
  /** Observes every attempt of every run, for traces and metrics. */
  readonly onAttempt?: AttemptObserver;
}

/** Completes the options of an executor with their defaults. */
export function createDependencies(options: LocalExecutorOptions, stepRunner: StepRunner): RunDependencies {
  return {
    clock: completeClock(options.clock),
    random: options.random ?? Math.random,
    files: options.files ?? fileAccess([process.cwd()]),
    network: options.network ?? networkAccess(),
    connections: options.connections,
    models: options.models ?? modelAccess({}),
    commands: options.commands ?? commandAccess(),
    stepRunner,
    outputLimitBytes: options.outputLimitBytes ?? MAX_OUTPUT_LENGTH,
    runOutputLimitBytes: options.runOutputLimitBytes ?? 2 ** 30,
    memory: options.memory,
    largeFiles: options.largeFiles,
    maxNestedPipelines: options.maxNestedPipelines ?? MAX_NESTED_PIPELINES,
    artifacts: createArtifactStore(options),
    cache: createCache(options, stepRunner),
    pools: options.pools instanceof TaskPools ? options.pools : new TaskPools(options.pools),
    urlOfRun: options.urlOfRun ?? (() => null),
    onAttempt: options.onAttempt && guardObserver(options.onAttempt),
  };
}

function createCache(
  { clock: host, cacheFolder }: LocalExecutorOptions,
  stepRunner: StepRunner,
): OutputCache {
  const clock = completeClock(host);
  if (cacheFolder === undefined) return new OutputCache(clock);
  const runSteps: RunSteps = (steps, tenantId) => stepRunner.run(steps, tenantId, 'cache');
  return new OutputCache(clock, new DiskCache(cacheFolder, clock, runSteps));
}

function createArtifactStore(options: LocalExecutorOptions): ArtifactStore {
  const { artifactFolder = tmpdir(), storedArtifactFolder: stored, keepArtifacts = false } = options;
  const name = `wavetrain-${randomUUID()}`;
  return new ArtifactStore(
    stored ?? join(artifactFolder, name),
    keepArtifacts,
    options.outputFolder,
    stored === undefined ? undefined : name,
  );
}
