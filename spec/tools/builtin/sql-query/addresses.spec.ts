import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import type { LookupAddress } from 'node:dns';
import { catchRejection } from '../../../support/rejection.js';
import { createSqlTools } from './sql-context.js';

describe('The addresses of databases (D51, D92)', () => {
  const connections: Socket[] = [];
  const server: Server = createServer((socket) => {
    connections.push(socket);
    socket.destroy();
  });
  let port = 0;
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (typeof address === 'object' && address !== null) ({ port } = address);
  });
  after(() => server.close());
  beforeEach(() => connections.splice(0));

  for (const scheme of ['postgres', 'mysql'])
    for (const host of [
      '127.0.0.1',
      '[::1]',
      '0.0.0.0',
      '169.254.169.254',
      '2130706433',
      '[::ffff:127.0.0.1]',
    ])
      it(`are refused when they are private: ${scheme}://${host}`, async () => {
        const { query } = createSqlTools({});
        const error = await catchRejection(
          query({ url: `${scheme}://u:p@${host}:${port}/db`, query: 'select 1' }),
        );
        expect(String(error)).to.match(/(private or reserved|metadata service).*SERVICE_ALLOW_NETWORKS/);
        expect(connections).to.have.length(0);
      });

  it('are refused when a name leads to a private one', async () => {
    const resolve = async (): Promise<LookupAddress[]> => [{ address: '127.0.0.1', family: 4 }];
    const { query } = createSqlTools({ resolve });
    const error = await catchRejection(
      query({ url: `postgres://u:p@db.example:${port}/db`, query: 'select 1' }),
    );
    expect(String(error)).to.include('"db.example" has a private or reserved address');
    expect(connections).to.have.length(0);
  });

  it('are looked up once: the one that was checked is connected to', async () => {
    let lookups = 0;
    const resolve = async (): Promise<LookupAddress[]> => {
      const address = lookups++ === 0 ? '127.0.0.1' : '127.0.0.2';
      return [{ address, family: 4 }];
    };
    const { query } = createSqlTools({ resolve, allows: (address) => address === '127.0.0.1' });
    const error = await catchRejection(
      query({ url: `postgres://u:p@db.example:${port}/db`, query: 'select 1' }),
    );
    expect(String(error)).to.include('no connection to PostgreSQL');
    expect([lookups, connections.length]).to.deep.equal([1, 1]);
  });

  it('are not shown when nothing answers there, and another attempt may find it', async () => {
    const { query } = createSqlTools({
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      allowPrivate: true,
    });
    const error = await catchRejection(query({ url: 'postgres://u:p@db.example:1/db', query: 'select 1' }));
    expect(String(error)).to.include('nothing answers at this address').and.not.to.include('127.0.0.1');
    expect(error).to.have.property('retryable', true);
  });
});
