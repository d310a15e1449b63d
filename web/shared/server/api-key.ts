/** Where all pages of the inspector keep the reader's key: in the storage of the tab, which ends with it. */
export const KEY_ITEM = 'wavetrain-key';

/** Names a key without telling it, by 32 bits of FNV-1a: what a browser keeps for whoever has the key stands under it. */
export function nameKey(key: string): string {
  let hash = 0x811c9dc5;
  for (const character of key) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** True when a key can stand in a header. */
export function isPossibleKey(key: string): boolean {
  return /^[\x21-\x7e]+$/.test(key);
}
