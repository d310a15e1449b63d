import { expect } from 'chai';
import { deserializeMessage } from '@modelcontextprotocol/client';
import { MCP_LIMITS } from '../../../lib/common/limits.js';
import { LineReader } from '../../../lib/common/requests/line-reader.js';
import { JsonMeter } from '../../../lib/common/requests/json-meter.js';

const { messageBytes, messageParts, messageValues } = MCP_LIMITS;

function add(meter: JsonMeter, text: string, times = 1): string | undefined {
  const bytes = Buffer.from(text);
  let exceeded: string | undefined;
  for (let i = 0; i < times && exceeded === undefined; i++) exceeded = meter.add(bytes);
  return exceeded;
}

describe('The size of a message of an MCP server', () => {
  it('is at most 5 MiB', () => {
    const meter = new JsonMeter(MCP_LIMITS);
    expect(meter.add(Buffer.alloc(messageBytes, 'x'))).to.equal(undefined);
    expect(add(meter, 'x')).to.equal('5 MiB');
  });

  for (const part of ['[],', '{},', '"a":1,']) {
    it(`is at most 100,000 times ${part} because parsing them takes long`, () => {
      const meter = new JsonMeter(MCP_LIMITS);
      expect(add(meter, part, messageParts)).to.equal(undefined);
      expect(add(meter, part)).to.equal('100,000 lists, objects and members');
    });
  }

  for (const value of ['1,', 'null,', '"a",']) {
    it(`is at most 300,000 times ${value} because copying them takes long`, () => {
      const meter = new JsonMeter(MCP_LIMITS);
      expect(add(meter, value, messageValues)).to.equal(undefined);
      expect(add(meter, value)).to.equal('300,000 values');
    });
  }

  it('does not count what stands in texts, whatever is escaped there', () => {
    const meter = new JsonMeter(MCP_LIMITS);
    expect(add(meter, '"[{:\\"[{:\\\\",', messageParts)).to.equal(undefined);
  });

  it('begins anew with each event of a stream, and is not hidden by a quote in a comment', () => {
    const events = new JsonMeter(MCP_LIMITS, true);
    const event = `: "\r\ndata: ${'[],'.repeat(messageParts / 2)}\r\n\r\n`;
    expect(add(events, event, 10)).to.equal(undefined);
    const line = `: "\ndata: ${'[],'.repeat(messageParts / 2)}\n`;
    expect(add(events, line, 2)).to.contain('lists');
    const body = new JsonMeter(MCP_LIMITS);
    expect(add(body, event, 2)).to.contain('lists');
  });

  it('leaves out a line that is too large, and reads the next one', () => {
    const lines: string[] = [];
    const refused: string[] = [];
    const reader = new LineReader(
      new JsonMeter(MCP_LIMITS),
      (line) => void lines.push(line),
      (limit) => void refused.push(limit),
    );
    reader.push(Buffer.from('first\n'));
    reader.push(Buffer.from(`${'[],'.repeat(messageParts + 1)}\nse`));
    reader.push(Buffer.from('cond\n'));
    expect(lines).to.deep.equal(['first', 'second']);
    expect(refused).to.deep.equal(['100,000 lists, objects and members']);
  });

  it('lets the SDK read the largest text in one message', () => {
    const text = 'x'.repeat(messageBytes - 200);
    const line = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } });
    expect(new JsonMeter(MCP_LIMITS).add(Buffer.from(line))).to.equal(undefined);
    expect(deserializeMessage(line)).to.have.nested.property('result.content[0].text', text);
  });
});
