import { expect } from 'chai';
import * as fc from 'fast-check';
import { measureJsonInSteps } from '../../../lib/definition/text/lossy-json.js';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import { BodyServer } from '../support/body-server.js';

const PIPELINE = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };

describe('JSON nesting in a request body (D32)', () => {
  const bodies = new BodyServer();
  const { post } = bodies;

  describe('is limited to 1000 levels', () => {
    const nested = (levels: number, open = '[', close = ']'): string =>
      open.repeat(levels) + close.repeat(levels);
    for (const levels of [101, 499, 501, 990, 10_000, 100_000]) {
      for (const place of ['pipeline', 'inputs', 'session', 'params', 'options']) {
        it(`handles ${levels} levels in "${place}"`, async () => {
          const given = place === 'pipeline' ? {} : { pipeline: { ...PIPELINE, inputs: { deep: 1 } } };
          const members = Object.entries(given).map(([key, value]) => `"${key}": ${JSON.stringify(value)}`);
          const body = `{${[...members, `"${place}": {"deep": ${nested(levels)}}`].join(', ')}}`;
          const { status } = await post(body);
          expect(status).to.equal(levels < 500 && ['inputs', 'session'].includes(place) ? 200 : 400);
          const object = `{"pipeline": ${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;
          expect((await post(object)).status).to.equal(400);
        });
      }

      it(`refuses ${levels} levels of YAML, as text field and as body`, async () => {
        for (const text of [nested(levels), `pipeline: ${nested(levels)}`, '- '.repeat(levels)]) {
          expect(await post(text, 'application/yaml')).to.include({
            status: 400,
            code: 'invalid_definition',
          });
          const inJson = await post(JSON.stringify({ yaml: text }), undefined, '/pipelines/validate');
          expect(inJson.status).to.equal(200);
        }
      });
    }

    it('ignores brackets inside strings', () => {
      const measureDepth = (value: unknown): number =>
        typeof value === 'object' && value !== null
          ? 1 + Math.max(0, ...Object.values(value).map((item) => measureDepth(item)))
          : 0;
      const texts = fc.string({ unit: fc.constantFrom('[', '{', '}', ']', '"', '\\', 'a') });
      const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
        tree: fc.oneof({ maxDepth: 5 }, texts, fc.array(tie('tree')), fc.dictionary(texts, tie('tree'))),
      }));
      fc.assert(
        fc.property(tree, (value) => {
          expect(runToEnd(measureJsonInSteps(JSON.stringify(value))).depth).to.equal(measureDepth(value));
        }),
      );
    });
  });
});
