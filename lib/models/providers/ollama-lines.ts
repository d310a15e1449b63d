import { isObject, type Json } from '../../common/json.js';
import { MODEL_LIMITS } from '../../common/limits.js';
import { LineReader } from '../../common/requests/line-reader.js';
import { ByteMeter } from '../../common/requests/meter.js';
import { ModelError } from '../model.js';

/**
 * Checks the lines of JSON in which Ollama answers: the AI SDK's provider leaves out errors and what it cannot read, and
 * takes an answer that was cut for a whole one.
 */
export function checkOllamaLines(): TransformStream<Uint8Array, Uint8Array> {
  let isComplete = false;
  const lines = new LineReader(
    new ByteMeter(MODEL_LIMITS.answerBytes),
    (line) => {
      if (line.trim() !== '') isComplete = checkLine(line) || isComplete;
    },
    () => {
      throw new ModelError('protocol', 'the answer could not be read: a line of it is too long');
    },
  );
  return new TransformStream({
    transform(chunk, controller) {
      lines.push(chunk);
      controller.enqueue(chunk);
    },
    flush() {
      lines.end();
      if (!isComplete) throw new ModelError('protocol', 'the answer was cut before the model had finished');
    },
  });
}

/** Returns true for the last line of an answer. */
function checkLine(line: string): boolean {
  let parsed: Json;
  try {
    parsed = JSON.parse(line) as Json;
  } catch {
    throw new ModelError(
      'protocol',
      `the answer could not be read: ${JSON.stringify(line.slice(0, 100))} is not JSON`,
    );
  }
  const { error, message, done } = isObject(parsed) ? parsed : {};
  if (typeof error === 'string')
    throw new ModelError('server', `the provider reported an error: ${error.slice(0, 500)}`);
  if (message === undefined || typeof done !== 'boolean')
    throw new ModelError('protocol', `the answer could not be read: ${line.slice(0, 100)}`);
  return done;
}
