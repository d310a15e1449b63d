import fc from 'fast-check';
import type { Needing } from '../../machines/readiness.js';

/** Up to twelve sub-pipelines that need each other without a cycle, declared in any order. */
export const plans: fc.Arbitrary<Needing[]> = fc
  .integer({ min: 1, max: 12 })
  .chain((count) =>
    fc.tuple(
      fc.array(fc.array(fc.nat(count - 1), { maxLength: 4 }), { minLength: count, maxLength: count }),
      fc.shuffledSubarray(
        Array.from({ length: count }, (_, index) => index),
        { minLength: count },
      ),
    ),
  )
  .map(([draws, declared]) => {
    const placed = draws.map((drawn, index) => ({
      id: `s${index}`,
      needs: [...new Set(drawn.filter((need) => need < index))].map((need) => `s${need}`),
    }));
    return declared.flatMap((index) => placed[index] ?? []);
  });
