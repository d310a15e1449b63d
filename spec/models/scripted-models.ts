import type { ModelAnswer, ModelRequest, ToolModels } from '../../lib/models/model.js';
import type { ModelAccess, ModelCaller } from '../../lib/models/models.js';

/** The reaction of a model to a request: an answer, a failure, or what a function makes of it. */
type Scripted =
  | string
  | Partial<ModelAnswer>
  | Error
  | ((request: ModelRequest, caller: ModelCaller) => Promise<ModelAnswer>);

/** A model that does what a spec says, one after another, and keeps what it was asked. The last answer repeats itself. */
export class ScriptedModels implements ModelAccess, ToolModels {
  readonly requests: ModelRequest[] = [];
  readonly callers: ModelCaller[] = [];
  readonly #answers: Scripted[];

  constructor(...answers: Scripted[]) {
    this.#answers = [...answers];
  }

  assertConfigured(): void {
    // A scripted model is always there.
  }

  /** @param caller undefined when a tool asks */
  readonly generate = async (request: ModelRequest, caller?: ModelCaller): Promise<ModelAnswer> => {
    this.requests.push(request);
    if (caller !== undefined) this.callers.push(caller);
    const next = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
    if (next === undefined) throw new Error('the spec has no answer');
    if (next instanceof Error) throw next;
    if (typeof next === 'function') {
      if (caller === undefined) throw new Error('the spec lets a tool ask for an answer of compile');
      return next(request, caller);
    }
    const answer: ModelAnswer = {
      text: '',
      model: request.model ?? 'spec/model',
      finish: 'stop',
      usage: { input_tokens: 100, output_tokens: 10 },
      ...(typeof next === 'string' ? { text: next } : next),
    };
    request.onText?.(answer.text);
    caller?.signal.throwIfAborted();
    caller?.onUsage(answer.model, answer.usage);
    return answer;
  };

  /** The text of the last message of a request, from 0. */
  promptOf(request: number): string {
    const content = this.requests[request]?.messages.at(-1)?.content;
    return typeof content === 'string' ? content : JSON.stringify(content);
  }
}
