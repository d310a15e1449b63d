import { existsSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { errorCode, errorMessage, WavetrainError } from '../common/errors.js';
import { type ModelConfig, readModelConfig } from '../common/model-config.js';
import { warnHost } from '../common/warnings.js';
import type { ProviderName } from './choose-model.js';
import { ModelError, type ModelProvider } from './model.js';
import { type ModelAccess, Models, type ModelsOptions } from './models.js';
import type { RecordedAnswer } from './providers/mock.js';

/** The file of `mock/recorded` when none is configured. */
const ANSWERS_FILE = 'answers.jsonl';

export interface CreateModelsOptions extends Pick<ModelsOptions, 'inFlight' | 'tenantShare' | 'random'> {
  /** Where files with answers are looked for, such as the folder of the pipeline; the first one that has it counts. */
  readonly folders: readonly string[];
}

/** Creates the access to language models. Their packages are loaded when the first model is asked. */
export function createModels(config: ModelConfig, { folders, ...options }: CreateModelsOptions): Models {
  const answersFile = config.answersFile ?? ANSWERS_FILE;
  const load = async (name: ProviderName): Promise<ModelProvider> => {
    if (name === 'mock') {
      const { createMockProvider } = await import('./providers/mock.js');
      return createMockProvider(() => readAnswers(answersFile, folders));
    }
    const { createSdkProvider } = await import('./providers/sdk.js');
    return createSdkProvider(name, config);
  };
  const loadProvider = async (name: ProviderName): Promise<ModelProvider> => {
    const provider = await load(name);
    return config.recordFile === undefined
      ? provider
      : recordAnswers(provider, resolve(folders[0] ?? '.', config.recordFile));
  };
  const assertAnswers = (): void => {
    if (findPaths(answersFile, folders).every((path) => !existsSync(path)))
      throw new WavetrainError('provider_misconfigured', describeMissing(answersFile, folders));
  };
  return new Models({ ...options, config, loadProvider, assertAnswers });
}

function findPaths(name: string, folders: readonly string[]): string[] {
  return (isAbsolute(name) ? [''] : folders).map((folder) => resolve(folder, name));
}

function describeMissing(name: string, folders: readonly string[]): string {
  return (
    `mock/recorded finds no file with answers: it looked for ${findPaths(name, folders).join(', ')}; ` +
    'name a file with WAVETRAIN_ANSWERS, or record one with WAVETRAIN_RECORD_ANSWERS'
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

/** Reads a file with one answer in each line. Rejects with a ModelError that names the file and the line. */
async function readAnswers(name: string, folders: readonly string[]): Promise<RecordedAnswer[]> {
  for (const file of findPaths(name, folders)) {
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') continue;
      throw new ModelError('misconfigured', `the file with answers cannot be read: ${errorMessage(error)}`);
    }
    return text
      .split('\n')
      .flatMap((line, index) => (line.trim() === '' ? [] : [parseAnswer(line, file, index + 1)]));
  }
  throw new ModelError('misconfigured', describeMissing(name, folders));
}

function parseAnswer(line: string, file: string, number: number): RecordedAnswer {
  try {
    const answer = JSON.parse(line) as Partial<RecordedAnswer> | null;
    const key = answer?.fingerprint ?? answer?.prompt;
    if (typeof key === 'string' && key !== '' && typeof answer?.text === 'string')
      return answer as RecordedAnswer;
  } catch {
    // Reported below, like a line without the fields.
  }
  throw new ModelError(
    'misconfigured',
    `line ${number} of "${file}" is not an answer: {"fingerprint": "…", "text": "…"}, or {"prompt": "…", "text": "…"}`,
  );
}

/**
 * Writes the answers of a provider to a file, from which `mock/recorded` gives them again. Those of `mock/echo` may be
 * replaced by hand; those of `mock/recorded` are not written, since they stand in a file.
 */
function recordAnswers(provider: ModelProvider, file: string): ModelProvider {
  let hasWarned = false;
  const warnOnce = (): void => {
    if (!hasWarned)
      warnHost(
        'WAVETRAIN_RECORD_ANSWERS has no effect on mock/recorded, whose answers stand in a file already',
      );
    hasWarned = true;
  };
  return {
    ...provider,
    async *stream(request, signal) {
      if (provider.name === 'mock' && request.model === 'recorded') {
        warnOnce();
        yield* provider.stream(request, signal);
        return;
      }
      const { fingerprintOf, lastWordsOf } = await import('./providers/mock.js');
      const texts: string[] = [];
      for await (const part of provider.stream(request, signal)) {
        if (part.type === 'text') texts.push(part.text);
        if (part.type === 'end') {
          const answer: RecordedAnswer = {
            fingerprint: fingerprintOf(request),
            prompt: lastWordsOf(request),
            text: texts.join(''),
            ...(part.finish === 'length' && { finish: 'length' }),
            usage: part.usage,
          };
          await appendAnswer(file, answer);
        }
        yield part;
      }
    },
  };
}

async function appendAnswer(file: string, answer: RecordedAnswer): Promise<void> {
  try {
    await appendFile(file, `${JSON.stringify(answer)}\n`);
  } catch (error) {
    throw new ModelError(
      'misconfigured',
      `the answer cannot be written to the file of WAVETRAIN_RECORD_ANSWERS: ${errorMessage(error)}`,
    );
  }
}
