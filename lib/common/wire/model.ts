import Type from 'typebox';
import { Cost, Count, count } from './shape.js';

export const ModelUsageSchema = Type.Object(
  {
    model: Type.String({ description: '`provider/model`.' }),
    requests: count(
      'Requests that were answered, or whose answer was cut when the provider had reported tokens of it.',
    ),
    input_tokens: count('Tokens of the requests; 0 where the provider does not say.'),
    output_tokens: count('Tokens of the answers, likewise.'),
    cost: Type.Optional(Cost),
  },
  { title: 'ModelUsage', description: 'What was used of one language model.' },
);

export const TokenCountsSchema = Type.Object(
  { input_tokens: Count, output_tokens: Count, cost: Type.Optional(Cost) },
  { title: 'TokenCounts', description: 'Tokens of all answers; 0 where the provider does not say.' },
);

export const RepairStepSchema = Type.Object(
  {
    yaml: Type.String({ description: 'The definition in the answer, to whose lines the error refers.' }),
    error: Type.String({
      description: 'Every error, or every warning if there are no errors, a sentence in each line.',
    }),
  },
  { title: 'RepairStep', description: 'An answer that the validator rejected, and why.' },
);
