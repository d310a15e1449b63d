/** Texts by name, which people give to a run to find it among others (D76). No name has a colon. */
export type Labels = Readonly<Record<string, string>>;

/** Returns labels as filters and searches have them, as in `team:billing`. */
export function listLabels(labels: Labels): readonly string[] {
  return Object.entries(labels).map(([name, value]) => `${name}:${value}`);
}

/** Reads a label as a filter has it: the text before the first colon is its name. Returns undefined for what is none. */
export function readLabel(text: string): readonly [name: string, value: string] | undefined {
  const end = text.indexOf(':');
  return end < 1 ? undefined : [text.slice(0, end), text.slice(end + 1)];
}

/** True when a run has all the labels of a filter, such as `team:billing`. */
export function matchesLabels(filter: readonly string[], labels: Labels): boolean {
  return filter.every((text) => {
    const [name = '', value] = readLabel(text) ?? [];
    return Object.hasOwn(labels, name) && labels[name] === value;
  });
}
