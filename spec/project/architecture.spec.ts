import { expect } from 'chai';
import { type Import, type SourceFile, sourceFiles } from './imports.js';
import { filesBelow, read } from './files.js';
import { LISTED_THROWS, PACKAGES, ROOMS, SURROUNDINGS } from './laws.js';

const files = sourceFiles();

describe('The architecture', () => {
  describe('imports point down (law L4)', () => {
    it('knows every room, and no other', () => {
      const rooms = new Set(files.map(({ path }) => roomOf(path)));
      expect([...rooms].sort()).to.deep.equal(Object.keys(ROOMS).sort());
    });

    for (const [room, { may, types = [], reason }] of Object.entries(ROOMS)) {
      it(`${room} imports ${list([...may, ...types.map((name) => `types of ${name}`)])}: ${reason}`, () => {
        const allowed = ({ target, isType }: Import): boolean => {
          const other = roomOf(target);
          return other === room || may.includes(other) || (isType && types.includes(other));
        };
        expect(
          importsOf(room)
            .filter(([, found]) => !found.isPackage && !allowed(found))
            .map(shown),
        ).to.deep.equal([]);
      });
    }

    it('allows nothing that nobody does', () => {
      const idle = Object.entries(ROOMS).flatMap(([room, { may, types = [] }]) => {
        if (room === 'index') return [];
        const used = new Set(importsOf(room).map(([, { target }]) => roomOf(target)));
        return [...may, ...types].filter((name) => !used.has(name)).map((name) => `${room} -> ${name}`);
      });
      expect(idle).to.deep.equal([]);
    });

    it('has no circle, types included', () => {
      expect(circleAmong(files)).to.deep.equal([]);
    });
  });

  describe('packages stand in one place', () => {
    it('are those of package.json', () => {
      const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(read('package.json'));
      expect(Object.keys(PACKAGES).sort()).to.deep.equal(Object.keys(dependencies).sort());
    });

    for (const [name, { rooms, types = [], reason }] of Object.entries(PACKAGES)) {
      it(`${name} in ${list(rooms)}: ${reason}`, () => {
        const found = files.flatMap((file) =>
          file.imports
            .filter(({ target }) => target === name)
            .filter(
              ({ isType }) =>
                !rooms.includes(roomOf(file.path)) && !(isType && types.includes(roomOf(file.path))),
            )
            .map(() => file.path),
        );
        expect(found).to.deep.equal([]);
      });
    }
  });

  describe('the machines know when, never what (law L1)', () => {
    it('import xstate and each other', () => {
      const foreign = importsOf('machines').filter(([, { target, isPackage }]) =>
        isPackage ? target !== 'xstate' : roomOf(target) !== 'machines',
      );
      expect(foreign.map(shown)).to.deep.equal([]);
    });

    it('never mention time, processes, templates, tenants or YAML', () => {
      const words =
        /\b(?:Date|setTimeout|setInterval|setImmediate|performance|process|tenant\w*|template\w*|yaml)\b/i;
      expect(linesOf(inRoom('machines'), words)).to.deep.equal([]);
    });
  });

  for (const room of ['cli', 'http']) {
    it(`lib/${room} reaches runs through the registry alone, and knows the rest by type (law L2)`, () => {
      const reached = importsOf(room).filter(([, { target, isType }]) => {
        return !isType && ['runs', 'execution', 'machines'].includes(roomOf(target));
      });
      expect(new Set(reached.map(([, { target }]) => target))).to.deep.equal(
        new Set(['lib/runs/registry.ts']),
      );
    });
  }

  it('a status is made in machines/status.ts alone: nowhere else is the word assigned or returned (law L3)', () => {
    const made =
      /(?:\bstatus\s*[:=]|\breturn|=>|(?<!\?)\?)\s*'(?:queued|running|succeeded|failed|cancelled)'/;
    const elsewhere = files.filter(({ path }) => path.startsWith('lib/') || path === 'machines/run.ts');
    expect(linesOf(elsewhere, made)).to.deep.equal([]);
    const makers = files.filter(({ code }) => /Record<[^;]*, RunStatus>>? =/.test(code));
    expect(makers.map(({ path }) => path)).to.deep.equal(['machines/status.ts']);
  });

  describe('surroundings are parameters (law L5)', () => {
    for (const { what, pattern, only } of SURROUNDINGS) {
      it(`${what}: ${Object.entries(only)
        .map(([path, why]) => `${path} (${why})`)
        .join(', ')}`, () => {
        const paths = files.filter(({ code }) => pattern.test(code)).map(({ path }) => path);
        expect(paths).to.deep.equal(Object.keys(only).sort());
      });
    }
  });

  it('what is thrown without a code is listed, with the reason (law L6)', () => {
    const untyped = files.filter(({ code }) => /\bthrow new (?:Error|TypeError|RangeError)\(/.test(code));
    expect(untyped.map(({ path }) => path)).to.deep.equal(Object.keys(LISTED_THROWS).sort());
  });

  it('every implementation of a contract is run through its suite (law L7)', () => {
    const specs = filesBelow('spec', '.spec.ts').map((path) => read(path));
    const untested = files.flatMap(({ code }) =>
      [...code.matchAll(/\bclass (\w+)[^{]* implements [^{]*\b(Blackboard|Executor)\b/g)]
        .map(([, name = '', contract = '']) => ({ name, suite: `${contract.toLowerCase()}Suite` }))
        .filter(({ name }) => name !== 'DistributedExecutor')
        .filter(
          ({ name, suite }) => !specs.some((spec) => spec.includes(`new ${name}(`) && spec.includes(suite)),
        )
        .map(({ name, suite }) => `${name} without ${suite}`),
    );
    expect(untested).to.deep.equal([]);
  });
});

/** `machines`; `definition` for lib/definition/problem.ts; `errors` for lib/common/errors.ts. */
function roomOf(path: string): string {
  const [top = '', folder = '', name = ''] = path.split('/');
  if (top !== 'lib') return top;
  return (folder === 'common' ? name : folder).replace(/\.ts$/, '');
}

function inRoom(room: string): SourceFile[] {
  return files.filter(({ path }) => roomOf(path) === room);
}

function importsOf(room: string): [SourceFile, Import][] {
  return inRoom(room).flatMap((file) => file.imports.map((found): [SourceFile, Import] => [file, found]));
}

function shown([file, { target, isType }]: [SourceFile, Import]): string {
  return `${file.path} imports ${isType ? 'types of ' : ''}${target}`;
}

function linesOf(among: readonly SourceFile[], pattern: RegExp): string[] {
  return among.flatMap(({ path, code }) =>
    code
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
  );
}

/** The first circle of imports, file by file; empty when there is none. */
function circleAmong(all: readonly SourceFile[]): string[] {
  const next = new Map(all.map(({ path, imports }) => [path, imports.map(({ target }) => target)]));
  const done = new Set<string>();
  const follow = (path: string, way: readonly string[]): string[] => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (done.has(path)) return [];
    for (const target of next.get(path) ?? []) {
      const circle = follow(target, [...way, path]);
      if (circle.length > 0) return circle;
    }
    done.add(path);
    return [];
  };
  return all.map(({ path }) => follow(path, [])).find((circle) => circle.length > 0) ?? [];
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'nothing of ours' : names.join(', ');
}
