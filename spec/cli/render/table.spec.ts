import { expect } from 'chai';
import { formatColumns } from '../../../lib/cli/render/table.js';
import { createTerminal } from './terminal.js';

describe('A table of the terminal', () => {
  it('has as many rows as there are, also beyond the arguments that a function can have', () => {
    const rows = Array.from({ length: 300_000 }, (_, index) => String(index));
    const column = { heading: 'A', cell: (row: string) => row };
    const lines = formatColumns({ rows, columns: [column], last: column }, createTerminal());
    expect(lines).to.have.length(300_001);
    expect(lines.at(-1)).to.equal('299999  299999');
  });
});
