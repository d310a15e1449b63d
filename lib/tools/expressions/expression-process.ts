import { errorMessage } from '../../common/errors.js';
import { EXPRESSION_LIMITS } from '../../common/limits.js';
import { answerRequests } from '../../common/workers/answer-requests.js';
import { cutIntoPieces } from '../../common/workers/message-socket.js';
import type { JsonResponse } from '../../common/workers/protocol.js';
import { Evaluator } from './evaluate.js';
import type { EvaluationRequest } from './expression-pool.js';

const evaluator = new Evaluator();
// Loads JSONata before the first request comes.
evaluator.prepareNextRun();

/**
 * The program of a worker process: evaluates expressions, and prepares for the next run while it is idle. It may retain
 * half of its memory then.
 */
answerRequests(
  ({ source, data, runId }: EvaluationRequest): JsonResponse => {
    // Once the response was sent.
    setImmediate(() => evaluator.prepareNextRun());
    try {
      return { ok: true, json: cutIntoPieces(evaluator.evaluateText(source, data.join(''), runId)) };
    } catch (error) {
      return { ok: false, error: errorMessage(error) };
    }
  },
  { maxIdleMiB: EXPRESSION_LIMITS.memoryMiB / 2 },
);
