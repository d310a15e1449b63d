import { expect } from 'chai';
import { findAnsweredRequest } from '../../../lib/tools/mcp/message-meter.js';

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
