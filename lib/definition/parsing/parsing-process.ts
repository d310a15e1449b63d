import { answerRequests } from '../../common/workers/answer-requests.js';
import { PARSING_LIMITS } from '../text/limits.js';
import { type ParsedText, parseText } from '../text/parse-text.js';
import type { ParsingRequest } from './text-parser.js';

/** The program of a worker process: parses texts, and collects their positions. An idle one may retain half of its memory. */
answerRequests(({ text }: ParsingRequest): ParsedText => ({ ...parseText(text) }), {
  maxIdleMiB: PARSING_LIMITS.memoryMiB / 2,
});
