/** A field of another product, and the map that it stands in. */
export interface ForeignWord {
  readonly field: string;
  /** The field as one word: see `normalizeWord`. */
  readonly word: string;
  readonly value: unknown;
  readonly owner: Readonly<Record<string, unknown>>;
  /** The fields that the map may have. */
  readonly known: readonly string[];
}

/** `dependsOn`, `depends-on` and `DEPENDS_ON` are one word. */
export function normalizeWord(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, '');
}
