import { expect } from 'chai';
import { BodyServer } from '../support/body-server.js';

const PIPELINE = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };

describe('Keys of a request body (D32)', () => {
  const bodies = new BodyServer();
  const { post } = bodies;

  describe('never pollute the prototypes of JavaScript objects', () => {
    const poison = '{"polluted": true, "toString": "x"}';
    const around = (name: string, value = poison): [place: string, body: string][] => [
      ['at the top', `{"${name}": ${value}}`],
      ['in the pipeline', `{"pipeline": {"id": "p", "goal": "g", "tasks": [], "${name}": ${value}}}`],
      [
        'in a task',
        `{"pipeline": {"id": "p", "goal": "g", "tasks": [{"id": "a", "tool": "mock", "${name}": ${value}}]}}`,
      ],
      ...['inputs', 'session', 'params', 'options'].map((place): [string, string] => [
        `in ${place}`,
        `{"pipeline": ${JSON.stringify({ ...PIPELINE, inputs: {} })}, "${place}": {"${name}": ${value}}}`,
      ]),
    ];
    for (const name of [
      '__proto__',
      String.raw`\u005f_proto__`,
      'constructor',
      'prototype',
      'hasOwnProperty',
      '__defineGetter__',
    ]) {
      for (const [place, body] of around(
        name,
        name === 'constructor' ? `{"prototype": ${poison}}` : poison,
      )) {
        it(`ignores or refuses "${name}" ${place}`, async () => {
          const { status, code } = await post(body);
          expect([200, 400]).to.include(status);
          if (name.endsWith('_proto__'))
            expect({ status, code }).to.deep.equal({ status: 400, code: 'invalid_request' });
          expect({}).not.to.have.property('polluted');
          expect(Object.prototype).not.to.have.property('polluted');
        });
      }
    }

    for (const name of ['__proto__', 'constructor', 'hasOwnProperty']) {
      it(`ignores or refuses "${name}" in YAML`, async () => {
        const text = `pipeline:\n  id: p\n  goal: g\n  ${name}: {polluted: true}\n  tasks:\n    - {id: a, tool: mock, inputs: {${name}: {polluted: true}}}`;
        expect((await post(text, 'application/yaml')).status).to.equal(400);
        const { status } = await post(JSON.stringify({ yaml: text }), undefined, '/pipelines/validate');
        expect(status).to.equal(200);
        expect({}).not.to.have.property('polluted');
      });
    }
  });
});
