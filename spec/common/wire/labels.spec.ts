import { expect } from 'chai';
import { listLabels, matchesLabels, readLabel } from '../../../lib/common/wire/labels.js';

describe('Labels in filters (D76)', () => {
  it('are a name and a value, of which a run must match all: the name ends at the first colon', () => {
    expect(readLabel('url:http://x')).to.deep.equal(['url', 'http://x']);
    expect(readLabel('team:')).to.deep.equal(['team', '']);
    for (const text of ['team', ':a', '']) expect(readLabel(text), text).to.equal(undefined);
    const labels = { team: 'a', url: 'http://x', none: '' };
    expect(listLabels(labels)).to.deep.equal(['team:a', 'url:http://x', 'none:']);
    for (const filter of [[], ['team:a'], ['url:http://x', 'team:a'], ['none:']]) {
      expect(matchesLabels(filter, labels), filter.join()).to.equal(true);
    }
    for (const filter of [['team:b'], ['team:a', 'url:x'], ['team'], ['team:A'], ['toString:'], ['x:']]) {
      expect(matchesLabels(filter, labels), filter.join()).to.equal(false);
    }
  });
});
