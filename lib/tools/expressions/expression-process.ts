import { errorMessage } from '../../common/errors.js';
import type { Json, JsonObject } from '../../common/json.js';
import { EXPRESSION_LIMITS } from '../../common/limits.js';
import { Evaluator } from './evaluate.js';
import type { EvaluationRequest, EvaluationResponse, WorkerMessage } from './protocol.js';

/** The memory that an idle process may retain; a small evaluation needs a third of it. */
const MAX_IDLE_BYTES = (EXPRESSION_LIMITS.memoryMiB / 2) * 2 ** 20;

const evaluator = new Evaluator();

/** The program of a worker process: evaluates one expression after another until its parent disconnects. */
process.on('message', (request: EvaluationRequest) => {
  const response = respond(request);
  const message: WorkerMessage = { response, isOversized: process.memoryUsage.rss() > MAX_IDLE_BYTES };
  process.send?.(message);
});
process.on('disconnect', () => process.exit());

// Ctrl-C and a service stop signal all processes, but a server that shuts down still finishes its runs.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);

function respond({ source, data }: EvaluationRequest): EvaluationResponse {
  try {
    const { input, bindings }: { input: Json; bindings: JsonObject } = JSON.parse(data);
    return { ok: true, text: evaluator.evaluateToText(source, input, bindings) };
  } catch (error) {
    return { ok: false, error: errorMessage(error) };
  }
}
