import fc from 'fast-check';
import type { SubPipelineNeeds } from '../../machines/readiness.js';

/** Generates up to twelve sub-pipelines whose needs form no cycle, declared in any order. */
export const plans: fc.Arbitrary<SubPipelineNeeds[]> = fc
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
