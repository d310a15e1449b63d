/** Renders the screen of a terminal after it has received the text; supports the codes of a live display. */
export function renderScreen(text: string): string {
  const rows: string[] = [''];
  let [row, column] = [0, 0];
  const line = (): string => rows[row] ?? '';
  const put = (character: string): void => {
    rows[row] = line().padEnd(column).slice(0, column) + character + line().slice(column + 1);
    column++;
  };
  const go = (to: number): void => {
    row = Math.max(0, to);
    while (rows.length <= row) rows.push('');
  };
  // oxlint-disable-next-line no-control-regex -- terminals receive it
  const pieces = /\u001B\[(\??)(\d*)(?:;\d*)*([A-Za-z])|([\s\S])/gu;
  for (const [, isPrivate, count = '', command, character] of text.matchAll(pieces)) {
    const times = count === '' ? 1 : Number(count);
    if (character === '\n') {
      go(row + 1);
      column = 0;
    } else if (character !== undefined) put(character);
    else if (isPrivate) continue;
    else if (command === 'A') go(row - times);
    else if (command === 'B') go(row + times);
    else if (command === 'G') column = times - 1;
    else if (command === 'K') rows[row] = count === '2' ? '' : line().slice(0, column);
    else if (command !== 'm') throw new Error(`unsupported terminal command ${command}`);
  }
  return rows.map((shown) => shown.trimEnd()).join('\n');
}
