import { expect } from 'chai';
import { findAnsweredRequest, isUnheard } from '../../../../lib/tools/mcp/transports/message-text.js';

describe('The request that a too large message of an MCP server answers', () => {
  const find = (start: string, end: string): number | undefined => findAnsweredRequest({ start, end });

  it('is read at the start or at the end of the message', () => {
    expect(find('{"jsonrpc":"2.0","id":5,"result":{"content":[', ']}}')).to.equal(5);
    expect(find('{"id": 5, "error": {"message": "', '"}, "jsonrpc": "2.0"}')).to.equal(5);
    expect(find('{"result":{"content":[', ']},"jsonrpc":"2.0","id":5}')).to.equal(5);
  });

  it('is not read in the result, which a stranger may have written', () => {
    expect(find('{"result":{"jsonrpc":"2.0","id":6,"result":[', ']},"jsonrpc":"2.0","id":5}')).to.equal(5);
    expect(find('{"jsonrpc":"2.0","id":5,"result":{"a":[', '],"id":6}}')).to.equal(5);
    expect(find('{"result":{"a":[', '],"id":6}}')).to.equal(undefined);
    expect(find('{"result":{"text":"', ',\\"id\\":6}"},"jsonrpc":"2.0"}')).to.equal(undefined);
  });

  it('is none for a request of the server or a notification', () => {
    expect(find('{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{', '}}')).to.equal(
      undefined,
    );
    expect(find('{"jsonrpc":"2.0","method":"x","params":{"id":5', '},"id":5}')).to.equal(undefined);
  });
});

describe('A notification of an MCP server that nobody listens to (D49)', () => {
  it('is dropped before it is parsed, as its first bytes say', () => {
    for (const line of [
      '{"jsonrpc":"2.0","method":"notifications/message","params":{}}',
      ' { "method" : "notifications/resources/list_changed", "jsonrpc": "2.0" }',
    ])
      expect(isUnheard(line), line).to.equal(true);
    for (const line of [
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}',
      '{"jsonrpc":"2.0","method":"notifications\\/progress","params":{}}',
      '{"jsonrpc":"2.0","method":"notifications/\\u0070rogress","params":{}}',
      '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}',
      '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      '{"jsonrpc":"2.0","id":1,"result":{"method":"notifications/message"}}',
      '{"result":{"text":"{\\"method\\":\\"notifications/message\\"}"},"jsonrpc":"2.0","id":1}',
    ])
      expect(isUnheard(line), line).to.equal(false);
  });
});
