import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../errors.js';
import type { Answer, Question } from './expression-threads.js';
import { evaluate } from './evaluate.js';

/** A thread that evaluates one expression after another. */
parentPort?.on('message', (question: Question) => {
  parentPort?.postMessage(answerTo(question));
});

function answerTo({ source, input, bindings }: Question): Answer {
  try {
    return { ok: true, value: evaluate(source, input, bindings) };
  } catch (error) {
    return { ok: false, error: messageOf(error) };
  }
}
