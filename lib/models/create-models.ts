import { existsSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import { WavetrainError } from '../common/errors.js';
import { type ModelConfig, type ProviderName, readModelConfig } from '../common/config/model-config.js';
import type { ModelProvider } from './model.js';
import { type ModelAccess, Models, type ModelsOptions } from './models.js';

export interface CreateModelsOptions
  extends Pick<ModelsOptions, 'inFlight' | 'limiters' | 'tenantShare' | 'random'> {
  /** Where files with answers are looked for, such as the folder of the pipeline; the first one that has it counts. */
  readonly folders: readonly string[];
  /** Receives what callers need not know of files with answers: their paths. Default: nobody does. */
  readonly log?: (message: string) => void;
}

/** Creates the access to language models. Their packages are loaded when the first model is asked. */
export function createModels(config: ModelConfig, { folders, log, ...options }: CreateModelsOptions): Models {
  const answersFile = config.answersFile ?? 'answers.jsonl';
  const paths = (isAbsolute(answersFile) ? [''] : folders).map((folder) => resolve(folder, answersFile));
  const load = async (name: ProviderName): Promise<ModelProvider> => {
    if (name === 'mock') {
      const { createMockProvider } = await import('./providers/mock.js');
      const { readAnswers } = await import('./providers/answers-file.js');
      return createMockProvider(() => readAnswers(paths, log));
    }
    const { createSdkProvider } = await import('./providers/sdk.js');
    return createSdkProvider(name, config);
  };
  const loadProvider = async (name: ProviderName): Promise<ModelProvider> => {
    const provider = await load(name);
    if (config.recordFile === undefined) return provider;
    const { recordAnswers } = await import('./providers/answers-file.js');
    return recordAnswers(provider, resolve(folders[0] ?? '.', config.recordFile), log);
  };
  return new Models({ ...options, config, loadProvider, assertAnswers: () => assertAnswers(paths, log) });
}

/**
 * Checks before a run that there is a file with answers. Names its folders only when there is no log: then nobody but the
 * operator sees the message.
 *
 * @throws WavetrainError `provider_misconfigured`
 */
function assertAnswers(paths: readonly string[], log: CreateModelsOptions['log']): void {
  if (paths.some((path) => existsSync(path))) return;
  const problem = `there is no file "${basename(paths[0] ?? '')}" with answers for mock/recorded`;
  const places = `looked for ${paths.join(', ')}`;
  log?.(`${problem}: ${places}`);
  const seen = log === undefined ? `${problem} (${places})` : problem;
  throw new WavetrainError(
    'provider_misconfigured',
    `${seen}: name a file with WAVETRAIN_ANSWERS, or record one with WAVETRAIN_RECORD_ANSWERS`,
  );
}

/**
 * Creates the access to language models of an executor (D50).
 *
 * @param variables as in the environment: `{ OPENAI_API_KEY: '…' }`, or `process.env`
 * @param folders where files with answers are looked for. Default: the working directory
 * @throws WavetrainError `bad_usage` for a variable with an impossible value
 */
export function modelAccess(
  variables: Readonly<Record<string, string | undefined>>,
  folders: readonly string[] = ['.'],
): ModelAccess {
  return createModels(readModelConfig(variables), { folders });
}
