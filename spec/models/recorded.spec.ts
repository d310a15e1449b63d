import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { MODEL_LIMITS } from '../../lib/common/limits.js';
import { readModelConfig } from '../../lib/common/config/model-config.js';
import { createModels } from '../../lib/models/create-models.js';
import type { ModelRequest } from '../../lib/models/model.js';
import { catchRejection } from '../support/rejection.js';
import { TemporaryFolder } from '../support/temporary-folder.js';
import { takeWarnings } from '../support/warnings.js';
import { createCaller, KEY } from './asking.js';
import { replyInParts, replyWith, useModelServer } from './model-server.js';
import { TOKENS, WIRES } from './wires.js';

const REQUEST: ModelRequest = { messages: [{ role: 'user', content: 'Say hi' }] };

describe('answers that were recorded (D50)', () => {
  const server = useModelServer();
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
  });
  afterEach(() => folder.remove());

  const ask = async (
    variables: Record<string, string>,
    ...requests: readonly Partial<ModelRequest>[]
  ): Promise<string[]> => {
    const models = createModels(readModelConfig(variables), { folders: [folder.path], random: () => 0 });
    const texts: string[] = [];
    for (const request of requests) {
      const caller = createCaller({ isPatient: true });
      texts.push((await models.generate({ ...REQUEST, ...request }, caller)).text);
    }
    return texts;
  };
  const replay = (...requests: readonly Partial<ModelRequest>[]): Promise<string[]> =>
    ask({ WAVETRAIN_MODEL: 'mock/recorded' }, ...requests);

  it('come back for the same request, whatever its model, temperature and maximum of tokens', async () => {
    const [wire] = WIRES;
    if (wire === undefined) throw new Error('no wires');
    const answerWith = (text: string) => replyInParts(wire.type, wire.parts({ texts: [text] }), 'end');
    server.reply(answerWith('first'), answerWith('second'), answerWith('other'));
    const variables = { ...wire.variables(server.url, KEY), WAVETRAIN_RECORD_ANSWERS: 'answers.jsonl' };
    const other = { messages: [{ role: 'user' as const, content: 'Say bye' }] };
    await ask(variables, {}, {}, other);
    const [line = ''] = readFileSync(folder.at('answers.jsonl'), 'utf8').split('\n');
    expect(JSON.parse(line)).to.deep.include({ prompt: 'Say hi', text: 'first', usage: TOKENS });
    expect(line).not.to.include(KEY);
    expect(await replay({ temperature: 1 }, other, { max_tokens: 3 }, {})).to.deep.equal([
      'first',
      'other',
      'second',
      'second',
    ]);
  });

  it('come back for a request with a schema that the provider refused', async () => {
    const [wire] = WIRES;
    if (wire === undefined) throw new Error('no wires');
    const good = replyInParts(wire.type, wire.parts({ texts: ['{}'] }), 'end');
    server.reply(replyWith(400, wire.error('no schemas here')), good);
    const variables = { ...wire.variables(server.url, KEY), WAVETRAIN_RECORD_ANSWERS: 'answers.jsonl' };
    const schema = { type: 'object' };
    await ask(variables, { schema });
    expect(await replay({ schema })).to.deep.equal(['{}']);
  });

  it('are missed with the fingerprint and the end of the prompt', async () => {
    writeFileSync(folder.at('answers.jsonl'), '{"fingerprint": "x", "text": "y"}\n\n');
    const error = await catchRejection(replay({}));
    const fingerprint = /fingerprint (\w{32})/.exec((error as Error).message)?.[1] ?? '';
    expect(error)
      .to.have.property('message')
      .that.includes('"Say hi"')
      .and.includes('WAVETRAIN_RECORD_ANSWERS');
    writeFileSync(folder.at('answers.jsonl'), JSON.stringify({ fingerprint, text: 'by hand' }));
    expect(await replay({})).to.deep.equal(['by hand']);
    expect(await catchRejection(replay({ system: 'Be brief.' }))).to.be.instanceOf(Error);
  });

  it('of mock/echo are recorded, so that they can be replaced by hand', async () => {
    const recording = { WAVETRAIN_MODEL: 'mock/echo', WAVETRAIN_RECORD_ANSWERS: 'answers.jsonl' };
    await ask(recording, {});
    const answers = readFileSync(folder.at('answers.jsonl'), 'utf8');
    writeFileSync(folder.at('answers.jsonl'), answers.replace('"text":"Say hi"', '"text":"by hand"'));
    expect(await replay({})).to.deep.equal(['by hand']);
  });

  it('are not recorded a second time, and a warning says so', async () => {
    writeFileSync(folder.at('answers.jsonl'), '{"prompt": "hi", "text": "y"}\n');
    const variables = { WAVETRAIN_MODEL: 'mock/recorded', WAVETRAIN_RECORD_ANSWERS: 'more.jsonl' };
    expect(await ask(variables, {}, {})).to.deep.equal(['y', 'y']);
    expect(existsSync(folder.at('more.jsonl'))).to.equal(false);
    const [warning, ...others] = await takeWarnings();
    expect(warning).to.include('WAVETRAIN_RECORD_ANSWERS has no effect on mock/recorded');
    expect(others).to.deep.equal([]);
  });

  it('that cannot be written fail the request with the variable', async () => {
    const variables = { WAVETRAIN_MODEL: 'mock/echo', WAVETRAIN_RECORD_ANSWERS: 'no/such/folder.jsonl' };
    expect(await catchRejection(ask(variables, {})))
      .to.have.property('message')
      .that.includes('WAVETRAIN_RECORD_ANSWERS');
  });

  it('say which file is missing, and which line is wrong', async () => {
    expect(await catchRejection(replay({})))
      .to.have.property('message')
      .that.includes('WAVETRAIN_ANSWERS');
    const wrong = [
      '{',
      '[]',
      'null',
      '{"text": "no fingerprint"}',
      '{"fingerprint": null, "prompt": "Say hi", "text": "y"}',
      '{"prompt": "Say hi", "text": "y", "usage": 5}',
      '{"prompt": "Say hi", "text": "y", "usage": {"input_tokens": "1", "output_tokens": 1}}',
      '{"prompt": "Say hi", "text": "y", "finish": "never"}',
    ];
    for (const line of wrong) {
      writeFileSync(folder.at('answers.jsonl'), `{"fingerprint": "x", "text": "y"}\n${line}\n`);
      expect(await catchRejection(replay({})))
        .to.have.property('message')
        .that.includes('line 2 of')
        .and.includes(line === '{' ? 'is not JSON; an answer stands in one line' : 'is not an answer');
    }
  });

  it('name no folders to callers, and the whole path in the log', async () => {
    const logged: string[] = [];
    const failures: string[] = [];
    const fail = async (answersFile: string): Promise<void> => {
      const config = readModelConfig({ WAVETRAIN_MODEL: 'mock/recorded', WAVETRAIN_ANSWERS: answersFile });
      const models = createModels(config, { folders: [folder.path], log: (line) => void logged.push(line) });
      failures.push(String(await catchRejection(models.generate(REQUEST, createCaller()))));
    };
    await fail(folder.at('none.jsonl'));
    folder.write('broken.jsonl', '{');
    await fail(folder.at('broken.jsonl'));
    await fail(folder.path);
    expect(failures.join('\n'))
      .to.contain('"none.jsonl"')
      .and.contain('line 1 of "broken.jsonl"')
      .and.contain('(EISDIR)')
      .and.not.contain(dirname(folder.path));
    expect(logged).to.have.length(3);
    expect(logged[1]).to.contain(folder.at('broken.jsonl'));
  });

  it('are read again after the operator has fixed their file', async () => {
    const models = createModels(readModelConfig({ WAVETRAIN_MODEL: 'mock/recorded' }), {
      folders: [folder.path],
    });
    await catchRejection(models.generate(REQUEST, createCaller()));
    folder.write('answers.jsonl', '{"prompt": "Say hi", "text": "hi"}');
    expect((await models.generate(REQUEST, createCaller())).text).to.equal('hi');
  });

  it('come to each tenant from the first one on, whatever others have asked', async () => {
    const lines = ['one', 'two', 'three'].map((text) => JSON.stringify({ prompt: 'Say hi', text }));
    folder.write('answers.jsonl', lines.join('\n'));
    const models = createModels(readModelConfig({ WAVETRAIN_MODEL: 'mock/recorded' }), {
      folders: [folder.path],
    });
    const askAs = async (tenant: string): Promise<string> =>
      (await models.generate(REQUEST, createCaller({ tenant }))).text;
    const texts: string[] = [];
    for (const tenant of ['a', 'a', 'b', 'a', 'a', 'b']) texts.push(await askAs(tenant));
    expect(texts).to.deep.equal(['one', 'two', 'one', 'three', 'three', 'two']);
  });

  it('are not written any more when their file is full, with one warning', async () => {
    const [wire] = WIRES;
    if (wire === undefined) throw new Error('no wires');
    server.reply(replyInParts(wire.type, wire.parts({ texts: ['hi'] }), 'end'));
    const file = folder.at('answers.jsonl');
    writeFileSync(file, '');
    truncateSync(file, MODEL_LIMITS.recordedBytes - 200);
    const variables = { ...wire.variables(server.url, KEY), WAVETRAIN_RECORD_ANSWERS: 'answers.jsonl' };
    const other = { messages: [{ role: 'user' as const, content: 'Say bye' }] };
    expect(await ask(variables, {}, {}, other)).to.deep.equal(['hi', 'hi', 'hi']);
    expect(statSync(file).size).to.be.above(MODEL_LIMITS.recordedBytes - 200);
    expect(statSync(file).size).not.to.be.above(MODEL_LIMITS.recordedBytes);
    expect(await takeWarnings()).to.have.length(1);
  });

  it('fail a request that they cannot be written for before it is sent, without the folder', async () => {
    const [wire] = WIRES;
    if (wire === undefined) throw new Error('no wires');
    server.reply(replyInParts(wire.type, wire.parts({ texts: ['hi'] }), 'end'));
    const variables = { ...wire.variables(server.url, KEY), WAVETRAIN_RECORD_ANSWERS: 'none/answers.jsonl' };
    expect(await catchRejection(ask(variables, {})))
      .to.have.property('message')
      .that.contains('"answers.jsonl" (ENOENT)')
      .and.not.contains(folder.path);
    expect(server.requests).to.have.length(0);
  });

  it('mock/echo gives the last message, and a mock model of another name is refused', async () => {
    expect(await ask({ WAVETRAIN_MODEL: 'mock/echo' }, {}, { model: 'mock/echo' })).to.deep.equal([
      'Say hi',
      'Say hi',
    ]);
    expect(await catchRejection(ask({}, { model: 'mock/other' })))
      .to.have.property('message')
      .that.includes('mock/echo or mock/recorded');
  });

  it('echo a text of blanks, or of very many words, in a time in proportion to its length', async () => {
    for (const text of [' '.repeat(1_000_000), 'a '.repeat(500_000)]) {
      const messages = [{ role: 'user' as const, content: text }];
      expect(await ask({}, { model: 'mock/echo', messages })).to.deep.equal([text]);
    }
  });
});
