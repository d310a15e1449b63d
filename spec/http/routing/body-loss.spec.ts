import { expect } from 'chai';
import { BodyServer } from '../support/body-server.js';

const TASKS = '"tasks":[{"id":"a","tool":"mock"}]';

describe('What JSON.parse would drop from a request body (D7, D8)', () => {
  const bodies = new BodyServer();
  const { post } = bodies;

  const REFUSED: Record<string, readonly [body: string, message: string]> = {
    'a key twice in the definition': [
      `{"pipeline":{"id":"p","id":"q","goal":"g",${TASKS}}}`,
      'line 1, column 23 of the body repeats the key "id": keep one of them',
    ],
    'a key twice at the top': [
      `{"pipeline":{"id":"p","goal":"g",${TASKS}},\n "params":{},\n "params":{}}`,
      'line 3, column 2 of the body repeats the key "params": keep one of them',
    ],
    'a key twice in session values': [
      `{"pipeline":{"id":"p","goal":"g",${TASKS}},"session":{"x":{"y":1,"y":1}}}`,
      'line 1, column 92 of the body repeats the key "y": keep one of them',
    ],
    'an integer beyond 2^53 in inputs': [
      `{"pipeline":{"id":"p","goal":"g","inputs":{"n":0},${TASKS}},"inputs":{"n":9007199254740993}}`,
      'line 1, column 101 of the body is 9007199254740993, which has more digits than a number can hold; it would become 9007199254740992: send it as text',
    ],
    'a number that is too large, in params': [
      `{"pipeline":{"id":"p","goal":"g",${TASKS}},"params":{"n":1e309}}`,
      'line 1, column 84 of the body is 1e309, which is too large for a number: send it as text',
    ],
  };
  for (const [what, [body, message]] of Object.entries(REFUSED)) {
    it(`refuses ${what}, and names its place`, async () => {
      for (const path of ['/pipelines/run', '/pipelines/run_async', '/pipelines/validate']) {
        expect(await post(body, undefined, path), path).to.deep.equal({
          status: 400,
          code: 'invalid_request',
          message,
        });
      }
    });
  }

  it('refuses the same in the body of a plan, and in an optional body', async () => {
    const plan = await post('{"plan":{"id":"p","id":"q"}}', undefined, '/plans/run');
    expect(plan.message).to.contain('repeats the key "id"');
    const cancel = await post('{"force":true,"force":false}', undefined, '/pipelines/runs/x/cancel');
    expect(cancel.message).to.contain('repeats the key "force"');
  });

  it('refuses in JSON what YAML refuses, and accepts what YAML accepts', async () => {
    for (const value of [
      '9007199254740991',
      '9007199254740992',
      '-9007199254740993',
      '0.1234567890123456789',
      '1e21',
      '1e309',
      '{"a":1,"b":1}',
      '{"a":1,"a":1}',
      '"9007199254740993"',
    ]) {
      const text = `{"id":"p","goal":"g","inputs":{"n":${value}},"tasks":[{"id":"a","tool":"mock","inputs":{"value":"{{pipeline.inputs.n}}"}}]}`;
      const json = await post(`{"pipeline":${text}}`);
      const yaml = await post(text, 'application/yaml');
      expect(json.status, value).to.equal(yaml.status);
    }
  });

  it('cuts a long key in the message', async () => {
    const key = 'k'.repeat(100_000);
    const { message } = await post(`{"${key}":1,"${key}":1}`);
    expect(message).to.equal(
      `line 1, column 100007 of the body repeats the key "${'k'.repeat(100)}…": keep one of them`,
    );
  });
});
