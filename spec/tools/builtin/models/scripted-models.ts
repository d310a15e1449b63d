import type { ModelAnswer, ModelRequest, ToolModels } from '../../../../lib/models/model.js';

type Scripted = string | Partial<ModelAnswer> | Error;

/** Models of a spec: give what is written, in order, and keep what they were asked. The last answer repeats itself. */
export class ScriptedModels implements ToolModels {
  readonly requests: ModelRequest[] = [];
  readonly #answers: Scripted[];

  constructor(...answers: readonly Scripted[]) {
    this.#answers = [...answers];
  }

  readonly generate = (request: ModelRequest): Promise<ModelAnswer> => {
    this.requests.push(request);
    const next = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
    if (next instanceof Error) return Promise.reject(next);
    const answer = typeof next === 'string' ? { text: next } : next;
    return Promise.resolve({
      text: '',
      model: request.model ?? 'mock/scripted',
      finish: 'stop',
      usage: { input_tokens: 1, output_tokens: 1 },
      ...answer,
    });
  };

  /** The text of the last message of a request. */
  promptOf(request: number): string {
    const content = this.requests[request]?.messages.at(-1)?.content;
    return typeof content === 'string' ? content : JSON.stringify(content);
  }
}
