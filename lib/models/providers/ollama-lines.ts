import { isObject, type Json } from '../../common/json/json.js';
import { MODEL_LIMITS } from '../../common/limits.js';
import { microtasksToSettle } from '../../common/scheduling/event-loop-slice.js';
import { incomingDataScheduler } from '../../common/scheduling/event-loop-scheduler.js';
import { JsonMeter } from '../../common/requests/json-meter.js';
import { LineReader } from '../../common/requests/line-reader.js';
import { ModelError } from '../model.js';

const NEWLINE = 0x0a;

/**
 * Checks the lines of JSON in which Ollama answers, and passes them on: the AI SDK's provider leaves out errors and what
 * it cannot read, and takes an answer that was cut for a whole one. That provider also reads as fast as it can, so
 * each line waits here until the slice of the event loop begins in which it is parsed.
 *
 * @param tenantId shares the event loop with other tenants
 */
export function passOnOllamaLines(
  body: ReadableStream<Uint8Array>,
  tenantId: string,
): ReadableStream<Uint8Array> {
  const chunks = body.getReader();
  const parts = splitLines(chunks);
  let isComplete = false;
  const lines = new LineReader(
    new JsonMeter(MODEL_LIMITS.event),
    (line) => {
      if (line.trim() !== '') isComplete = checkLine(line) || isComplete;
    },
    (exceeded) => {
      throw new ModelError('bad_request', `a part of the answer has more than ${exceeded}`);
    },
  );
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // The provider has handled the line before, or has given up.
        await microtasksToSettle();
        if (incomingDataScheduler.isOver) await incomingDataScheduler.wait(tenantId);
        const { done, value } = await parts.next();
        if (done) {
          lines.end();
          if (isComplete) return controller.close();
          throw new ModelError('protocol', 'the answer was cut before the model had finished');
        }
        lines.push(value);
        controller.enqueue(value);
      },
      cancel: (reason) => chunks.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Splits a stream into lines with their ends, or parts of lines. */
async function* splitLines(
  chunks: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<Uint8Array, undefined> {
  for (let next = await chunks.read(); !next.done; next = await chunks.read()) {
    const { value } = next;
    let start = 0;
    for (let end = value.indexOf(NEWLINE); end !== -1; end = value.indexOf(NEWLINE, start)) {
      // Empty lines are no work.
      while (value[end + 1] === NEWLINE) end++;
      yield value.subarray(start, end + 1);
      start = end + 1;
    }
    if (start < value.length) yield value.subarray(start);
  }
  return undefined;
}

/** Returns true for the last line of an answer. @throws ModelError */
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
