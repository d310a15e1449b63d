import { expect } from 'chai';
import { delimiter } from 'node:path';
import { VARIABLES, readConfig, readProviderConfig } from '../../../lib/common/config/config.js';
import { readNetworkConfig } from '../../../lib/common/config/network-config.js';
import { systemEnvironment } from '../../../lib/common/config/environment.js';
import {
  readServerConfig,
  readStoreFile,
  SERVER_VARIABLES,
} from '../../../lib/common/config/server-config.js';
import { WavetrainError } from '../../../lib/common/errors.js';

describe('readConfig', () => {
  it('is empty when no variable is set', () => {
    expect(readConfig({})).to.deep.equal({ fileRoots: [], writeRoots: [], tools: [] });
    const blank = readConfig({ SERVICE_FILE_ROOTS: '', SERVICE_TOOLS: ' ' });
    expect(blank).to.deep.equal({ fileRoots: [], writeRoots: [], tools: [] });
  });

  it('splits lists like PATH, and drops blanks and empty parts (D48, D51)', () => {
    const env = {
      SERVICE_FILE_ROOTS: ['/srv/data', ' relative ', ''].join(delimiter),
      SERVICE_TOOLS: ['./tools.ts', '@acme/tools'].join(delimiter),
    };
    expect(readConfig(env)).to.deep.equal({
      fileRoots: ['/srv/data', 'relative'],
      writeRoots: [],
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
    readConfig(new Proxy({}, { get: (_, name) => void read.add(String(name)) }));
    const named = VARIABLES.map(({ name }) => name);
    expect(named).to.include.members([...read]);
    for (const { description } of VARIABLES) expect(description).not.to.equal('');
  });

  it('reads the variables of this process', () => {
    expect(systemEnvironment()).to.equal(process.env);
  });
});

describe('readNetworkConfig and readProviderConfig (D51)', () => {
  it('closes the private network, and configures nobody, by default', () => {
    expect(readNetworkConfig({})).to.deep.equal({ allowPrivate: false, allowNetworks: [] });
    expect(readNetworkConfig({ SERVICE_ALLOW_PRIVATE_NETWORK: ' True ' })).to.deep.equal({
      allowPrivate: true,
      allowNetworks: [],
    });
    expect(
      readNetworkConfig({ SERVICE_ALLOW_NETWORKS: '10.2.0.0/16, erp.internal:8443' }).allowNetworks,
    ).to.deep.equal(['10.2.0.0/16', 'erp.internal:8443']);
    expect(Object.values(readProviderConfig({ SEC_USER_AGENT: ' ' }))).to.deep.equal(
      Array(4).fill(undefined),
    );
  });

  it('reads providers and keys', () => {
    const env = {
      SEC_USER_AGENT: 'A a@a.example',
      SERVICE_SEARCH_PROVIDER: 'brave',
      BRAVE_API_KEY: 'b',
      SERPAPI_API_KEY: 's',
    };
    const expected = {
      secUserAgent: 'A a@a.example',
      searchProvider: 'brave',
      braveKey: 'b',
      serpapiKey: 's',
    };
    expect(readProviderConfig(env)).to.deep.equal(expected);
  });

  for (const [read, env] of [
    [readNetworkConfig, { SERVICE_ALLOW_PRIVATE_NETWORK: '1' }],
    [readNetworkConfig, { SERVICE_ALLOW_NETWORKS: '10.2.0.0/33' }],
    [readProviderConfig, { SERVICE_SEARCH_PROVIDER: 'https://search.example/' }],
    [readProviderConfig, { SERVICE_SEARCH_PROVIDER: 'bing' }],
  ] as const) {
    it(`rejects ${JSON.stringify(env)} with the valid values`, () => {
      expect(() => read(env)).to.throw(WavetrainError, `${Object.keys(env).join()} must `);
    });
  }
});

describe('readServerConfig: SERVICE_MEMORY and the heap (Limits)', () => {
  const MIB = 2 ** 20;

  it('reads durations as whole seconds, or as texts (D82)', () => {
    const { runTtlMs, idempotencyTtlMs, pauseMs, shutdownMs } = readServerConfig({
      SERVICE_RUN_TTL: '90d',
      SERVICE_IDEMPOTENCY_TTL: ' 1h30m ',
      SERVICE_PAUSE_SECONDS: '60',
      SERVICE_SHUTDOWN_SECONDS: '500ms',
    });
    expect({ runTtlMs, idempotencyTtlMs, pauseMs, shutdownMs }).to.deep.equal({
      runTtlMs: 90 * 86_400_000,
      idempotencyTtlMs: 5_400_000,
      pauseMs: 60_000,
      shutdownMs: 500,
    });
    for (const wrong of ['0s', '3651d', '5x', '1.5', '-1', '5 minutes', '1e3']) {
      expect(() => readServerConfig({ SERVICE_RUN_TTL: wrong }), wrong).to.throw(
        `must be a whole number of seconds from 1 to 315360000, or a text such as 30s, 5m, 1h30m, 2d, not "${wrong}"`,
      );
    }
  });

  it('reads every variable that takes seconds as text, too (D82)', () => {
    const timed = SERVER_VARIABLES.filter(({ description }) => /\bseconds\b/.test(description));
    expect(timed).to.have.length.above(3);
    for (const { name, description } of timed) {
      expect(description).to.match(/in seconds or as in \d+[dhms]/);
      for (const value of ['30', '30s', '5m']) {
        expect(() => readServerConfig({ [name]: value }), `${name}=${value}`).not.to.throw();
      }
    }
  });

  it('is 256 MiB when the heap is large enough, and less when it is not', () => {
    const memory = (heapMib?: number) =>
      readServerConfig({}, heapMib === undefined ? undefined : heapMib * MIB).memoryBytes / MIB;
    expect(memory()).to.equal(256);
    expect(memory(4096)).to.equal(256);
    expect(memory(900)).to.be.within(100, 200);
    expect(memory(100)).to.equal(16);
  });

  it('refuses a setting that the heap is too small for, and says which heap and which setting would do', () => {
    const env = { SERVICE_MEMORY: '2048' };
    let message = '';
    try {
      readServerConfig(env, 1024 * MIB);
    } catch (error) {
      expect(error).to.include({ code: 'bad_usage' });
      message = (error as Error).message;
    }
    const [, heap, most] =
      /^the environment variable SERVICE_MEMORY is 2048 MiB, which needs a heap of \d+ MiB, and this process has 1024 MiB: start it with NODE_OPTIONS=--max-old-space-size=(\d+), or set at most (\d+)$/.exec(
        message,
      ) ?? [];
    expect(Number(heap)).to.equal(2.5 * 2048 + 512);
    expect(readServerConfig(env, Number(heap) * MIB).memoryBytes).to.equal(2048 * MIB);
    expect(readServerConfig({ SERVICE_MEMORY: `${most}` }, 1024 * MIB).memoryBytes).to.equal(
      Number(most) * MIB,
    );
    expect(() => readServerConfig({ SERVICE_MEMORY: `${Number(most) + 1}` }, 1024 * MIB)).to.throw(
      'a heap of',
    );
  });

  it('needs half of the heap when tenants are guaranteed nothing', () => {
    const env = { SERVICE_MEMORY: '256' };
    expect(() => readServerConfig(env, 1000 * MIB)).to.throw('--max-old-space-size=');
    expect(readServerConfig({ ...env, SERVICE_TENANT_SHARE: '0' }, 1000 * MIB).memoryBytes).to.equal(
      256 * MIB,
    );
  });

  it('always allows the smallest setting', () => {
    expect(readServerConfig({ SERVICE_MEMORY: '16' }, MIB).memoryBytes).to.equal(16 * MIB);
  });

  it('reads where runs are kept: in memory by default, else in a file, and refuses what is no path (D68)', () => {
    const read = (value: string): string | undefined => readStoreFile({ SERVICE_STORE: value });
    expect(readStoreFile({})).to.equal(undefined);
    expect(read('memory')).to.equal(undefined);
    expect(read(' data/wavetrain.db ')).to.equal('data/wavetrain.db');
    for (const value of [':memory:', 'file:runs.db', 'postgres://localhost/runs']) {
      expect(() => read(value)).to.throw('SERVICE_STORE must be the path of a file');
    }
  });
});
