import { expect } from 'chai';
import type { LookupAddress } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { AddressGuard, type AddressRules } from '../../../lib/tools/fetching/address-guard.js';
import { networkAccess, type NetworkOptions } from '../../../lib/tools/fetching/network.js';
import { catchRejection } from '../../support/rejection.js';
import { fetchCaller, LoopbackServer } from './loopback-server.js';

const refuse = (rules: AddressRules, hostname: string, port = 80): string | undefined =>
  new AddressGuard(rules, ipaddr).refuseLiteral({ hostname, port })?.message;

const METADATA = [
  '169.254.169.254',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:a9fe:a9fe::1]',
  '[::a9fe:a9fe]',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '[fd00:ec2::254]',
  'metadata.google.internal',
  'METADATA.google.internal.',
];

describe('Private networks that the operator allows (SERVICE_ALLOW_NETWORKS, D51)', () => {
  let server: LoopbackServer;
  beforeEach(async () => (server = await LoopbackServer.start()));
  afterEach(() => server.close());

  const at = (address: string) => async (): Promise<LookupAddress[]> => [{ address, family: 4 }];
  const get = async (options: NetworkOptions, url: string, tenantId = 'tenant'): Promise<string> => {
    const { bytes } = await networkAccess(options).fetch(url, {}, fetchCaller({ tenantId }));
    return bytes.toString();
  };

  it('are reached by their addresses, networks and hosts, and others are refused with the entry to add', async () => {
    const byName = `http://erp.internal:${server.port}/`;
    const resolve = at('127.0.0.1');
    for (const entry of ['127.0.0.0/8', `127.0.0.1:${server.port}`])
      expect(await get({ allowNetworks: [entry] }, server.url)).to.equal('ok');
    for (const entry of ['127.0.0.1', '*.internal', `erp.internal:${server.port}`, 'all'])
      expect(await get({ allowNetworks: [entry], resolve }, byName)).to.equal('ok');
    const allowNetworks = ['10.0.0.0/8', 'erp.internal:1', 'other.internal'];
    expect(await catchRejection(get({ allowNetworks, resolve }, byName)))
      .to.have.property('message')
      .that.equals(
        `GET http://erp.internal:${server.port}/: "erp.internal" has a private or reserved address, which tools may not reach: ` +
          `add erp.internal:${server.port} to SERVICE_ALLOW_NETWORKS to allow it`,
      );
  });

  it('name a literal address in the entry to add', () => {
    expect(refuse({}, '[fd00::1]', 8443)).to.include('fd00::1 is a private or reserved address');
    expect(refuse({}, '[fd00::1]', 8443)).to.include('add [fd00::1]:8443 to SERVICE_ALLOW_NETWORKS');
    expect(refuse({}, '10.2.3.4', 443)).to.include('add 10.2.3.4:443 to SERVICE_ALLOW_NETWORKS');
  });

  it('hold for the address that is connected to: a name that changes its answer gains nothing', async () => {
    const answers = ['127.0.0.1', '127.0.0.2'];
    const network = networkAccess({
      allowNetworks: ['127.0.0.1'],
      resolve: async () => at(answers.shift() ?? '')(),
    });
    const url = `http://changing.example:${server.port}/`;
    server.handler = (_, response) => response.setHeader('connection', 'close').end('first');
    expect((await network.fetch(url, {}, fetchCaller())).bytes.toString()).to.equal('first');
    expect(await catchRejection(network.fetch(url, {}, fetchCaller()))).to.match(/private or reserved/);
  });

  it('hold for redirects', async () => {
    server.handler = (_, response) => response.writeHead(302, { location: 'http://10.2.3.4:8443/' }).end();
    expect(await catchRejection(get({ allowNetworks: ['127.0.0.1'] }, server.url))).to.match(
      /add 10\.2\.3\.4:8443 to SERVICE_ALLOW_NETWORKS/,
    );
  });

  for (const hostname of METADATA) {
    it(`never contain ${hostname} of a metadata service`, () => {
      for (const rules of [
        { allowPrivate: true },
        { allowNetworks: ['all', '0.0.0.0/0', '::/0', '*.google.internal'] },
      ])
        expect(refuse(rules, hostname)).to.match(
          /metadata service.*nothing allows it but the entry of .*:80 in SERVICE_ALLOW_NETWORKS/,
        );
    });
  }

  it('contain the address of a metadata service when an entry names it', () => {
    for (const [hostname, entry] of [
      ['169.254.169.254', '169.254.169.254'],
      ['[::ffff:a9fe:a9fe]', '169.254.169.254:80'],
      ['[fd00:ec2::254]', 'fd00:ec2:0::254'],
      ['metadata.google.internal', 'metadata.google.internal'],
    ] as const)
      expect(refuse({ allowNetworks: [entry] }, hostname)).to.equal(undefined);
    expect(refuse({ allowNetworks: ['169.254.169.254:8080'] }, '169.254.169.254')).to.include(
      '169.254.169.254:80',
    );
  });

  it('do not open a metadata service by a host that leads there', async () => {
    const resolve = at('169.254.169.254');
    const message = String(
      await catchRejection(get({ allowNetworks: ['erp.internal', 'all'], resolve }, 'http://erp.internal/')),
    );
    expect(message).to.include('"erp.internal" has the address of a metadata service');
    expect(message).to.include('nothing allows it but the entry of the address itself');
    expect(message).to.not.include('169.254');
  });

  it('are those of the server and those of the tenant, which shares no connection with another one', async () => {
    const lists: Record<string, readonly string[]> = { acme: ['127.0.0.1'] };
    const none: readonly string[] = [];
    const network = networkAccess({ allowNetworksOf: (tenant) => lists[tenant] ?? none });
    const ask = async (tenantId: string): Promise<string> =>
      (await network.fetch(server.url, {}, fetchCaller({ tenantId }))).bytes.toString();
    expect(await ask('acme')).to.equal('ok');
    // The connection of the other tenant is still open.
    expect(await catchRejection(ask('globex'))).to.match(/private or reserved/);
    expect(
      await catchRejection(network.connect('127.0.0.1', server.port, fetchCaller({ tenantId: 'globex' }))),
    ).to.match(/private or reserved/);
    (await network.connect('127.0.0.1', server.port, fetchCaller({ tenantId: 'acme' }))).destroy();
    lists['acme'] = [];
    expect(await catchRejection(ask('acme'))).to.match(/private or reserved/);
  });

  it('are checked when the access is created', () => {
    expect(() => networkAccess({ allowNetworks: ['10.0.0.0/99'] })).to.throw(
      'its prefix must be from 0 to 32',
    );
  });
});
