import type { ModelAnswer, ModelRequest } from '../../lib/models/model.js';
import type { ModelAccess, ModelCaller } from '../../lib/models/models.js';

/** An answer that a spec has written: its text, or what a function makes of the request. */
type ScriptedAnswer =
  | string
  | Partial<Pick<ModelAnswer, 'text' | 'finish'>>
  | ((request: ModelRequest, caller: ModelCaller) => Promise<ModelAnswer>);

/** A model that gives the answers of a spec, one after another, and keeps what it was asked. */
export class ScriptedModels implements ModelAccess {
  readonly requests: ModelRequest[] = [];
  readonly callers: ModelCaller[] = [];
  readonly #answers: ScriptedAnswer[];

  constructor(...answers: ScriptedAnswer[]) {
    this.#answers = answers;
  }

  assertConfigured(): void {
    // It is always there.
  }

  async generate(request: ModelRequest, caller: ModelCaller): Promise<ModelAnswer> {
    this.requests.push(request);
    this.callers.push(caller);
    const next = this.#answers.shift();
    if (next === undefined) throw new Error('the spec has no further answer');
    if (typeof next === 'function') return next(request, caller);
    const { text = '', finish = 'stop' } = typeof next === 'string' ? { text: next } : next;
    const usage = { input_tokens: 100, output_tokens: 10 };
    request.onText?.(text);
    caller.signal.throwIfAborted();
    caller.onUsage('spec/model', usage);
    return { text, model: 'spec/model', finish, usage };
  }

  /** The text of the last message of a request, from 0. */
  lastMessage(request: number): string {
    const content = this.requests[request]?.messages.at(-1)?.content;
    return typeof content === 'string' ? content : '';
  }
}

/** A pipeline of one task. */
export const VALID =
  'pipeline:\n  id: ask\n  goal: g\n  tasks:\n    - id: a\n      tool: llm_job\n      inputs: {prompt: hi}\n';

/** The same with a misspelt tool in line 6. */
export const BROKEN = VALID.replace('llm_job', 'lm_job');
