import { expect } from 'chai';
import { type Import, pageFiles, type SourceFile, sourceFiles } from './imports.js';
import { filesBelow, read } from './files.js';
import { LISTED_THROWS, PACKAGES, ROOMS, RUN_ENTRY_POINTS, SURROUNDINGS } from './laws.js';

const files = sourceFiles();

describe('The architecture', () => {
  describe('imports point down, without a cycle (law L4)', () => {
    it('lists every folder in its table, and no other', () => {
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

    it('allows no import that no file uses', () => {
      const unused = Object.entries(ROOMS).flatMap(([room, { may, types = [] }]) => {
        if (room === 'index') return [];
        const used = new Set(importsOf(room).map(([, { target }]) => roomOf(target)));
        return [...may, ...types].filter((name) => !used.has(name)).map((name) => `${room} -> ${name}`);
      });
      expect(unused).to.deep.equal([]);
    });

    it('finds no import cycle, types included', () => {
      expect(findCycle(files)).to.deep.equal([]);
    });
  });

  describe('each dependency is used in one place', () => {
    it('lists every dependency, also those that are optional, of package.json', () => {
      const {
        dependencies,
        optionalDependencies,
        peerDependencies,
      }: Record<string, Record<string, string>> = JSON.parse(read('package.json'));
      const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
      expect(Object.keys(PACKAGES).sort()).to.deep.equal(names.sort());
    });

    for (const [name, { rooms, types = [], reason }] of Object.entries(PACKAGES)) {
      it(`${name} is imported by ${list(rooms)} only: ${reason}`, () => {
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

  describe('web/ runs in the browser and talks to the server by HTTP alone', () => {
    const found = pageFiles().flatMap((file) => file.imports.map((one): [SourceFile, Import] => [file, one]));

    it('imports types of lib, and of its code only what is small: the page must stay small, too', () => {
      const shared = [
        'lib/common/wire/audit-kinds.ts',
        'lib/common/scheduling/steps.ts',
        'lib/common/wire/labels.ts',
        'lib/common/wire/run-summary.ts',
        'lib/definition/schema/fields.ts',
        'lib/common/wire/started-by.ts',
        'lib/pipelines/drawing/wave-layout.ts',
      ];
      const foreign = found.filter(([, { target, isPackage, isType }]) => {
        if (isPackage || roomOf(target) === 'web' || shared.includes(target)) return false;
        return !(isType && target.startsWith('lib/'));
      });
      expect(foreign.map(shown)).to.deep.equal([]);
    });

    it('imports no package but preact, its signals and diff, and CodeMirror where texts are edited', () => {
      const packages = found
        .filter(([{ path }, { isPackage }]) => isPackage && !path.startsWith('web/console/edit/'))
        .map(([, { target }]) => target);
      expect([...new Set(packages)].sort()).to.deep.equal(['@preact/signals', 'diff', 'preact']);
      const editing = found
        .filter(([{ path }, { isPackage }]) => isPackage && path.startsWith('web/console/edit/'))
        .map(([, { target }]) => target)
        .filter((target) => !/^(?:@preact\/signals|preact|@codemirror\/[\w-]+|@lezer\/[\w-]+)$/.test(target));
      expect(editing).to.deep.equal([]);
    });

    it('has no import cycle, and sets no HTML', () => {
      expect(findCycle(pageFiles())).to.deep.equal([]);
      expect(linesOf(pageFiles(), /innerHTML|outerHTML|insertAdjacent|\beval\b|new Function/)).to.deep.equal(
        [],
      );
    });
  });

  describe('machines/ knows when things happen, never what (law L1)', () => {
    it('imports only xstate and the machines themselves', () => {
      const foreign = importsOf('machines').filter(([, { target, isPackage }]) =>
        isPackage ? target !== 'xstate' : roomOf(target) !== 'machines',
      );
      expect(foreign.map(shown)).to.deep.equal([]);
    });

    it('never mentions time, processes, templates, tenants or YAML', () => {
      const words =
        /\b(?:Date|setTimeout|setInterval|setImmediate|performance|process|tenant\w*|template\w*|yaml)\b/i;
      expect(linesOf(inRoom('machines'), words)).to.deep.equal([]);
    });
  });

  for (const room of ['cli', 'http']) {
    it(`lib/${room} reaches runs only through the registry, the stores and the format of recordings, and imports only types besides (law L2)`, () => {
      const reached = importsOf(room).filter(([, { target, isType }]) => {
        return !isType && ['runs', 'execution', 'machines'].includes(roomOf(target));
      });
      const others = new Set(reached.map(([, { target }]) => target));
      for (const entryPoint of RUN_ENTRY_POINTS) others.delete(entryPoint);
      expect([...others]).to.deep.equal([]);
    });
  }

  it('only machines/status.ts produces a run status (law L3)', () => {
    const statusProduced =
      /(?:\bstatus\s*[:=]|\breturn|=>|(?<!\?)\?)\s*'(?:queued|running|succeeded|failed|cancelled)'/;
    const elsewhere = files.filter(({ path }) => path.startsWith('lib/') || path === 'machines/run.ts');
    expect(linesOf(elsewhere, statusProduced)).to.deep.equal([]);
    const mappers = files.filter(({ code }) => /Record<[^;]*, RunStatus>>? =/.test(code));
    expect(mappers.map(({ path }) => path)).to.deep.equal(['machines/status.ts']);
  });

  describe('the environment, time and chance are parameters (law L5)', () => {
    for (const { what, pattern, only } of SURROUNDINGS) {
      it(`only these files use ${what}: ${Object.entries(only)
        .map(([path, why]) => `${path} (${why})`)
        .join(', ')}`, () => {
        const paths = files.filter(({ code }) => pattern.test(code)).map(({ path }) => path);
        expect(paths).to.deep.equal(Object.keys(only).sort());
      });
    }
  });

  it('lists every file that throws an error without a code, with the reason (law L6)', () => {
    const untyped = files.filter(({ code }) => /\bthrow new (?:Error|TypeError|RangeError)\(/.test(code));
    expect(untyped.map(({ path }) => path)).to.deep.equal(Object.keys(LISTED_THROWS).sort());
  });

  it('runs the conformance suite of a contract over each of its implementations (law L7)', () => {
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

/** `machines`; `definition` for lib/definition/problems/problem.ts; `errors` for lib/common/errors.ts. */
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

/** Returns the first import cycle, file by file; empty when there is none. */
function findCycle(all: readonly SourceFile[]): string[] {
  const next = new Map(all.map(({ path, imports }) => [path, imports.map(({ target }) => target)]));
  const done = new Set<string>();
  const follow = (path: string, trail: readonly string[]): string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return [];
    for (const target of next.get(path) ?? []) {
      const cycle = follow(target, [...trail, path]);
      if (cycle.length > 0) return cycle;
    }
    done.add(path);
    return [];
  };
  return all.map(({ path }) => follow(path, [])).find((cycle) => cycle.length > 0) ?? [];
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'nothing of ours' : names.join(', ');
}
