import { appendFile, readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { errorCode, errorMessage } from '../../common/errors.js';
import { isObject } from '../../common/json/json.js';
import { MODEL_LIMITS } from '../../common/limits.js';
import { warnHost } from '../../common/warnings.js';
import { ModelError, type ModelProvider } from '../model.js';
import type { RecordedAnswer } from './mock.js';

/** Receives what only the operator may know, such as paths. */
type Log = (message: string) => void;

/**
 * Reads the first file that there is, with one answer in each line. Rejects with a ModelError that names the line, and
 * the file without its folders: callers of a server see it.
 */
export async function readAnswers(paths: readonly string[], log?: Log): Promise<RecordedAnswer[]> {
  const misconfigured = (problem: string, detail: string): ModelError => {
    log?.(`mock/recorded: ${problem}: ${detail}`);
    return new ModelError('misconfigured', problem);
  };
  const file = basename(paths[0] ?? '');
  for (const path of paths) {
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
    const wrong = lines.findIndex((line) => line.trim() !== '' && !isAnswer(parseLine(line)));
    if (wrong >= 0) {
      const problem =
        parseLine(lines[wrong] ?? '') === undefined
          ? 'is not JSON; an answer stands in one line'
          : 'is not an answer';
      throw misconfigured(
        `line ${wrong + 1} of "${file}" ${problem}: {"fingerprint": "…", "text": "…"}, or {"prompt": "…", "text": "…"}; "finish" is "stop" or ` +
          '"length", and "usage" is {"input_tokens": 0, "output_tokens": 0}',
        path,
      );
    }
    return lines.map(parseLine).filter(isAnswer);
  }
  throw misconfigured(
    `there is no file "${file}" with answers: name one with WAVETRAIN_ANSWERS`,
    `looked for ${paths.join(', ')}`,
  );
}

/** Returns undefined for what is not JSON. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isAnswer(value: unknown): value is RecordedAnswer {
  if (!isObject(value)) return false;
  const { fingerprint, prompt, text, finish = 'stop', usage } = value;
  const key = fingerprint === undefined ? prompt : fingerprint;
  return (
    typeof key === 'string' &&
    key !== '' &&
    typeof text === 'string' &&
    (finish === 'stop' || finish === 'length') &&
    (usage === undefined ||
      (isObject(usage) && isCount(usage['input_tokens']) && isCount(usage['output_tokens'])))
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/**
 * Writes the answers of a provider to a file, from which `mock/recorded` gives them again. Answers of `mock/echo` may
 * be replaced by hand; those of `mock/recorded` are not written, since they are in a file already. When the file is
 * full, no further answer is written, with a warning. A request fails whose answer cannot be written: before it is
 * sent, if that is known by then.
 */
export function recordAnswers(provider: ModelProvider, file: string, log?: Log): ModelProvider {
  const recording = new AnswersFile(file, log);
  let hasWarned = false;
  return {
    ...provider,
    async *stream(request, signal) {
      if (provider.name === 'mock' && request.model === 'recorded') {
        if (!hasWarned)
          warnHost(
            'WAVETRAIN_RECORD_ANSWERS has no effect on mock/recorded, whose answers are in a file already',
          );
        hasWarned = true;
        yield* provider.stream(request, signal);
        return;
      }
      const { fingerprintOf, lastWordsOf } = await import('./mock.js');
      const texts: string[] = [];
      await recording.open();
      for await (const part of provider.stream(request, signal)) {
        if (part.type === 'text') texts.push(part.text);
        if (part.type === 'end')
          await recording.add({
            fingerprint: fingerprintOf(request),
            prompt: lastWordsOf(request),
            text: texts.join(''),
            ...(part.finish === 'length' && { finish: 'length' }),
            usage: part.usage,
          });
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
  #isOpen = false;

  constructor(path: string, log: Log | undefined) {
    this.#path = path;
    this.#log = log;
  }

  /** Creates the file if there is none: nobody shall pay for an answer that cannot be written. */
  async open(): Promise<void> {
    if (this.#isOpen) return;
    await this.#write('');
    this.#isOpen = true;
  }

  async add(answer: RecordedAnswer): Promise<void> {
    await this.#write(`${JSON.stringify(answer)}\n`);
  }

  async #write(text: string): Promise<void> {
    try {
      if (await this.#takes(Buffer.byteLength(text))) await appendFile(this.#path, text);
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
