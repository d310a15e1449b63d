import { errorMessage } from '../../common/errors.js';
import { DOCUMENT_LIMITS, MAX_OUTPUT_LENGTH } from '../../common/limits.js';
import { formatMebibytes } from '../../common/text.js';
import { answerRequests } from '../../common/workers/answer-requests.js';
import type { JsonResponse } from '../../common/workers/protocol.js';
import { packContent } from './document-messages.js';
import { parseContent, type ParseRequest } from './parse-content.js';

/** The program of a worker process: parses documents. An idle one may retain half of its memory. */
answerRequests(
  async (request: ParseRequest): Promise<JsonResponse> => {
    try {
      const { json, textLength } = packContent(await parseContent(request));
      if (textLength <= MAX_OUTPUT_LENGTH) return { ok: true, json };
      const limit = formatMebibytes(MAX_OUTPUT_LENGTH);
      return {
        ok: false,
        error: `"${request.source}" holds more than ${limit}, the limit of an output: split it`,
      };
    } catch (error) {
      return { ok: false, error: errorMessage(error) };
    }
  },
  { maxIdleMiB: DOCUMENT_LIMITS.memoryMiB / 2 },
);
