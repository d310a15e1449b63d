import { messageOf } from '../../common/errors.js';
import type { Json, JsonObject } from '../../common/json.js';
import { EXPRESSION_LIMITS } from '../../common/limits.js';
import { evaluateToText } from './evaluate.js';
import type { Answer, Question, Reply } from './question.js';

/** What an idle process may hold; a small evaluation needs a third of it. */
const IDLE_BYTES = (EXPRESSION_LIMITS.memoryMiB / 2) * 2 ** 20;

/** A process that evaluates one expression after another, for as long as somebody is there to ask. */
process.on('message', (question: Question) => {
  const answer = answerTo(question);
  const reply: Reply = { answer, isSwollen: process.memoryUsage.rss() > IDLE_BYTES };
  process.send?.(reply);
});
process.on('disconnect', () => process.exit());

// Ctrl-C and a service's stop reach every process, but a server that ends still finishes what it runs.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);

function answerTo({ source, given }: Question): Answer {
  try {
    const { input, bindings }: { input: Json; bindings: JsonObject } = JSON.parse(given);
    return { ok: true, text: evaluateToText(source, input, bindings) };
  } catch (error) {
    return { ok: false, error: messageOf(error) };
  }
}
