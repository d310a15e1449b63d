import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** A frame of a stream of Server-Sent Events; `beat` is a comment, which says that both sides are still there. */
export type EventFrame = 'beat' | EventSourceMessage;

/** The frames of an answer, as they come. One that was cut off is not among them. */
export async function* eventFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<EventFrame> {
  const decoder = new TextDecoder();
  let frames: EventFrame[] = [];
  const parser = createParser({
    onEvent: (message) => void frames.push(message),
    onComment: () => void frames.push('beat'),
  });
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
    const ready = frames;
    frames = [];
    yield* ready;
  }
}
