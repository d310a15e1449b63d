import { ToolError } from '../../../lib/common/errors.js';
import { defineTool, type Tool } from '../../../lib/tools/tool.js';

/** A secret with all that encodings change. */
export const TOKEN = 'tok"en\\with\n\tévery/thing + 98765';

const inputs = {
  token: { description: 'a secret', type: 'string', required: true },
  how: { description: 'how it is shown', type: 'string', default: '' },
} as const;

/** Returns, stores and logs what it is given, in many ways. */
const echo = defineTool({
  name: 'echo',
  description: 'Tells a secret.',
  inputs,
  run({ token }, { log, blackboard }) {
    const text = token;
    log(`the token is ${text}`);
    log({ token: text } as never);
    log(`${'x'.repeat(3990)}${text}`);
    blackboard.write(`key ${text}`, { [text]: text });
    blackboard.write('plain', [text]);
    return {
      [text]: 1,
      [`also ${text}`]: { deep: [text, { [text]: text }] },
      json: JSON.stringify({ text, twice: JSON.stringify([text]) }),
      url: `https://host/${encodeURIComponent(text)}?${new URLSearchParams({ text }).toString()}`,
      basic: Buffer.from(`user:${text}`).toString('base64'),
      many: Array.from({ length: 200 }, () => `${text} and ${text}`),
      plain: 'kept',
    };
  },
});

/** The ways in which a tool can show a secret as it fails. */
export const FAILURES: Readonly<Record<string, (token: string) => unknown>> = {
  message: (token) => new Error(`refused: ${token}`),
  'a long message, which is cut within it': (token) =>
    new Error(`${'a'.repeat(1995)}${token}${'b'.repeat(6000)}${token}${'c'.repeat(1990)}`),
  cause: (token) => new Error('refused', { cause: new TypeError(token, { cause: `bare ${token}` }) }),
  'a thrown text': (token) => `refused ${token}`,
  'a thrown object': (token) => ({ token, deep: { [token]: token } }),
  'name and code': (token) => Object.assign(new Error('refused'), { name: token, code: token }),
  'an aggregate': (token) => Object.assign(new AggregateError([new Error(token)]), { message: '' }),
  'the stack alone': (token) => {
    const error = new Error('refused');
    error.stack = `Error: ${token}\n    at tool (/home/me/tools.ts:1:1)`;
    return error;
  },
  'an error that is not retried': (token) => ToolError.nonRetryable(token, new Error(token)),
};

const fail = defineTool({
  name: 'leak',
  description: 'Fails, telling a secret.',
  inputs,
  run({ token, how }) {
    throw FAILURES[how]?.(token);
  },
});

/** Returns what JSON cannot hold, at a place that is named like the secret. */
const unprintable = defineTool({
  name: 'unprintable',
  description: 'Returns a function.',
  inputs,
  run: ({ token }) => ({ rows: { [token]: () => token } }),
});

/** Takes one of some words. */
const choosy = defineTool({
  name: 'choosy',
  description: 'Refuses a secret.',
  inputs: {
    token: { description: 'a word', type: 'string', enum: ['a', 'b'] },
    count: { description: 'a number', type: 'integer', default: 0 },
  },
  run: () => null,
});

/** Writes a file that is named after a secret. */
const filing = defineTool({
  name: 'filing',
  description: 'Writes a file.',
  inputs,
  run: ({ token }, { artifacts }) =>
    artifacts.write({ name: `${token}.txt`, bytes: 'x', media_type: 'text/plain' }),
});

export const LEAKY_TOOLS: readonly Tool[] = [echo, fail, unprintable, choosy, filing];
