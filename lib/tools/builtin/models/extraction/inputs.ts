import { EXTRACTION_LIMITS } from '../../../../common/limits.js';
import type { InputDeclarations } from '../../../tool.js';

/** The input with the document. */
export const DOCUMENT_INPUT = {
  required: true,
  description:
    'a document, pages that were selected, a text, or a list of these; any other value is read as JSON',
} as const;

/** Inputs shared by the extraction tools. */
export const EXTRACTION_INPUTS = {
  model: {
    type: 'string',
    default: null,
    format: 'model',
    description:
      'provider/model, such as openai/gpt-4o; default: WAVETRAIN_EXTRACT_MODEL, then WAVETRAIN_MODEL',
  },
  max_tokens: {
    type: 'integer',
    minimum: 1,
    default: 4096,
    description: 'length limit of an answer in tokens; an answer that reaches it fails the task',
  },
  max_chars: {
    type: 'integer',
    minimum: EXTRACTION_LIMITS.leastMaxChars,
    maximum: EXTRACTION_LIMITS.mostMaxChars,
    default: EXTRACTION_LIMITS.maxChars,
    description: 'how many characters of text the model can read at once; a longer text fails the task',
  },
} as const satisfies InputDeclarations;

/** Input of the tools that validate the answer. */
export const MAX_REPAIRS_INPUT = {
  type: 'integer',
  minimum: 0,
  maximum: EXTRACTION_LIMITS.repairs,
  default: 2,
  description: 'how often the model may fix an answer that does not fit',
} as const;
