import { expect } from 'chai';
import { MODEL_LIMITS } from '../../lib/common/limits.js';
import { readModelConfig } from '../../lib/common/config/model-config.js';
import type { AnswerPart, ModelAnswer, ModelRequest } from '../../lib/models/model.js';
import { type ModelCaller, Models } from '../../lib/models/models.js';
import { SlowTurns } from '../support/measuring/cpu-time.js';
import { catchRejection } from '../support/rejection.js';
import { ask, createCaller } from './asking.js';
import { replyInParts, useModelServer } from './model-server.js';
import { WIRES } from './wires.js';

const { answerParts, event } = MODEL_LIMITS;
const END: AnswerPart = { type: 'end', finish: 'stop', usage: { input_tokens: 1, output_tokens: 1 } };

/** Asks a provider that answers with the same part many times, all at once. */
function askFor(
  part: AnswerPart,
  count: number,
  onText?: ModelRequest['onText'],
  end: Promise<unknown> = Promise.resolve(),
  caller: ModelCaller = createCaller(),
): Promise<ModelAnswer> {
  const provider = {
    name: 'flood',
    async *stream(): AsyncGenerator<AnswerPart> {
      for (let sent = 0; sent < count; sent++) yield part;
      await end;
      yield END;
    },
  };
  const config = readModelConfig({ OPENAI_API_KEY: 'k' });
  const models = new Models({ config, loadProvider: () => Promise.resolve(provider) });
  const messages = [{ role: 'user' as const, content: 'x' }];
  return models.generate({ model: 'openai/m', messages, onText }, caller);
}

describe('The parts of an answer of a language model (D50)', () => {
  for (const part of [{ type: 'text', text: 'a' }, { type: 'progress' }] as const) {
    it(`are at most 200,000, also those of the type ${part.type}`, async () => {
      const answer = await askFor(part, answerParts - 1);
      expect(answer.text).to.have.length(part.type === 'text' ? answerParts - 1 : 0);
      const error = (await catchRejection(askFor(part, answerParts))) as Error;
      expect(error.message).to.equal('openai/m answered in more than 200,000 parts: set max_tokens');
      expect(error).to.have.property('retryable', false);
    });
  }

  it('are passed on at once when they come alone, and joined when they come together', async () => {
    const texts: string[] = [];
    const answer = await askFor({ type: 'text', text: 'ab' }, 1000, (text) => void texts.push(text));
    expect(answer.text).to.equal('ab'.repeat(1000));
    expect(texts).to.deep.equal(['ab', 'ab'.repeat(999)]);
  });

  it('are passed on when the turn of the event loop is over, though the answer goes on', async () => {
    const texts: string[] = [];
    await new Promise<void>((resolve) => {
      const onText = (text: string): void => {
        texts.push(text);
        if (texts.length === 2) resolve();
      };
      void askFor({ type: 'text', text: 'a' }, 3, onText, new Promise(() => undefined));
    });
    expect(texts).to.deep.equal(['a', 'aa']);
  });

  it('are passed on before the tokens of the answer are reported, whose events end its text', async () => {
    const received: string[] = [];
    const caller = { ...createCaller(), onUsage: () => void received.push('tokens') };
    await askFor({ type: 'text', text: 'a' }, 3, (text) => void received.push(text), undefined, caller);
    expect(received).to.deep.equal(['a', 'aa', 'tokens']);
  });

  it('are passed on also when the answer fails in the same turn', async () => {
    const texts: string[] = [];
    const failure = Promise.reject(new Error('cut'));
    failure.catch(() => undefined);
    await catchRejection(askFor({ type: 'text', text: 'a' }, 3, (text) => void texts.push(text), failure));
    expect(texts).to.deep.equal(['a', 'aa']);
  });

  it('fail the request with what their receiver throws, however late', async () => {
    const thrown = new Error('no more');
    let calls = 0;
    const onText = (): void => {
      if (++calls === 2) throw thrown;
    };
    expect(await catchRejection(askFor({ type: 'text', text: 'a' }, 3, onText))).to.equal(thrown);
    calls = 0;
    const turn = new Promise((resolve) => {
      setImmediate(() => setImmediate(resolve));
    });
    expect(await catchRejection(askFor({ type: 'text', text: 'a' }, 3, onText, turn))).to.equal(thrown);
  });
});

describe('An answer of a language model that holds up others (D50)', () => {
  const server = useModelServer();

  for (const wire of WIRES) {
    const name = wire.model.split('/')[0] ?? '';

    it(`${name}: has its parts handled in many turns of the event loop, though they arrive at once`, async () => {
      const texts = Array.from({ length: 20 }, (_, position) => `${position} `);
      server.reply(replyInParts(wire.type, wire.parts({ texts }), 'end'));
      const slow = new SlowTurns();
      const { text } = await ask(wire, server, { onText: slow.work });
      expect(text).to.equal(texts.join(''));
      expect(slow.turns).to.be.at.least(19);
    });

    for (const [what, text] of [
      ['4 MiB', 'x'.repeat(event.messageBytes)],
      ['20,000 lists, objects and members', '[],'.repeat(event.messageParts)],
      ['20,000 values', '1,'.repeat(event.messageValues + 2)],
    ] as const) {
      it(`${name}: is ended when one part has more than ${what}`, async () => {
        const [part = ''] = wire.parts({ texts: ['TEXT'] }).filter((one) => one.includes('TEXT'));
        // Lists stand beside the text, because in a text they are but letters.
        const large = text.startsWith('x')
          ? part.replace('TEXT', text)
          : part.replace('"TEXT"', `[${text}0]`);
        server.reply(replyInParts(wire.type, [large], 'open'));
        const error = (await catchRejection(ask(wire, server))) as Error;
        expect(error.message).to.include(`a part of the answer has more than ${what}`);
        expect(error).to.have.property('retryable', false);
        expect(server.requests).to.have.length(1);
      });
    }
  }
});
