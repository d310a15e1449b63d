import { expect } from 'chai';
import { delimiter } from 'node:path';
import { readConfig, systemEnvironment, VARIABLES } from '../../lib/common/config.js';
import { WavetrainError } from '../../lib/common/errors.js';

describe('readConfig', () => {
  it('is empty when no variable is set', () => {
    expect(readConfig({})).to.deep.equal({ fileRoots: [], tools: [] });
    expect(readConfig({ SERVICE_FILE_ROOTS: '', SERVICE_TOOLS: ' ' })).to.deep.equal({
      fileRoots: [],
      tools: [],
    });
  });

  it('splits lists like PATH, and drops blanks and empty parts (D48, D51)', () => {
    const env = {
      SERVICE_FILE_ROOTS: ['/srv/data', ' relative ', ''].join(delimiter),
      SERVICE_TOOLS: ['./tools.ts', '@acme/tools'].join(delimiter),
    };
    expect(readConfig(env)).to.deep.equal({
      fileRoots: ['/srv/data', 'relative'],
      tools: ['./tools.ts', '@acme/tools'],
    });
  });

  for (const value of ['~', '~/data', 'fine\0not', ['fine', '~/data'].join(delimiter)]) {
    it(`rejects ${JSON.stringify(value)} with the variable and an example`, () => {
      for (const name of ['SERVICE_FILE_ROOTS', 'SERVICE_TOOLS']) {
        expect(() => readConfig({ [name]: value }))
          .to.throw(WavetrainError, `the environment variable ${name} `)
          .that.includes({ code: 'bad_usage' });
        expect(() => readConfig({ [name]: value })).to.throw(`, as in ${name}=`);
      }
    });
  }

  it('lists every variable that it reads with a description', () => {
    const read = new Set<string>();
    readConfig(
      new Proxy(
        {},
        {
          get: (_, name) => {
            read.add(String(name));
            return undefined;
          },
        },
      ),
    );
    const named = VARIABLES.map(({ name }) => name);
    expect(named).to.include.members([...read]);
    for (const { description } of VARIABLES) expect(description).not.to.equal('');
  });

  it('reads the variables of this process', () => {
    expect(systemEnvironment()).to.equal(process.env);
  });
});
