import { LLMock } from '@copilotkit/aimock';
import { expect } from 'chai';
import { join } from 'node:path';
import type { Json } from '../../../../lib/common/json/json.js';
import { modelAccess } from '../../../../lib/models/create-models.js';
import { fileAccess } from '../../../../lib/tools/files/file-access.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { startRun } from '../../../support/runs/start-run.js';
import { bitImage, makeScan } from '../../documents/make-scan.js';

describe('scanned pages that a model reads (D49, D50)', () => {
  const mock = new LLMock({ port: 0 });
  before(() => mock.start());
  after(() => mock.stop());

  it('are sent to a server one by one, and mock/recorded knows their images again', async () => {
    const folder = new TemporaryFolder();
    try {
      folder.write(
        'a.pdf',
        makeScan([{ images: { A: bitImage(['█ ']) } }, { images: { A: bitImage([' █']) } }]),
      );
      mock.on({}, { content: 'as it is read' });
      const answers = join(folder.path, 'answers.jsonl');
      const read = async (model: string, variables: Record<string, string>): Promise<Json | undefined> => {
        const inputs = `{path: a.pdf, model: ${model}}`;
        const run = await startRun(`{id: a, tool: ingest_document, inputs: ${inputs}}`, {
          executor: { models: modelAccess(variables), files: fileAccess([folder.path]) },
        });
        const { outputs } = await run.executor.getResult(run.runId);
        const { text } = outputs['a'] as { text: Json };
        return text;
      };
      const server = { COMPATIBLE_BASE_URL: `${mock.url}/v1`, WAVETRAIN_RECORD_ANSWERS: answers };
      expect(await read('compatible/vision', server)).to.equal('as it is read\n\nas it is read');
      expect(mock.getRequests()).to.have.length(2);
      expect(JSON.stringify(mock.getRequests()[0]?.body)).to.contain('data:image/png;base64,');
      expect(await read('mock/recorded', { WAVETRAIN_ANSWERS: answers })).to.equal(
        'as it is read\n\nas it is read',
      );
      expect(mock.getRequests()).to.have.length(2);
    } finally {
      folder.remove();
    }
  });
});
