import { expect } from 'chai';
import { RecordingFile } from '../../../../lib/cli/run/listeners/recording-file.js';
import type { OpenInspection } from '../../../../lib/runs/inspection/inspection.js';
import type { RunRecord } from '../../../../lib/runs/record.js';
import { ControlledRuns } from '../../../runs/controlled-runs.js';

const TASKS = Array.from({ length: 20 }, (_, index) => `{id: t${index}, tool: mock}`).join(', ');
const PIPELINE = `{id: p, goal: g, tasks: [${TASKS}, {id: last, tool: controlled, await: [t0]}]}`;

/** Records a run whose last task fails, into a file with room for so much. Returns the lines of the file. */
async function record(limits: { entries: number; bytes: number }): Promise<Record<string, unknown>[]> {
  const runs = new ControlledRuns({}, PIPELINE);
  let text = '';
  const file = { writeText: (part: string) => void (text += part), close: async () => undefined };
  const recording = await RecordingFile.create(file, runs, limits);
  const onInspection = (inspection: OpenInspection, queued: RunRecord): void =>
    recording.begin(inspection, queued, {});
  const runId = await runs.submit('default', { onInspection });
  runs.findCall(runId).reject(new Error('no luck'));
  await recording.end(await runs.registry.settled(runId));
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('The file of run --record, when a run has more entries than fit', () => {
  const plenty = { entries: 1000, bytes: 1_000_000 };

  it('has all of them while there is room', async () => {
    const lines = await record(plenty);
    expect(lines.at(-1)).to.include({ end: true, entries: lines.length - 2, dropped: 0 });
  });

  for (const [what, limits] of [
    ['entries', { ...plenty, entries: 40 }],
    ['bytes', { ...plenty, bytes: 16_000 }],
  ] as const) {
    it(`keeps a fifth of its ${what} for the run, its waves and what fails, and says how many it lacks`, async () => {
      const all = await record(plenty);
      const lines = await record(limits);
      const entries = lines.slice(1, -1);
      expect(entries.length)
        .to.be.below(all.length - 2)
        .and.at.most(limits.entries);
      expect(Buffer.byteLength(entries.map((entry) => JSON.stringify(entry)).join('\n'))).to.be.below(
        limits.bytes,
      );
      const dropped = Number(entries.at(-1)?.['seq']) - entries.length;
      expect(dropped).to.be.above(20);
      expect(lines.at(-1)).to.include({ entries: entries.length, dropped });
      const ends = entries.slice(-4).map(({ actor, state }) => [actor, state]);
      expect(ends).to.include.deep.members([
        ['run/wave/last', 'failed'],
        ['run', 'failed'],
      ]);
    });
  }
});
