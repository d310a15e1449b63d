import { expect } from 'chai';
import { applyFix } from '../../support/definitions/apply-fix.js';
import { checkTaskList, onlyProblem } from '../../support/definitions/check-pipeline.js';

const HEAD = '- id: m\n  tool: mock\n- id: s\n  tool: command\n  inputs:\n';

/** Checks a task with these lines of inputs, and returns its only problem with the lines after its fix. */
function check(...lines: string[]) {
  const tasks = HEAD + lines.map((line) => `    ${line}\n`).join('');
  const text = `pipeline:\n  id: spec\n  goal: be checked\n  tasks:\n${tasks.replaceAll(/^/gm, '    ')}\n`;
  const problem = onlyProblem(checkTaskList(tasks));
  const after = problem.fix === undefined ? [] : applyFix(text, problem.fix).split('\n');
  const fixed = after.slice(after.indexOf('      inputs:') + 1).map((line) => line.trim());
  return { ...problem, fixed: fixed.filter((line) => line !== '') };
}

describe('A template in a script (D88)', () => {
  it('is an error, whose fix passes the value in a variable', () => {
    const problem = check('script: ls {{m.output.folder}}');
    expect(problem).to.deep.include({
      code: 'template_in_script',
      severity: 'error',
      message: '{{m.output.folder}} in a script: a value in it could change what the script does',
      hint: 'pass it in a variable: write "$FOLDER", and env: {FOLDER: "{{m.output.folder}}"}',
    });
    expect(problem.fixed).to.deep.equal(['script: ls "$FOLDER"', 'env:', 'FOLDER: "{{m.output.folder}}"']);
  });

  it('keeps the double quotes that it stands in, and the variables that there are', () => {
    const { fixed } = check(
      'shell: sh',
      'script: |',
      '  echo "to {{m.output.a}}"',
      '  rm -- {{m.output.b}}',
      'env:',
      '  A: 1',
    );
    expect(fixed).to.deep.equal([
      'shell: sh',
      'script: |',
      'echo "to ${A_2}"',
      'rm -- "$B"',
      'env:',
      'A: 1',
      'A_2: "{{m.output.a}}"',
      'B: "{{m.output.b}}"',
    ]);
  });

  for (const [title, ...lines] of [
    ['in single quotes', `script: "echo '{{m.output}}'"`],
    ['in a text of its own', 'script: |', '  cat <<END', '  {{m.output}}', '  END'],
    ['beside variables that are a template', 'script: ls {{m.output}}', 'env: "{{m.output}}"'],
  ] as const) {
    it(`has no fix ${title}, where the right one is not clear`, () => {
      const { code, fix, hint } = check(...lines);
      expect({ code, fix }).to.deep.equal({ code: 'template_in_script', fix: undefined });
      expect(hint).to.equal('write "$NAME" in its place, and the template as the value of NAME in "env"');
    });
  }

  for (const [shell, read] of [
    ['python3', 'os.environ["NAME"]'],
    ['node', 'process.env.NAME'],
  ] as const) {
    it(`says how ${shell} reads a variable`, () => {
      const { hint, fix } = check(`shell: ${shell}`, 'script: print({{m.output}})');
      expect(hint).to.equal(`write ${read} in its place, and the template as the value of NAME in "env"`);
      expect(fix).to.equal(undefined);
    });
  }

  it('is none in arguments, variables and standard input, which are no code', () => {
    const inputs = '{run: [ls, "{{m.output}}"], env: {A: "{{m.output}}"}, stdin: "{{m.output}}"}';
    expect(
      checkTaskList(`- {id: m, tool: mock}\n- {id: s, tool: command, inputs: ${inputs}}`).problems,
    ).to.deep.equal([]);
  });
});
