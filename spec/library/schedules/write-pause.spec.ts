import { expect } from 'chai';
import { readSource } from '../../../lib/definition/text/source.js';
import { writePause } from '../../../lib/library/schedules/write-pause.js';

const write = (text: string, isPaused: boolean): string => writePause(text, readSource(text), isPaused);

const BLOCK = `# Every morning.
pipeline:
  id: p   # ours
  goal: "g"

  schedule:            # in the morning
    - "0 6 * * *"
    - '0 7 * * *'
  timezone:   Europe/Berlin
  tasks: [ {id: a,   tool: mock} ]
`;

describe('Pausing a schedule in the text of its file (D72)', () => {
  const cases: [title: string, text: string, line: string, paused: string][] = [
    ['above the schedule', BLOCK, '  schedule:  ', '  paused: true\n  schedule:  '],
    ['in a file without "pipeline"', 'id: p\nschedule: x\n', 'schedule', 'paused: true\nschedule'],
    [
      'in a plan',
      'plan:\n  id: p\n  schedule: x\n  sub_pipelines: []\n',
      '  sched',
      '  paused: true\n  sched',
    ],
    ['in braces', 'pipeline: {id: p, schedule: x, tasks: []}', 'schedule', 'paused: true, schedule'],
    ['in JSON', '{"id": "p", "schedule": "x"}', '"schedule"', '"paused": true, "schedule"'],
    [
      'on a line of its own in JSON that has one for each field',
      '{\n  "pipeline": {\n    "id": "p",\n    "schedule": "x"\n  }\n}\n',
      '    "schedule"',
      '    "paused": true,\n    "schedule"',
    ],
    ['with the line breaks of the file', 'id: p\r\nschedule: x\r\n', 'sched', 'paused: true\r\nsched'],
    ['behind a byte order mark', '\uFEFFid: p\nschedule: x\n', 'sched', 'paused: true\nsched'],
    ['in the place of false', 'id: p\nschedule: x\npaused: false # for now\n', ': false #', ': true #'],
    ['behind a key without a value', 'id: p\nschedule: x\npaused: # soon\n', 'paused:', 'paused: true'],
    ['in the place of False', 'id: p\nschedule: x\npaused: False\n', 'False', 'true'],
    ['in the place of ~', 'id: p\nschedule: x\npaused: ~\n', '~', 'true'],
    ['in the place of null', '{"id": "p", "schedule": "x", "paused": null}', 'null', 'true'],
  ];
  for (const [title, text, line, paused] of cases) {
    it(`writes it ${title}, and nothing else`, () => {
      const written = write(text, true);
      expect(text).to.contain(line);
      expect(written).to.equal(text.replace(line, paused));
      expect(write(written, true)).to.equal(written);
    });
  }

  it('resumes by writing false where true was, and keeps the comment', () => {
    const text = 'id: p\npaused: true # until the audit is over\nschedule: x\n';
    expect(write(text, false)).to.equal(text.replace('true', 'false'));
  });

  it('leaves a text alone that says so already', () => {
    expect(write(BLOCK, false)).to.equal(BLOCK);
  });

  const refused: [title: string, text: string, message: RegExp][] = [
    ['has no schedule', 'id: p\ngoal: g\ntasks: []\n', /no schedule/],
    ['is no definition', '[1, 2]', /no schedule/],
    [
      'has an anchor, which others refer to',
      'id: p\nschedule: x\npaused: &off false\ncatch_up: *off\n',
      /write it into the file yourself/,
    ],
    ['has its fields from an alias', 'base: &p {id: p, schedule: x}\npipeline: *p\n', /write it into/],
    ['has "schedule" after a question mark', 'id: p\n? schedule\n: x\n', /write it into the file yourself/],
  ];
  for (const [title, text, message] of refused) {
    it(`is refused where the text ${title}`, () => {
      expect(() => write(text, true))
        .to.throw(message)
        .with.property('code', 'invalid_request');
    });
  }
});
