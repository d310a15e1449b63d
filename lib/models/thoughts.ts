const THOUGHTS = /^\s*<(think|thinking|reasoning)>[\s\S]*?<\/\1>/i;
/** Some servers leave out the tag that opens the thoughts. */
const END_OF_THOUGHTS = /<\/(?:think|thinking|reasoning)>/i;

/** JSON, or a code fence. */
const START_OF_JSON = /^\s*[[{`~]/;

/**
 * Leaves out what a model thinks aloud before its answer: `<think>…</think>`, `<thinking>…` or `<reasoning>…`, whose
 * beginning may be missing. Takes time linear in the text.
 *
 * @param isPartOfAnswer whether an end without its beginning stands in the answer itself, such as in a quote, by the text
 *   before and after it. Default: when the text begins with JSON or with a code fence
 */
export function withoutThoughts(
  text: string,
  isPartOfAnswer: (before: string, after: string) => boolean = (before) => START_OF_JSON.test(before),
): string {
  const [thoughts] = THOUGHTS.exec(text) ?? [];
  if (thoughts !== undefined) return text.slice(thoughts.length);
  const end = END_OF_THOUGHTS.exec(text);
  if (end === null) return text;
  const after = text.slice(end.index + end[0].length);
  return isPartOfAnswer(text.slice(0, end.index), after) ? text : after;
}
