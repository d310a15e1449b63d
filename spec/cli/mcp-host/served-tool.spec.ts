import { expect } from 'chai';
import { ToolError, WavetrainError } from '../../../lib/common/errors.js';
import {
  answerCall,
  type HostAnswer,
  serveTool,
  toListedTool,
} from '../../../lib/cli/mcp-host/served-tool.js';

const CALL = { signal: new AbortController().signal, report: undefined, host: null };

describe('The answer to a call of an MCP host', () => {
  let bugs: unknown[];

  beforeEach(() => {
    bugs = [];
  });

  /** Calls a tool that does what the spec says. */
  function call(action: (count: number) => HostAnswer, args = {}): Promise<HostAnswer> {
    return answerCall([createTool(action)], 'count', args, CALL, (error) => void bugs.push(error));
  }

  it('has the inputs checked, and their defaults filled in', async () => {
    const answer = (count: number): HostAnswer => ({ value: { count } });
    expect(await call(answer)).to.deep.equal({ value: { count: 3 } });
    expect(await call(answer, { count: 'x' })).to.have.property('isError', true);
    expect(await call(answer, { cuont: 1 })).to.deep.equal({
      value: { error: 'there is no input "cuont"' },
      isError: true,
    });
  });

  it('has the message and the code of an error', async () => {
    const failing = (): HostAnswer => {
      throw new WavetrainError('run_not_found', 'there is no run x here');
    };
    expect(await call(failing)).to.deep.equal({
      value: { error: 'there is no run x here', code: 'run_not_found' },
      isError: true,
    });
    const busy = (): HostAnswer => {
      throw new ToolError('wait');
    };
    expect(await call(busy)).to.deep.equal({ value: { error: 'wait' }, isError: true });
    expect(bugs).to.deep.equal([]);
  });

  it('is reported when it is an error that nobody expects', async () => {
    const bug = new TypeError('x is undefined');
    const failing = (): HostAnswer => {
      throw bug;
    };
    expect(await call(failing)).to.deep.equal({ value: { error: 'x is undefined' }, isError: true });
    expect(bugs).to.deep.equal([bug]);
  });
});

describe('A tool, as MCP hosts list it', () => {
  it('has the schema of its inputs with their descriptions, and what it touches', () => {
    expect(toListedTool(createTool(() => ({ value: {} })))).to.deep.equal({
      name: 'count',
      title: 'Count',
      description: 'counts',
      readOnly: true,
      openWorld: false,
      inputSchema: {
        type: 'object',
        properties: { count: { type: 'integer', default: 3, description: 'how far' } },
        required: [],
        additionalProperties: false,
      },
    });
  });
});

function createTool(action: (count: number) => HostAnswer) {
  return serveTool({
    name: 'count',
    title: 'Count',
    description: 'counts',
    readOnly: true,
    openWorld: false,
    inputs: { count: { type: 'integer', default: 3, description: 'how far' } },
    answer: async ({ count }) => action(count),
  });
}
