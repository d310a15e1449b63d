import { errorMessage } from '../../common/errors.js';
import { EXPRESSION_LIMITS } from '../../common/limits.js';
import { answerRequests } from '../../workers/answer-requests.js';
import { Evaluator } from './evaluate.js';
import type { EvaluationRequest, EvaluationResponse } from './expression-pool.js';

const evaluator = new Evaluator();
// Loads JSONata before the first request comes.
evaluator.evaluateText('1', '{}', 'start');

/** The program of a worker process: evaluates expressions. An idle one may retain half of its memory. */
answerRequests(
  ({ source, data, runId }: EvaluationRequest): EvaluationResponse => {
    try {
      return { ok: true, text: evaluator.evaluateText(source, data, runId) };
    } catch (error) {
      return { ok: false, error: errorMessage(error) };
    }
  },
  { maxIdleMiB: EXPRESSION_LIMITS.memoryMiB / 2 },
);
