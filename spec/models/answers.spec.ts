import { expect } from 'chai';
import { MODEL_LIMITS } from '../../lib/common/limits.js';
import type { JsonObject } from '../../lib/common/json/json.js';
import { ask, createCaller, KEY } from './asking.js';
import { replyInParts, useModelServer } from './model-server.js';
import { TOKENS, WIRES } from './wires.js';

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { total: { type: 'number' } },
  required: ['total'],
  additionalProperties: false,
};
const IMAGE = Buffer.from('89504e470d0a1a0a', 'hex');

describe('answers of language models (D50)', () => {
  const server = useModelServer();

  for (const wire of WIRES) {
    const name = wire.model.split('/')[0] ?? '';
    const answerWith = (texts: string[], isCutByLength = false): void =>
      server.reply(replyInParts(wire.type, wire.parts({ texts, isCutByLength }), 'end'));
    const bodyOf = (request: Parameters<typeof ask>[2]): Promise<JsonObject> =>
      ask(wire, server, request).then(() => server.requests[0]?.body ?? {});

    it(`${name}: gives the text as it arrives, and the whole of it with its tokens`, async () => {
      answerWith(['Good ', 'morning', '!']);
      const parts: string[] = [];
      const caller = createCaller();
      const answer = await ask(wire, server, { onText: (text) => void parts.push(text) }, caller);
      expect(answer).to.deep.equal({
        text: 'Good morning!',
        model: wire.model,
        finish: 'stop',
        usage: TOKENS,
      });
      expect(parts.join('')).to.equal('Good morning!');
      expect(parts.length).to.be.greaterThan(1);
      expect(caller.usage).to.deep.equal([{ model: wire.model, ...TOKENS }]);
      expect(caller.clock.pending).to.equal(0);
    });

    it(`${name}: says that the maximum of tokens has ended the answer`, async () => {
      answerWith(['Good mor'], true);
      expect(await ask(wire, server)).to.include({ text: 'Good mor', finish: 'length' });
    });

    it(`${name}: gives an empty answer`, async () => {
      answerWith([]);
      expect(await ask(wire, server)).to.include({ text: '', finish: 'stop' });
    });

    it(`${name}: sends the key, the model and the messages to the configured address, and nothing that was not given`, async () => {
      answerWith(['hi']);
      const body = await bodyOf({ system: 'Be brief.' });
      const [request] = server.requests;
      expect(request?.path).to.equal(wire.path);
      expect(JSON.stringify(request?.headers)).to.include(KEY);
      expect(body).to.include({ model: wire.model.slice(name.length + 1), stream: true });
      expect(JSON.stringify(body)).to.include('Be brief.').and.include('Say hi');
      expect(body).not.to.have.any.keys('temperature', 'top_p', 'tools', 'format', 'response_format');
      if (name !== 'anthropic') expect(body).not.to.have.any.keys('max_tokens', 'max_completion_tokens');
    });

    it(`${name}: sends temperature and max_tokens when they are given`, async () => {
      answerWith(['hi']);
      const body = await bodyOf({ temperature: 0.25, max_tokens: 40 });
      const options = name === 'ollama' ? (body['options'] as JsonObject) : body;
      expect(options).to.include({
        temperature: 0.25,
        [name === 'ollama' ? 'num_predict' : 'max_tokens']: 40,
      });
      if (name === 'ollama') expect(options).to.include({ num_ctx: 8192 });
    });

    it(`${name}: sends the schema of the answer in its own format`, async () => {
      answerWith(['{"total": 3}']);
      const body = await bodyOf({ schema: SCHEMA });
      expect(findObjects(body)).to.deep.include(SCHEMA);
      expect(server.requests).to.have.length(1);
    });

    it(`${name}: sends an image as base64 beside the text`, async () => {
      answerWith(['a dot']);
      const body = await bodyOf({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image', bytes: IMAGE, media_type: 'image/png' },
            ],
          },
        ],
      });
      expect(JSON.stringify(body)).to.include(IMAGE.toString('base64')).and.include('What is this?');
    });

    it(`${name}: refuses images that are too large together, before it asks`, async () => {
      const half = new Uint8Array(MODEL_LIMITS.imageBytes / 2 + 1);
      const image = { type: 'image' as const, bytes: half, media_type: 'image/png' };
      const error = await ask(wire, server, { messages: [{ role: 'user', content: [image, image] }] }).catch(
        (reason: unknown) => reason,
      );
      expect(error).to.have.property('message').that.includes('20 MiB').and.includes('images');
      expect(error).to.have.property('retryable', false);
      expect(server.requests).to.deep.equal([]);
    });

    it(`${name}: reads an answer of 1 MB`, async () => {
      const part = 'x'.repeat(10_000);
      answerWith(Array.from({ length: 100 }, () => part));
      expect((await ask(wire, server)).text).to.have.length(1_000_000);
    });
  }
});

/** All objects within a value. */
function findObjects(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(findObjects)];
}
