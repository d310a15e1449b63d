/** What the parent asks of a child through the channel between the two processes, and what it is answered. */
export interface Question {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}

export interface Reply {
  readonly id: number;
  readonly value: unknown;
}

type Answers = Readonly<Record<string, (input: unknown) => unknown>>;

/** Answers the parent until it lets go, then ends this process in the usual way, so that a profile is written. */
export function answerParent(url: string, answers: Answers): void {
  process.on('message', (question) => {
    void answer(question as Question, answers);
  });
  process.on('disconnect', () => process.exit(0));
  tell({ id: READY, value: url });
}

/** The id of the first message of a child: it is ready, and reached at the address in it. */
export const READY = 0;

async function answer({ id, name, input }: Question, answers: Answers): Promise<void> {
  const asked = answers[name];
  if (asked === undefined) throw new Error(`nobody answers "${name}"`);
  tell({ id, value: await asked(input) });
}

function tell(reply: Reply): void {
  process.send?.(reply);
}
