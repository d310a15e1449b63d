import { expect } from 'chai';
import type { ItemPage, ItemRecord } from '../../../lib/runs/tasks/task-record.js';
import { addItemPage, type ReadItems, startItems } from '../../../web/console/run/model/item-pages.js';

function pageOf(items: readonly number[], cursor: string | null, output: string | null = null): ItemPage {
  return {
    items: items.map((item) => ({ item, output }) as ItemRecord),
    next_cursor: cursor,
  };
}

const numbersOf = ({ items }: ReadItems): number[] => items.map(({ item }) => item);

describe('The items of a fan-out that the console has read', () => {
  const first = addItemPage(startItems('running'), pageOf([0, 1, 2], 'c2'));
  const two = addItemPage(first, pageOf([3, 4, 5], 'c5'), 2);

  it('are those of the pages in their order', () => {
    expect(numbersOf(two)).to.deep.equal([0, 1, 2, 3, 4, 5]);
    expect(two.cursor).to.equal('c5');
  });

  it('are each there once when the first page reaches further than before', () => {
    const later = addItemPage(two, pageOf([1, 3, 4], 'c4', 'new'));
    expect(numbersOf(later)).to.deep.equal([1, 3, 4, 5]);
    expect(later.items.map(({ output }) => output)).to.deep.equal(['new', 'new', 'new', null]);
    expect(later.cursor).to.equal('c5');
  });

  it('stay when a new one moves them off the first page', () => {
    const later = addItemPage(
      addItemPage(startItems('failed'), pageOf([2, 5, 7], 'c7')),
      pageOf([1, 2, 5], 'c5'),
    );
    expect(numbersOf(later)).to.deep.equal([1, 2, 5, 7]);
    expect(later.cursor).to.equal('c7');
  });

  it('are those of the last page alone when it says that no others follow', () => {
    const later = addItemPage(two, pageOf([4], null));
    expect(numbersOf(later)).to.deep.equal([4]);
    expect(later.cursor).to.equal(null);
  });
});
