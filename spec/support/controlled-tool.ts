import { defineTool, type Tool, type ToolContext } from '../../lib/tools/tool.js';
import { type Deferred, deferred, settle } from './deferred.js';

/** An attempt of a controlled tool, which the spec resolves or rejects. */
export interface PendingCall extends Deferred<unknown> {
  readonly inputs: Record<string, unknown>;
  readonly context: ToolContext;
}

/** A tool whose attempts wait until the spec ends them. */
export class ControlledTool {
  readonly calls: PendingCall[] = [];
  readonly tool: Tool;

  constructor(name = 'controlled') {
    this.tool = defineTool({
      name,
      description: 'waits for the spec',
      inputs: {},
      openInputs: true,
      run: (inputs, context) => {
        const pending = deferred<unknown>();
        this.calls.push({ ...pending, inputs, context });
        return pending.promise;
      },
    });
  }

  /** The attempt that started last. */
  get last(): PendingCall {
    const last = this.calls.at(-1);
    if (last === undefined) throw new Error('the tool was not called');
    return last;
  }

  /** Tasks and items in the order of their calls. */
  get order(): string[] {
    return this.calls.map(({ context: { task_id, item_index } }) =>
      item_index === null ? task_id : `${task_id}[${item_index}]`,
    );
  }

  /** Waits until so many attempts have started: a busy machine starts many items in several turns of the event loop. */
  async started(count: number): Promise<readonly PendingCall[]> {
    while (this.calls.length < count) await settle();
    return this.calls;
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
