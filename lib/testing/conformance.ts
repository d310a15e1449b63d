/** One demand of a contract: a sentence, and a check that rejects when it is not met. */
export interface ConformanceCase {
  readonly title: string;
  readonly run: () => Promise<void>;
}
