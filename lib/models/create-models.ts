import { resolve } from 'node:path';
import { type ModelConfig, readModelConfig } from '../common/model-config.js';
import type { ProviderName } from './choose-model.js';
import type { ModelProvider } from './model.js';
import { type ModelAccess, Models, type ModelsOptions } from './models.js';
import { assertAnswersFile, readAnswers, recordAnswers } from './providers/answers-file.js';

/** The file of `mock/recorded` when none is configured. */
const ANSWERS_FILE = 'answers.jsonl';

export interface CreateModelsOptions extends Pick<ModelsOptions, 'inFlight' | 'tenantShare' | 'random'> {
  /** Where files with answers are looked for, such as the folder of the pipeline; the first one that has it counts. */
  readonly folders: readonly string[];
  /** Receives what callers need not know of files with answers: their paths. Default: nobody does. */
  readonly log?: (message: string) => void;
}

/** Creates the access to language models. Their packages are loaded when the first model is asked. */
export function createModels(config: ModelConfig, { folders, log, ...options }: CreateModelsOptions): Models {
  const answersFile = config.answersFile ?? ANSWERS_FILE;
  const load = async (name: ProviderName): Promise<ModelProvider> => {
    if (name === 'mock') {
      const { createMockProvider } = await import('./providers/mock.js');
      return createMockProvider(() => readAnswers(answersFile, folders, log));
    }
    const { createSdkProvider } = await import('./providers/sdk.js');
    return createSdkProvider(name, config);
  };
  const loadProvider = async (name: ProviderName): Promise<ModelProvider> => {
    const provider = await load(name);
    return config.recordFile === undefined
      ? provider
      : recordAnswers(provider, resolve(folders[0] ?? '.', config.recordFile), log);
  };
  const assertAnswers = (): void => assertAnswersFile(answersFile, folders, log);
  return new Models({ ...options, config, loadProvider, assertAnswers });
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
