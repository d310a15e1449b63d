import { expect } from 'chai';
import { RecordTexts } from '../../../lib/http/responses/record-texts.js';
import type { RunRecord } from '../../../lib/runs/record.js';

/** Counts how often the record is created. */
class Source {
  created = 0;
  goal: string;

  constructor(goal = 'a goal') {
    this.goal = goal;
  }

  readonly getRecord = (): RunRecord => {
    this.created++;
    return { goal: this.goal } as RunRecord;
  };
}

describe('RecordTexts', () => {
  let texts: RecordTexts;

  beforeEach(() => {
    texts = new RecordTexts();
  });

  it('creates the record of one version once for all who read it', () => {
    const source = new Source();
    const bodies = [1, 2, 3].map(() => texts.toBody('run', 'v1', source.getRecord).text);
    expect(bodies).to.deep.equal(Array(3).fill('{"goal":"a goal"}'));
    expect(source.created).to.equal(1);
  });

  it('creates the record anew when its version has changed', () => {
    const source = new Source();
    texts.toBody('run', 'v1', source.getRecord);
    source.goal = 'another goal';
    expect(texts.toBody('run', 'v2', source.getRecord).text).to.equal('{"goal":"another goal"}');
    expect(texts.toBody('run', 'v2', source.getRecord).text).to.equal('{"goal":"another goal"}');
    expect(source.created).to.equal(2);
  });

  it('keeps the records of different runs apart, even of the same version', () => {
    const [one, two] = [new Source('one'), new Source('two')];
    texts.toBody('first', 'v1', one.getRecord);
    expect(texts.toBody('second', 'v1', two.getRecord).text).to.equal('{"goal":"two"}');
    expect(texts.toBody('first', 'v1', one.getRecord).text).to.equal('{"goal":"one"}');
  });

  it('keeps no text longer than 8 KiB', () => {
    const source = new Source('x'.repeat(9000));
    texts.toBody('run', 'v1', source.getRecord);
    texts.toBody('run', 'v1', source.getRecord);
    expect(source.created).to.equal(2);
  });

  it('returns a long record as data of the run, to be sent in chunks', () => {
    const { text, body, isRunData } = texts.toBody('run', 'v1', new Source('x'.repeat(100_000)).getRecord);
    expect(text).to.equal(undefined);
    expect(body).to.have.property('goal');
    expect(isRunData).to.equal(true);
  });

  it('keeps the texts of 64 runs, and drops the one that was kept first', () => {
    const first = new Source();
    texts.toBody('first', 'v1', first.getRecord);
    for (let index = 0; index < 64; index++) texts.toBody(`run ${index}`, 'v1', new Source().getRecord);
    texts.toBody('first', 'v1', first.getRecord);
    expect(first.created).to.equal(2);
  });
});
