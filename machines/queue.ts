/** First come, first served. A plain array's `shift` moves all that is behind the first. */
export class Queue<T> {
  #waiting: T[] = [];
  #head = 0;

  push(value: T): void {
    this.#waiting.push(value);
  }

  shift(): T | undefined {
    const first = this.#waiting[this.#head++];
    if (this.#head >= this.#waiting.length) {
      this.#waiting = [];
      this.#head = 0;
    }
    return first;
  }
}
