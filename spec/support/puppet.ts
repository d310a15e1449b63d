import { defineTool, type Tool, type ToolContext } from '../../lib/tools/tool.js';
import { type Deferred, deferred, settle } from './deferred.js';

/** One attempt of a tool that a spec holds by the hand. */
export interface HeldCall extends Deferred<unknown> {
  readonly inputs: Record<string, unknown>;
  readonly context: ToolContext;
}

/** A tool whose every attempt waits until the spec says how it ends. */
export class Puppet {
  readonly calls: HeldCall[] = [];
  readonly tool: Tool;

  constructor(name = 'puppet') {
    this.tool = defineTool({
      name,
      description: 'is held by the hand',
      inputs: {},
      openInputs: true,
      run: (inputs, context) => {
        const held = deferred<unknown>();
        this.calls.push({ ...held, inputs, context });
        return held.promise;
      },
    });
  }

  /** The attempt that was started last. */
  get last(): HeldCall {
    const last = this.calls.at(-1);
    if (last === undefined) throw new Error('the tool was not called');
    return last;
  }

  /** Tasks and items in the order they were called. */
  get order(): string[] {
    return this.calls.map(({ context: { task_id, item_index } }) =>
      item_index === null ? task_id : `${task_id}[${item_index}]`,
    );
  }

  async returns(value: unknown, call = this.last): Promise<void> {
    call.resolve(value);
    await settle();
  }

  async rejects(reason: unknown, call = this.last): Promise<void> {
    call.reject(reason);
    await settle();
  }
}
