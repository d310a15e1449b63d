import { expect } from 'chai';
import type { TemplateProblem } from '../../../../lib/definition/template/expressions/expression.js';
import { parseTemplate } from '../../../../lib/definition/template/parsing/parser.js';

describe('Template syntax errors', () => {
  function problemOf(text: string): TemplateProblem {
    const parsed = parseTemplate(text);
    if (parsed?.ok !== false) throw new Error(`${text} has no problem`);
    const [problem, ...others] = parsed.problems;
    if (problem === undefined || others.length > 0)
      throw new Error(`${text} has ${parsed.problems.length} problems`);
    return problem;
  }

  const TRANSFORM = /the transform tool/;
  const cases: [text: string, message: RegExp, hint: RegExp | undefined, offset: number][] = [
    ['{{}}', /is empty/, /\{\{task\.output\}\}/, 2],
    ['x {{  }}', /is empty/, /such as/, 6],
    ['{{a', /not closed/, /"}}"/, 0],
    ['{{a }', /not closed/, /"}}"/, 0],
    ['{{a } }}', /must close with two braces/, /write "}}"/, 4],
    ['{{a ?? {"k":1 }}', /must close with two braces/, /its own brace/, 15],
    ['{{a | upper}}', /no filters/, TRANSFORM, 4],
    ['{{a ?? "x" | upper}}', /no filters/, TRANSFORM, 11],
    ['{{f(x)}}', /no function calls/, TRANSFORM, 3],
    ['{{a.b (1)}}', /no function calls/, TRANSFORM, 6],
    ['{{(a)}}', /no parentheses/, TRANSFORM, 2],
    ['{{a.b + 1}}', /operators such as "\+"/, TRANSFORM, 6],
    ['{{a.b - 1}}', /operators such as "-"/, TRANSFORM, 6],
    ['{{a.b * 2}}', /operators such as "\*"/, TRANSFORM, 6],
    ['{{a.b / 2}}', /operators such as "\/"/, TRANSFORM, 6],
    ['{{a.b > 2}}', /operators such as ">"/, TRANSFORM, 6],
    ['{{a.b <= 2}}', /operators such as "<="/, TRANSFORM, 6],
    ['{{a.b == 2}}', /operators such as "=="/, TRANSFORM, 6],
    ['{{a.b && c}}', /operators such as "&&"/, TRANSFORM, 6],
    ['{{a.b || c}}', /operators such as "\|\|"/, TRANSFORM, 6],
    ['{{a.b and c}}', /operators such as "and"/, TRANSFORM, 6],
    ['{{!a.b}}', /operators such as "!"/, TRANSFORM, 2],
    ['{{a ? b : c}}', /no "\? :"/, TRANSFORM, 4],
    ['{{a?.b}}', /no "\?\."/, /\?\? null/, 3],
    ['{{#if a}}', /no blocks/, TRANSFORM, 2],
    ['{{"x"}}', /literal needs no template/, /without braces/, 2],
    ["{{ 'x' }}", /literal needs no template/, /without braces/, 3],
    ['{{42}}', /literal needs no template/, /without braces/, 2],
    ['{{-1}}', /literal needs no template/, /without braces/, 2],
    ['{{true}}', /literal needs no template/, /without braces/, 2],
    ['{{[1]}}', /literal needs no template/, /without braces/, 2],
    ['{{{a.b}}}', /third brace/, /add a space/, 2],
    ['{{ {a} }}', /cannot contain braces/, /do not nest/, 3],
    ['{{-a}}', /cannot start with "-"/, undefined, 2],
    ['{{.a}}', /must start with a name, not with "\."/, undefined, 2],
    ['{{a.}}', /name is missing after "\."/, /\["any key"\]/, 3],
    ['{{a..b}}', /name is missing after "\."/, /\["any key"\]/, 3],
    ['{{a.*.b}}', /no slices and no wildcards/, TRANSFORM, 3],
    ['{{a[*]}}', /no slices and no wildcards/, TRANSFORM, 3],
    ['{{a[0:2]}}', /no slices and no wildcards/, TRANSFORM, 3],
    ['{{a[0}}', /bracket is not closed/, /"\]"/, 3],
    ['{{a["x"}}', /bracket is not closed/, /"\]"/, 3],
    ['{{a["x]}}', /quoted string is not closed/, undefined, 4],
    ['{{a[]}}', /bracket is empty/, /\[0\]/, 3],
    ['{{a[b]}}', /an index .* or a quoted key/, /\["any key"\]/, 3],
    ['{{a[01]}}', /leading zeros/, /\[0\]/, 3],
    ['{{a["\\q"]}}', /invalid escape/, /JSON/, 4],
    ['{{a b}}', /unexpected "b" in a path/, /\["any key"\]/, 4],
    ['{{a.😀}}', /name is missing after "\."/, /\["any key"\]/, 3],
    ['{{a😀}}', /unexpected "😀" in a path/, /\["any key"\]/, 3],
    ['{{a ?? 1 b}}', /unexpected "b" after the literal/, undefined, 9],
    ['{{a ?? 1 ?? 2}}', /only one "\?\?"/, undefined, 9],
    ['{{a ??}}', /literal is missing/, /JSON literal/, 6],
    ['{{a ?? b.c}}', /"b" is not a JSON literal/, TRANSFORM, 7],
    ['{{a ?? None}}', /"None" is not a JSON literal/, /write null/, 7],
    ['{{a ?? True}}', /"True" is not a JSON literal/, /write true/, 7],
    ["{{a ?? 'x'}}", /single-quoted/, /double quotes/, 7],
    ["{{a ?? ['x']}}", /single-quoted/, /double quotes/, 8],
    ['{{a ?? {k: 1}}}', /key .* double quotes/, undefined, 8],
    ['{{a ?? {"k" 1}}}', /":" is missing/, undefined, 12],
    ['{{a ?? [1 2]}}', /"," or "\]" is missing/, undefined, 10],
    ['{{a ?? [1,]}}', /cannot have a comma after its last value/, /remove/, 10],
    ['{{a ?? 01}}', /"01" is not a JSON literal/, /JSON literal/, 7],
    ['{{a ?? 1e999}}', /too large/, undefined, 7],
  ];
  for (const [text, message, hint, offset] of cases) {
    it(`report for ${text}: ${message.source}`, () => {
      const problem = problemOf(text);
      expect(problem.message).to.match(message);
      expect(problem.offset).to.equal(offset);
      if (hint === undefined) expect(problem).not.to.have.property('hint');
      else expect(problem.hint).to.match(hint);
    });
  }

  it('stay short whatever the text contains', () => {
    for (const text of [
      `{{a ${'b'.repeat(10_000)}}}`,
      `{{a ?? ${'b'.repeat(10_000)}}}`,
      `{{a[${'1'.repeat(10_000)}]}}`,
    ]) {
      expect(problemOf(text).message).to.have.length.below(100);
    }
  });
});
