import Type from 'typebox';
import { Cost, count, Count, described, text } from './shape.js';

export const ModelUsageSchema = described('ModelUsage', 'What was used of one language model.', {
  model: text('`provider/model`.'),
  requests: count(
    'Requests that were answered, or whose answer was cut when the provider had reported tokens of it.',
  ),
  input_tokens: count('Tokens of the requests; 0 where the provider does not say.'),
  output_tokens: count('Tokens of the answers, likewise.'),
  cost: Type.Optional(Cost),
});

export const TokenCountsSchema = described(
  'TokenCounts',
  'Tokens of all answers; 0 where the provider does not say.',
  { input_tokens: Count, output_tokens: Count, cost: Type.Optional(Cost) },
);

export const RepairStepSchema = described('RepairStep', 'An answer that the validator rejected, and why.', {
  yaml: text('The definition in the answer, to whose lines the error refers.'),
  error: text('Every error, or every warning if there are no errors, a sentence in each line.'),
});
