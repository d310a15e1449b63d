import { ToolError } from '../../common/errors.js';
import { estimateBytes, type Json } from '../../common/json/json.js';
import { ellipsize, formatFirst } from '../../common/text.js';
import { extractJson } from '../../definition/template/extract-json.js';
import type { ModelAnswer, ModelRequest } from '../../models/model.js';
import { withoutThoughts } from '../../models/thoughts.js';
import type { ToolContext } from '../tool.js';
import { assertComplete } from './free-answer.js';

/** The value that an answer has for the tool that asked, or its problems, in sentences for the model. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

/** A question whose answer is JSON. */
export interface JsonQuestion<T> {
  readonly request: Omit<ModelRequest, 'messages'>;
  readonly prompt: string;
  /** How often the model may fix its answer. */
  readonly maxRepairs: number;
  readonly read: (value: Json) => Reading<T>;
}

/**
 * Asks a model for JSON, and sends a wrong answer back with what is wrong with it, up to `maxRepairs` times. Stops early
 * when the model repeats its answer.
 *
 * @returns what `read` made of the answer, and the `provider/model` that gave it
 * @throws ToolError when a call fails, an answer was cut or withheld (not retryable), or the last one is wrong too
 */
export async function askForJson<T>(
  { request, prompt, maxRepairs, read }: JsonQuestion<T>,
  context: Pick<ToolContext, 'llm' | 'log' | 'holdMemory'>,
): Promise<{ readonly value: T; readonly model: string }> {
  const question = { role: 'user', content: prompt } as const;
  let messages: ModelRequest['messages'] = [question];
  let before: string | undefined;
  for (let repairs = 0; ; repairs++) {
    const answer = await context.llm.generate({ ...request, messages });
    assertComplete(answer, request.max_tokens);
    const reading = readAnswer(answer.text, read);
    if (reading.ok) {
      // One task may ask about thousands of pages.
      context.holdMemory(estimateBytes(reading.value));
      return { value: reading.value, model: answer.model };
    }
    const problems = formatFirst(reading.problems, MAX_PROBLEMS);
    if (repairs >= maxRepairs || answer.text === before)
      throw unusable(answer, problems, repairs, answer.text === before);
    context.log(`asked ${answer.model} to fix its answer: ${problems.join('; ')}`);
    before = answer.text;
    // Providers refuse an empty message.
    const quoted = answer.text.trim() === '' ? [] : [{ role: 'assistant', content: answer.text } as const];
    messages = [question, ...quoted, { role: 'user', content: askForRepair(problems) }];
  }
}

const MAX_PROBLEMS = 10;

function unusable(
  { model, text }: ModelAnswer,
  problems: readonly string[],
  repairs: number,
  isRepeated: boolean,
): ToolError {
  const tried = repairs === 0 ? '' : `, after ${repairs} ${repairs === 1 ? 'repair' : 'repairs'}`;
  const same = isRepeated ? ', which it gave twice' : '';
  const shown = JSON.stringify(ellipsize(text, MAX_SHOWN));
  // The repairs were the further attempts: retries would multiply them.
  return ToolError.nonRetryable(
    `the answer of ${model} cannot be used${tried}${same}: ${problems.join('; ')}; it begins with ${shown}. ` +
      (model === 'mock/echo' ? ECHO_HINT : 'Try another model, or describe more exactly what is wanted'),
  );
}

const MAX_SHOWN = 200;

const ECHO_HINT =
  'mock/echo gives back what it is asked: use a language model, or mock/recorded with a file of answers (WAVETRAIN_ANSWERS)';

function askForRepair(problems: readonly string[]): string {
  return [
    'That answer cannot be used:',
    ...problems.map((problem) => `- ${problem}`),
    'Answer again with the whole JSON, corrected, and nothing else.',
  ].join('\n');
}

function readAnswer<T>(text: string, read: (value: Json) => Reading<T>): Reading<T> {
  let first: Reading<T> | undefined;
  for (const value of findCandidates(withoutThoughts(text))) {
    const reading = read(value);
    if (reading.ok) return reading;
    first ??= reading;
  }
  return first ?? { ok: false, problems: ['there is no complete JSON value in the answer'] };
}

/** The values that may be meant: what stands in a code fence, else the first one in the text. */
function* findCandidates(text: string): Generator<Json> {
  const trimmed = text.trim();
  const fence = /^(?:```|~~~)/m.exec(trimmed);
  if (fence !== null && fence.index > 0) {
    const fenced = extractJson(trimmed.slice(fence.index));
    if (fenced !== undefined) yield fenced;
  }
  const found = extractJson(trimmed);
  if (found !== undefined) yield found;
}
