/** Where all pages of the inspector keep the reader's key: in the storage of the tab, which ends with it. */
export const KEY_ITEM = 'wavetrain-key';

/** Whether a key can stand in a header. */
export function isPossibleKey(key: string): boolean {
  return /^[\x21-\x7e]+$/.test(key);
}
