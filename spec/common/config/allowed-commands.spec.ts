import { expect } from 'chai';
import { AllowedCommands, readCommands } from '../../../lib/common/config/allowed-commands.js';

describe('AllowedCommands (D88)', () => {
  const refuse = (text: string, program: string | undefined, tenant = 'acme'): string | undefined =>
    AllowedCommands.parse(text).refuse(program, tenant);

  for (const text of ['', ' , ', '  ']) {
    it(`allows nothing when the list is ${JSON.stringify(text)}`, () => {
      expect(refuse(text, 'git')).to.equal('"git" may not be started (no program is allowed here)');
      expect(AllowedCommands.parse(text).isEmpty).to.equal(true);
    });
  }

  it('allows the programs of a list, and names them to who wants another one', () => {
    expect(refuse('git, python3', 'git')).to.equal(undefined);
    expect(refuse('git, python3', 'bash')).to.equal('"bash" may not be started (allowed here: git, python3)');
  });

  it('takes a path for itself alone, and a name for what PATH leads to', () => {
    expect(refuse('/usr/bin/git', '/usr/bin/git')).to.equal(undefined);
    expect(refuse('git', '/tmp/git')).to.be.a('string');
    expect(refuse('git', './git')).to.be.a('string');
    expect(refuse('/usr/bin/git', 'git')).to.be.a('string');
  });

  it('allows all programs by *', () => {
    expect(refuse('*', 'anything')).to.equal(undefined);
    expect(AllowedCommands.parse('*').describe()).to.equal('all programs');
  });

  it('allows a program to one tenant alone', () => {
    const text = 'git,acme:python3,beta:*';
    expect(refuse(text, 'python3', 'acme')).to.equal(undefined);
    expect(refuse(text, 'python3', 'other')).to.equal('"python3" may not be started (allowed here: git)');
    expect(refuse(text, 'bash', 'beta')).to.equal(undefined);
    expect(refuse('beta:*', 'bash', 'acme')).to.contain('no program is allowed here');
    expect(AllowedCommands.parse(text).describe()).to.equal('git, acme:python3, beta: all programs');
  });

  it('lets a program that a value names wait for its task, where any is allowed', () => {
    expect(refuse('git', undefined)).to.equal(undefined);
    expect(refuse('', undefined)).to.equal('a program may not be started (no program is allowed here)');
  });

  it('names a wrong entry of SERVICE_COMMANDS', () => {
    expect(() => readCommands({ SERVICE_COMMANDS: 'git,rm -rf' }))
      .to.throw('SERVICE_COMMANDS')
      .with.property('message')
      .that.contains('"rm -rf" is none');
    expect(readCommands({}).isEmpty).to.equal(true);
  });
});
