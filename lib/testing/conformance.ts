/** One requirement of a contract: its title, and a check that rejects when an implementation violates it. */
export interface ConformanceCase {
  readonly title: string;
  readonly run: () => Promise<void>;
}
