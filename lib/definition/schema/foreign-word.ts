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

/** Maps words, which stand in texts with spaces between them, to what each text of them means. */
export function mapWords<T>(
  groups: readonly (readonly [words: string, meaning: T])[],
): ReadonlyMap<string, T> {
  return new Map(
    groups.flatMap(([words, meaning]) => words.split(' ').map((word) => [normalizeWord(word), meaning])),
  );
}

/** `dependsOn`, `depends-on` and `DEPENDS_ON` are one word. */
export function normalizeWord(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, '');
}
