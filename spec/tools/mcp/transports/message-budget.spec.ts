import { expect } from 'chai';
import { MCP_LIMITS } from '../../../../lib/common/limits.js';
import { MessageBudget } from '../../../../lib/tools/mcp/transports/message-budget.js';
import { ManualClock } from '../../../support/manual-clock.js';

const { messagesAtOnce, messagesPerSecond, messagesInAll, countedBytes, messageBytes } = MCP_LIMITS;

describe('The messages of an MCP server that answer nothing (D49)', () => {
  it('are at most 2,000 at once, and then 1,000 a second', () => {
    const clock = new ManualClock();
    const budget = new MessageBudget(clock);
    for (let count = 0; count < messagesAtOnce; count++) expect(budget.add(0)).to.equal(undefined);
    expect(budget.add(0)).to.equal('1,000 messages a second that answer nothing');
    clock.advance(1000);
    for (let count = 0; count < messagesPerSecond; count++) expect(budget.add(0)).to.equal(undefined);
    expect(budget.add(0)).to.be.a('string');
  });

  it('are at most 20,000 in all, and 10 a second in the long run, also below the rate', () => {
    const clock = new ManualClock();
    const budget = new MessageBudget(clock);
    let count = 0;
    while (budget.add(0) === undefined) {
      count++;
      clock.advance(2);
    }
    expect(budget.add(0)).to.equal('20,000 messages that answer nothing');
    expect(count).to.be.within(messagesInAll, messagesInAll * 1.03);
    for (let second = 0; second < 10_000; second++) {
      clock.advance(1000);
      expect(budget.add(0)).to.equal(undefined);
    }
  });

  it('count more when they are long, because all bytes are read', () => {
    const budget = new MessageBudget(new ManualClock());
    let count = 0;
    while (budget.add(messageBytes) === undefined) count++;
    expect(count).to.equal(Math.floor(messagesAtOnce / (1 + messageBytes / countedBytes)));
  });

  it('are none of those that answer a request, once each, however long they are', () => {
    const budget = new MessageBudget(new ManualClock());
    for (let id = 0; id < 3 * messagesAtOnce; id++) {
      budget.onSend({ jsonrpc: '2.0', id, method: 'tools/call' });
      expect(budget.add(messageBytes)).to.equal(undefined);
      budget.settle({ jsonrpc: '2.0', id, result: {} }, messageBytes);
    }
    let count = 0;
    for (; budget.add(0) === undefined; count++) budget.settle({ jsonrpc: '2.0', id: 1, result: {} }, 0);
    expect(count).to.equal(messagesAtOnce);
  });

  it('are those, too, that answer a request which was cancelled', () => {
    const budget = new MessageBudget(new ManualClock());
    budget.onSend({ jsonrpc: '2.0', id: 7, method: 'tools/call' });
    expect(budget.isPending(7)).to.equal(true);
    budget.onSend({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    expect(budget.isPending(7)).to.equal(false);
  });
});
