import { expect } from 'chai';
import { RegistrantIndex } from '../../../../../lib/tools/builtin/web/fetch-data/registrants.js';
import { itTimed, measureCpuMsSync } from '../../../../support/measuring/cpu-time.js';

const row = (cik: number, ticker: string, title: string) => ({ cik_str: cik, ticker, title });

const INDEX = [
  row(320193, 'AAPL', 'Apple Inc.'),
  row(1751008, 'APP', 'AppLovin Corp'),
  row(1418121, 'APLE', 'Apple Hospitality REIT, Inc.'),
  row(1652044, 'GOOGL', 'Alphabet Inc.'),
  row(1652044, 'GOOG', 'Alphabet Inc.'),
  row(732717, 'T', 'AT&T INC.'),
  row(1283699, 'TMUS', 'T-Mobile US, Inc.'),
  row(1067983, 'BRK-B', 'BERKSHIRE HATHAWAY INC'),
  row(1810806, 'U', 'Unity Software Inc.'),
  row(36104, 'USB', 'US BANCORP \\DE\\'),
  row(50863, 'INTC', 'INTEL CORP'),
  row(1652130, 'NTLA', 'Intellia Therapeutics, Inc.'),
];

describe('The index of companies of the SEC (D49)', () => {
  const index = RegistrantIndex.read(INDEX);
  const tickersOf = (input: string): string[] => index.find(input).map(({ ticker }) => ticker);

  for (const [input, tickers] of [
    ['aapl', ['AAPL']],
    [' apple inc. ', ['AAPL']],
    ['320193', ['AAPL']],
    ['AAPL.US', ['AAPL']],
    ['brk.b', ['BRK-B']],
    ['BRK-B', ['BRK-B']],
    ['alphabet', ['GOOGL']],
    ['intel', ['INTC']],
    ['AT&T', ['T']],
    ['t-mobile', ['TMUS']],
  ] as const) {
    it(`finds ${tickers.join()} as ${JSON.stringify(input)}`, () => {
      expect(tickersOf(input)).to.deep.equal(tickers);
    });
  }

  it('takes a number that it does not list for that of a company', () => {
    expect(index.find('42')).to.deep.equal([{ cik: '0000000042', ticker: '', name: '' }]);
  });

  it('finds all companies whose names begin so, and takes none of them for the other', () => {
    expect(tickersOf('Apple')).to.deep.equal(['APLE', 'AAPL']);
  });

  for (const input of ['', 'AAPLX', 'Unity Bank', 'U.S. Bancorp', 'T-Systems', 'Tesla', '.', '-']) {
    it(`never takes ${JSON.stringify(input)} for a company whose ticker begins it`, () => {
      expect(tickersOf(input)).to.deep.equal([]);
    });
  }

  it('refuses what is no index', () => {
    for (const other of [null, [], {}, 'x', [{ ticker: 1 }]]) {
      expect(() => RegistrantIndex.read(other)).to.throw(
        'the SEC has answered without its index of companies',
      );
    }
  });

  itTimed(
    'finds a hundred names among ten thousand companies in less time than it takes to read the index',
    () => {
      const rows = Array.from({ length: 10_000 }, (_, n) =>
        row(n + 1, `T${n}`, `Company ${n} of a long list, Inc.`),
      );
      const names = Array.from({ length: 100 }, (_, n) => `Company ${9900 + n} of`);
      let large = index;
      const reading = measureCpuMsSync(() => {
        large = RegistrantIndex.read(rows);
      });
      const finding = measureCpuMsSync(() => {
        for (const name of names) expect(large.find(name)).to.have.length(1);
      });
      expect(finding).to.be.below(reading + 5);
    },
  );
});
