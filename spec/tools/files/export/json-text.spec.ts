import { expect } from 'chai';
import fc from 'fast-check';
import { ToolError } from '../../../../lib/common/errors.js';
import type { Json } from '../../../../lib/common/json/json.js';
import { runToEnd } from '../../../../lib/common/scheduling/steps.js';
import { toJsonTextInSteps } from '../../../../lib/tools/files/export/json-text.js';
import { itTimed, measureCpuMsSync } from '../../../support/measuring/cpu-time.js';

/** Lists in lists: indented, one that is 490 deep takes 480 KB. */
function nest(depth: number): Json {
  let value: Json = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

describe('The JSON that export writes (D63)', () => {
  it('is what JSON.stringify writes with an indent of 2', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const data = value as Json;
        expect(runToEnd(toJsonTextInSteps(data))).to.equal(JSON.stringify(data, null, 2));
      }),
    );
    for (const data of [[], {}, [[], {}], nest(490), { ['__proto__']: null, 'a "b"\n': [{}] }] as Json[])
      expect(runToEnd(toJsonTextInSteps(data))).to.equal(JSON.stringify(data, null, 2));
  });

  for (const [title, data] of Object.entries({
    'of many members': Array.from({ length: 200 }, () => nest(490)),
    'of one member': [Array.from({ length: 200 }, () => nest(490))],
  })) {
    itTimed(`stops at 64 MiB, however much the indentation ${title} would make`, () => {
      let thrown: unknown;
      const cpuMs = measureCpuMsSync(() => {
        try {
          runToEnd(toJsonTextInSteps(data));
        } catch (error) {
          thrown = error;
        }
      });
      const message = 'the text is longer than 64 MiB: export less, or in several files';
      expect(thrown).to.be.instanceOf(ToolError).and.include({ message, retryable: false });
      expect(cpuMs).to.be.below(5000);
    });
  }

  it('is written in steps, also inside of a member', () => {
    for (const data of [[Array.from({ length: 20 }, () => nest(490))], [new Array<Json>(100_000).fill(1)]]) {
      let steps = 0;
      for (const _ of toJsonTextInSteps(data)) steps++;
      expect(steps).to.be.greaterThan(50);
    }
  });
});
