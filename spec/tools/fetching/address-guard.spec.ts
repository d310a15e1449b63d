import { expect } from 'chai';
import ipaddr from 'ipaddr.js';
import type { LookupAddress } from 'node:dns';
import { ToolError } from '../../../lib/common/errors.js';
import { AddressGuard } from '../../../lib/tools/fetching/address-guard.js';
import { networkAccess } from '../../../lib/tools/fetching/network.js';
import { catchRejection } from '../../support/rejection.js';
import { fetchCaller, LoopbackServer } from './loopback-server.js';

/** Hosts that are addresses, as a URL may write them. */
const PRIVATE_HOSTS = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '①②⑦.0.0.1',
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '192.0.0.8',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::7f00:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]',
  '[100::1]',
  '[2001::1]',
  '[2001:db8::1]',
  '[2002:7f00:1::]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
];

const at = (...addresses: string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

describe('which addresses tools may reach (D51)', () => {
  let server: LoopbackServer;
  beforeEach(async () => (server = await LoopbackServer.start()));
  afterEach(() => server.close());

  for (const host of PRIVATE_HOSTS) {
    it(`refuses http://${host}/, which is not public`, async () => {
      const error = await catchRejection(networkAccess().fetch(`http://${host}/`, {}, fetchCaller()));
      expect(error).to.be.instanceOf(ToolError).that.includes({ retryable: false });
      expect(error)
        .to.have.property('message')
        .that.matches(
          / is (a private or reserved address, .*|the address of a metadata .*)SERVICE_ALLOW_NETWORKS/,
        );
    });
  }

  for (const addresses of [
    ['127.0.0.1'],
    ['8.8.8.8', '10.1.2.3'],
    ['2606:4700::1', '::1'],
    ['fe80::1%eth0'],
    ['no address'],
  ]) {
    it(`refuses a name with ${addresses.join(' and ')}, without showing the address`, async () => {
      const network = networkAccess({ resolve: async () => at(...addresses) });
      const error = await catchRejection(network.fetch('http://intern.example/', {}, fetchCaller()));
      expect(error)
        .to.have.property('message')
        .that.includes('"intern.example" has a private or reserved address')
        .and.does.not.include(addresses.at(-1));
    });
  }

  for (const address of ['8.8.8.8', '1.1.1.1', '[2606:4700::1111]', '2a00:1450:4001::1', 'example.com']) {
    it(`does not refuse ${address}, which is public`, () => {
      expect(new AddressGuard({}, ipaddr).refuseLiteral({ hostname: address, port: 80 })).to.equal(undefined);
    });
  }

  it('refuses a connection that leads to a private address all the same', () => {
    const guard = new AddressGuard({}, ipaddr);
    const target = { hostname: 'a.example', port: 80 };
    expect(guard.refuseConnected(target, '10.0.0.1'))
      .to.be.instanceOf(ToolError)
      .that.includes({ retryable: false });
    expect(guard.refuseConnected(target, '8.8.8.8')).to.equal(undefined);
  });

  it('connects to the address that it has checked: a name that changes its answer gains nothing', async () => {
    const answers = [at('127.0.0.1'), at('127.0.0.2')];
    const asked: string[] = [];
    const network = networkAccess({
      allows: (address) => address === '127.0.0.1',
      resolve: async (name) => {
        asked.push(name);
        return answers.shift() ?? [];
      },
    });
    const url = `http://changing.example:${server.port}/`;
    server.handler = (_, response) => response.setHeader('connection', 'close').end('first');
    expect((await network.fetch(url, {}, fetchCaller())).bytes.toString()).to.equal('first');
    expect(asked).to.deep.equal(['changing.example']);
    // The second connection asks again, and meets the second answer.
    expect(await catchRejection(network.fetch(url, {}, fetchCaller())))
      .to.have.property('message')
      .that.includes('private or reserved');
    expect(server.requests).to.have.length(1);
  });

  it('refuses a redirect to a private address', async () => {
    server.handler = (_, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end();
    const network = networkAccess({ allows: (address) => address === '127.0.0.1' });
    const error = await catchRejection(network.fetch(`${server.url}/start`, {}, fetchCaller()));
    expect(error)
      .to.have.property('message')
      .that.matches(
        /^GET http:\/\/169\.254\.169\.254\/latest\/meta-data\/: 169\.254\.169\.254 is the address of a metadata service/,
      );
    expect(error).to.include({ retryable: false });
  });

  it('reaches private addresses when the service allows it', async () => {
    const network = networkAccess({ allowPrivate: true });
    expect((await network.fetch(server.url, {}, fetchCaller())).bytes.toString()).to.equal('ok');
  });

  it('says that a name has no address', async () => {
    const network = networkAccess({ resolve: async () => [] });
    expect(await catchRejection(network.fetch('http://empty.example/', {}, fetchCaller())))
      .to.have.property('message')
      .that.includes('the name "empty.example" has no address');
  });
});

describe('which URLs tools may fetch (D51)', () => {
  const refused: Record<string, string> = {
    'not a URL': 'is no URL: write one such as https://example.com/data.json',
    '': 'is no URL',
    '/relative': 'is no URL',
    'file:///etc/passwd': '"file:" cannot be fetched: use a URL with http or https',
    'ftp://example.com/': '"ftp:" cannot be fetched',
    'gopher://example.com/': '"gopher:" cannot be fetched',
    'data:text/plain,x': '"data:" cannot be fetched',
    'http://user:password@example.com/': 'has a user or a password: send the header "authorization" instead',
    'http://user@example.com/': 'has a user or a password',
    'http://example.com:25/': 'port 25 of example.com is not for HTTP',
    'http://example.com:22/': 'port 22 of example.com is not for HTTP',
    'https://example.com:11211/': 'port 11211 of example.com is not for HTTP',
  };
  for (const [url, message] of Object.entries(refused)) {
    it(`refuses "${url}"`, async () => {
      const error = await catchRejection(networkAccess().fetch(url, {}, fetchCaller()));
      expect(error).to.be.instanceOf(ToolError).that.includes({ retryable: false });
      expect(error).to.have.property('message').that.includes(message).and.does.not.include('password@');
    });
  }

  const wrong: Record<string, [object, string]> = {
    'a method that is none': [{ method: 'GET / HTTP/1.1' }, 'is no method of a request'],
    'a tunnel': [{ method: 'connect' }, '"connect" is no method of a request'],
    'the host of another server': [
      { headers: { Host: 'intern' } },
      'the header "Host" belongs to the connection',
    ],
    'a second request behind the first': [
      { headers: { 'Transfer-Encoding': 'chunked' } },
      'the header "Transfer-Encoding" belongs to the connection',
    ],
    'a header in a header': [{ headers: { 'x-a': 'b\r\nx-c: d' } }, 'the header "x-a" has a line break'],
    'a name that is none': [{ headers: { 'x a': 'b' } }, '"x a" is no name of a header'],
    'an accepted type with a line break': [{ accept: 'a\nb' }, 'the header "accept" has a line break'],
    'a body that would not be sent': [{ body: 'x' }, 'a GET request has no body'],
  };
  for (const [what, [options, message]] of Object.entries(wrong)) {
    it(`refuses ${what}`, async () => {
      const error = await catchRejection(
        networkAccess().fetch('http://example.com/', options, fetchCaller()),
      );
      expect(error).to.be.instanceOf(ToolError).that.includes({ retryable: false });
      expect(error).to.have.property('message').that.includes(message);
    });
  }
});
