import { expect } from 'chai';
import type { JsonObject } from '../../../../lib/common/json/json.js';
import { exportFile } from '../../../../lib/tools/builtin/export.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import { itTimed, measureCpuMs } from '../../../support/measuring/cpu-time.js';
import { catchRejection } from '../../../support/rejection.js';
import { toolContext } from '../../../support/tool-context.js';

/** Exports, and gives the text of the file. */
async function exportText(inputs: JsonObject): Promise<string> {
  const checked = validateInputs(exportFile, inputs);
  if (!checked.ok) throw new Error(checked.errors.join('\n'));
  const context = toolContext();
  await exportFile.run(checked.inputs, context);
  return String(context.written[0]?.bytes);
}

describe('export of data that a caller has made to hold the server (D25, D49)', () => {
  itTimed('takes little time for a code fence that never ends', async () => {
    const cpuMs = await measureCpuMs(() => exportText({ data: `\`\`\`${'\n'.repeat(100_000)}x` }));
    expect(cpuMs).to.be.below(1000);
  });

  it('reads JSON inside a code fence', async () => {
    expect(await exportText({ data: '```json\n{"a": 1}\n```', format: 'json' })).to.equal('{\n  "a": 1\n}');
  });

  for (const format of ['csv', 'markdown', 'xlsx']) {
    it(`refuses objects whose different keys would make billions of cells of ${format}`, async () => {
      const data = Array.from({ length: 50_000 }, (_, n) => ({ [`k${n}`]: n }));
      const error = await catchRejection(exportText({ data, format, periods: [] }));
      expect(error)
        .to.have.property('message')
        .that.matches(/^a table of these 50000 objects would have/);
    });
  }

  itTimed('looks for each required field once, however often the schema names it', async () => {
    const schema = { properties: { a: {} }, required: Array.from({ length: 20_000 }, () => 'a') };
    const data = Array.from({ length: 20_000 }, () => ({ a: 1 }));
    const cpuMs = await measureCpuMs(() => exportText({ data, schema, format: 'csv' }));
    expect(cpuMs).to.be.below(2000);
  });

  it('refuses a workbook of more than 255 sheets', async () => {
    const sheets = Object.fromEntries(Array.from({ length: 256 }, (_, n) => [`s${n}`, null]));
    const error = await catchRejection(exportText({ sheets, format: 'xlsx' }));
    expect(error).to.have.property('message', 'a workbook may have 255 sheets: write several files');
  });
});
