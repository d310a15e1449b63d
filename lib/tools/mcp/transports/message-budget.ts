import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import type { Clock } from '../../../common/clock.js';
import { MCP_LIMITS } from '../../../common/limits.js';
import { LeakyBucket } from '../../../common/scheduling/rate-limiter.js';
import { formatNumber } from '../../../common/text.js';

/**
 * Counts the messages of one server that answer nothing: notifications, requests, and what is no message. Handling one
 * takes far more time than sending it, and all tenants pay for it.
 */
export class MessageBudget {
  readonly #ofSecond: LeakyBucket;
  readonly #inAll: LeakyBucket;
  /** Requests to the server that it has not answered. */
  readonly #pending = new Set<RequestId>();

  constructor(clock: Clock) {
    const { messagesAtOnce, messagesPerSecond, messagesInAll, messagesPerSecondInAll } = MCP_LIMITS;
    this.#ofSecond = new LeakyBucket(clock, messagesAtOnce, messagesPerSecond);
    this.#inAll = new LeakyBucket(clock, messagesInAll, messagesPerSecondInAll);
  }

  /** Call with each message that is sent to the server. */
  onSend(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) this.#pending.add(message.id);
    // The server may answer a cancelled request in spite of that; one more message is no harm.
    else if (message.method === 'notifications/cancelled')
      this.#pending.delete(message.params?.['requestId'] as RequestId);
  }

  /** True when the server has still to answer a request. */
  isPending(id: RequestId): boolean {
    return this.#pending.has(id);
  }

  /**
   * Counts a message that has arrived, before it is parsed. Returns what there is too much of, such as
   * `1,000 messages a second that answer nothing`.
   *
   * @param bytes its size: a long one counts as many
   */
  add(bytes: number): string | undefined {
    const { messagesPerSecond, messagesInAll } = MCP_LIMITS;
    if (!this.#ofSecond.add(weigh(bytes))) return describe(messagesPerSecond, ' a second');
    if (!this.#inAll.add(weigh(bytes))) return describe(messagesInAll, '');
    return undefined;
  }

  /** Takes a message back if it answers a request. @param bytes as it was counted; undefined if it was not */
  settle(message: JSONRPCMessage, bytes: number | undefined): void {
    if ('method' in message || message.id === undefined || !this.#pending.delete(message.id)) return;
    if (bytes === undefined) return;
    this.#ofSecond.remove(weigh(bytes));
    this.#inAll.remove(weigh(bytes));
  }
}

/** Messages as which one counts. */
function weigh(bytes: number): number {
  return 1 + bytes / MCP_LIMITS.countedBytes;
}

function describe(count: number, span: string): string {
  return `${formatNumber(count)} messages${span} that answer nothing`;
}
