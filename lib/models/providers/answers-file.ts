import { existsSync } from 'node:fs';
import { appendFile, readFile, stat } from 'node:fs/promises';
import { basename, isAbsolute, resolve } from 'node:path';
import { errorCode, errorMessage, WavetrainError } from '../../common/errors.js';
import { MODEL_LIMITS } from '../../common/limits.js';
import { warnHost } from '../../common/warnings.js';
import { ModelError, type ModelProvider } from '../model.js';
import type { RecordedAnswer } from './mock.js';

/** Receives what only the operator may know, such as paths. */
type Log = (message: string) => void;

/**
 * Checks before a run that there is a file with answers.
 *
 * @throws WavetrainError `provider_misconfigured`
 */
export function assertAnswersFile(name: string, folders: readonly string[], log?: Log): void {
  if (findPaths(name, folders).some((path) => existsSync(path))) return;
  throw new WavetrainError('provider_misconfigured', describeMissing(name, folders, log));
}

function findPaths(name: string, folders: readonly string[]): string[] {
  return (isAbsolute(name) ? [''] : folders).map((folder) => resolve(folder, name));
}

/** Names the folders only when there is no log: then nobody but the operator sees the message. */
function describeMissing(name: string, folders: readonly string[], log: Log | undefined): string {
  const problem = `there is no file "${basename(name)}" with answers for mock/recorded`;
  const paths = `looked for ${findPaths(name, folders).join(', ')}`;
  log?.(`${problem}: ${paths}`);
  const seen = log === undefined ? `${problem} (${paths})` : problem;
  return `${seen}: name a file with WAVETRAIN_ANSWERS, or record one with WAVETRAIN_RECORD_ANSWERS`;
}

/**
 * Reads a file with one answer in each line. Rejects with a ModelError that names the line, and the file without its
 * folders: callers of a server see it.
 *
 * @param folders where it may be, unless its path is absolute
 */
export async function readAnswers(
  name: string,
  folders: readonly string[],
  log?: Log,
): Promise<RecordedAnswer[]> {
  const misconfigured = (problem: string, detail: string): ModelError => {
    log?.(`mock/recorded: ${problem}: ${detail}`);
    return new ModelError('misconfigured', problem);
  };
  const file = basename(name);
  for (const path of findPaths(name, folders)) {
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (error) {
      const code = errorCode(error);
      if (code === 'ENOENT') continue;
      throw misconfigured(
        `the file "${file}" with answers cannot be read (${code ?? 'no reason'})`,
        errorMessage(error),
      );
    }
    const lines = text.split('\n');
    const wrong = lines.findIndex((line) => line.trim() !== '' && parseAnswer(line) === undefined);
    if (wrong >= 0) {
      throw misconfigured(
        `line ${wrong + 1} of "${file}" is not an answer: {"fingerprint": "…", "text": "…"}, or {"prompt": "…", "text": "…"}`,
        path,
      );
    }
    return lines.flatMap((line) => parseAnswer(line) ?? []);
  }
  throw new ModelError('misconfigured', describeMissing(name, folders, log));
}

function parseAnswer(line: string): RecordedAnswer | undefined {
  if (line.trim() === '') return undefined;
  try {
    const answer = JSON.parse(line) as Partial<RecordedAnswer> | null;
    const key = answer?.fingerprint ?? answer?.prompt;
    const isAnswer = typeof key === 'string' && key !== '' && typeof answer?.text === 'string';
    return isAnswer ? (answer as RecordedAnswer) : undefined;
  } catch {
    // Like a line without the fields.
    return undefined;
  }
}

/**
 * Writes the answers of a provider to a file, from which `mock/recorded` gives them again. Those of `mock/echo` may be
 * replaced by hand; those of `mock/recorded` are not written, since they are in a file already. When the file is full, no
 * further answer is written, with a warning. A request fails whose answer cannot be written.
 */
export function recordAnswers(provider: ModelProvider, file: string, log?: Log): ModelProvider {
  const recording = new AnswersFile(file, log);
  let hasWarned = false;
  const warnOnce = (): void => {
    if (!hasWarned)
      warnHost(
        'WAVETRAIN_RECORD_ANSWERS has no effect on mock/recorded, whose answers are in a file already',
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
      const { fingerprintOf, lastWordsOf } = await import('./mock.js');
      const texts: string[] = [];
      for await (const part of provider.stream(request, signal)) {
        if (part.type === 'text') texts.push(part.text);
        if (part.type === 'end') {
          await recording.add({
            fingerprint: fingerprintOf(request),
            prompt: lastWordsOf(request),
            text: texts.join(''),
            ...(part.finish === 'length' && { finish: 'length' }),
            usage: part.usage,
          });
        }
        yield part;
      }
    },
  };
}

/** A file to which answers are added, up to a limit. */
class AnswersFile {
  readonly #path: string;
  readonly #log: Log | undefined;
  /** Of the file, with what is being written to it; undefined until the first answer. */
  #bytes: number | undefined;
  #isFull = false;

  constructor(path: string, log: Log | undefined) {
    this.#path = path;
    this.#log = log;
  }

  async add(answer: RecordedAnswer): Promise<void> {
    const line = `${JSON.stringify(answer)}\n`;
    try {
      if (await this.#takes(Buffer.byteLength(line))) await appendFile(this.#path, line);
    } catch (error) {
      const problem = `the answer cannot be written to "${basename(this.#path)}" (${errorCode(error) ?? 'no reason'})`;
      this.#log?.(`${problem}: ${errorMessage(error)}`);
      throw new ModelError('misconfigured', `${problem}: name another file with WAVETRAIN_RECORD_ANSWERS`);
    }
  }

  /** Takes room for a line. Returns false, with a warning the first time, when there is none left. */
  async #takes(bytes: number): Promise<boolean> {
    const known = this.#bytes ?? (await sizeOf(this.#path));
    // Another answer may have come first.
    this.#bytes ??= known;
    if (this.#bytes + bytes <= MODEL_LIMITS.recordedBytes) {
      this.#bytes += bytes;
      return true;
    }
    const limit = `${MODEL_LIMITS.recordedBytes / 2 ** 20} MiB`;
    if (!this.#isFull)
      warnHost(`${this.#path} has ${limit} of recorded answers: further ones are not recorded`);
    this.#isFull = true;
    return false;
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}
