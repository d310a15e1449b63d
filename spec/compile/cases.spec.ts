import { expect } from 'chai';
import { readModelConfig } from '../../lib/common/config/model-config.js';
import { evaluate, formatTable } from '../../scripts/evaluate.js';
import { createMockProvider } from '../../lib/models/providers/mock.js';
import { Models } from '../../lib/models/models.js';
import { read } from '../project/files.js';
import { CASES, recordedAnswers } from './cases.js';

describe('compile (D35), on 34 requests with recorded answers', () => {
  const models = new Models({
    config: readModelConfig({}),
    loadProvider: async () => createMockProvider(async () => recordedAnswers()),
  });

  for (const one of CASES) {
    const expected = one.attempts === 0 ? 'gives up on' : `takes ${one.attempts} for`;
    it(`${expected}: ${one.prompt}`, async () => {
      const [outcome] = await evaluate([one], models, 'mock/recorded');
      expect(outcome).to.include({
        isValid: one.attempts > 0,
        attempts: one.attempts === 0 ? one.answers.length : one.attempts,
      });
      expect(outcome).to.deep.include({ missingTools: [], missingFields: [] });
    });
  }

  it('gives the table of docs/models/compile.md', async () => {
    const fresh = new Models({
      config: readModelConfig({}),
      loadProvider: async () => createMockProvider(async () => recordedAnswers()),
    });
    const outcomes = await evaluate(CASES, fresh, 'mock/recorded');
    expect(read('docs/models/compile.md')).to.contain(
      formatTable('mock/recorded', outcomes, { tokens: false }),
    );
  });
});
