import { expect } from 'chai';
import { errorMessage } from '../../lib/common/errors.js';
import { FolderRoom } from '../../lib/library/folder-room.js';
import { LIBRARY_LIMITS } from '../../lib/library/limits.js';

const MIB = 2 ** 20;

describe('The room of the folder of pipelines (D69)', () => {
  const hold = (room: FolderRoom, tenantId: string, count: number, bytes: number): void => {
    for (let index = 0; index < count; index++) room.hold(`${tenantId}/${index}`, tenantId, bytes);
  };
  const refusal = (room: FolderRoom, tenantId: string, bytes: number): string | undefined => {
    try {
      room.assertRoom(`${tenantId}/new`, tenantId, bytes);
      return undefined;
    } catch (error) {
      return errorMessage(error);
    }
  };

  it('leaves each tenant its share when others have used up all that is beyond', () => {
    const room = new FolderRoom();
    hold(room, 'a', 8, MIB);
    hold(room, 'b', 8, MIB);
    hold(room, 'c', 3, MIB);
    expect(refusal(room, 'a', 1)).to.match(/^the definitions of tenant "a" would be longer/);
    expect(refusal(room, 'c', 1)).to.match(/^the definitions of the folder would be longer/);
    expect(refusal(room, 'd', MIB)).to.equal(undefined);
    expect(refusal(room, 'd', MIB + 1)).to.match(/^the definitions of the folder would be longer/);
    room.hold('c/0', 'c', MIB - 1);
    expect(refusal(room, 'd', MIB + 1)).to.equal(undefined);
  });

  it('takes what fits in any order', () => {
    const files = [
      ...Array.from({ length: 8 }, (_, index) => ['a', `a/${index}`] as const),
      ...Array.from({ length: 8 }, (_, index) => ['b', `b/${index}`] as const),
      ...['c', 'd', 'e', 'f'].map((tenantId) => [tenantId, `${tenantId}/0`] as const),
    ];
    for (const order of [files, files.toReversed()]) {
      const room = new FolderRoom();
      for (const [tenantId, path] of order) {
        expect(room.hasRoom(path, tenantId, MIB), path).to.equal(true);
        room.hold(path, tenantId, MIB);
      }
    }
  });

  it('bounds the shares together, whatever tenants are named', () => {
    const room = new FolderRoom();
    for (let index = 0; index < 16; index++) hold(room, `t${index}`, 1, MIB);
    expect(room.hasRoom('more/0', 'more', MIB)).to.equal(false);
  });

  it('has places for the files of a tenant when others have used up half of all', () => {
    const room = new FolderRoom();
    hold(room, 'a', 180, 1);
    hold(room, 'b', 180, 1);
    hold(room, 'c', 200, 1);
    expect(refusal(room, 'a', 1)).to.match(/^the folder has as many files as it may have/);
    hold(room, 'd', LIBRARY_LIMITS.tenantShareFiles - 1, 1);
    expect(refusal(room, 'd', 1)).to.equal(undefined);
    room.hold('d/last', 'd', 1);
    expect(refusal(room, 'd', 1)).to.match(/^the folder has as many files/);
    for (let index = 0; index < 180; index++) room.release(`a/${index}`);
    expect(refusal(room, 'd', 1)).to.equal(undefined);
  });
});
