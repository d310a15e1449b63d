import { expect } from 'chai';
import { readOutbound } from '../../../lib/common/config/outbound-config.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

describe('readOutbound: proxies and certificates', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  const proxyOf = (env: Record<string, string>, url: string): string | undefined =>
    readOutbound(env)?.proxyFor(new URL(url))?.url.origin;

  it('is undefined when nothing is configured', () => {
    expect(readOutbound({ NO_PROXY: '*', HTTP_PROXY: ' ' })).to.equal(undefined);
  });

  it('has a proxy for each scheme; those of the service come first, then lower case', () => {
    expect(proxyOf({ HTTP_PROXY: 'http://a:1' }, 'http://x.example')).to.equal('http://a:1');
    expect(proxyOf({ HTTP_PROXY: 'http://a:1' }, 'https://x.example')).to.equal(undefined);
    expect(proxyOf({ https_proxy: 'b:2', HTTPS_PROXY: 'http://a:1' }, 'https://x.example')).to.equal(
      'http://b:2',
    );
    const env = {
      SERVICE_HTTPS_PROXY: 'https://c:3',
      https_proxy: 'b:2',
      SERVICE_NO_PROXY: 'y.example',
      NO_PROXY: '*',
    };
    expect(proxyOf(env, 'https://x.example')).to.equal('https://c:3');
    expect(proxyOf(env, 'https://y.example')).to.equal(undefined);
  });

  for (const [list, url] of [
    ['*', 'http://x.example'],
    ['', 'http://localhost:11434'],
    ['', 'http://127.0.0.9'],
    ['', 'http://[::1]:1'],
    ['other.example, corp.example', 'http://corp.example'],
    ['corp.example', 'http://a.corp.example'],
    ['.corp.example', 'http://a.corp.example'],
    ['*.corp.example', 'http://a.corp.example'],
    ['corp.example:8080', 'http://corp.example:8080'],
    ['10.0.0.0/8', 'http://10.2.3.4'],
    ['fd00::/8,<local>', 'http://[fd00::1]'],
  ] as const)
    it(`reaches ${url} without a proxy with NO_PROXY="${list}"`, () => {
      expect(proxyOf({ HTTP_PROXY: 'http://a:1', NO_PROXY: list }, url)).to.equal(undefined);
    });

  for (const [list, url] of [
    ['corp.example', 'http://evilcorp.example'],
    ['corp.example:8080', 'http://corp.example'],
    ['10.0.0.0/8', 'http://11.2.3.4'],
    ['all', 'http://x.example'],
  ] as const)
    it(`asks the proxy for ${url} with NO_PROXY="${list}"`, () => {
      expect(proxyOf({ HTTP_PROXY: 'http://a:1', NO_PROXY: list }, url)).to.equal('http://a:1');
    });

  it('refuses what is no proxy, without its value, and a file without certificates', () => {
    expect(() => readOutbound({ HTTPS_PROXY: 'socks5://u:geheim@a:1' }))
      .to.throw(
        'HTTPS_PROXY must be the address of a proxy that speaks HTTP, as in HTTPS_PROXY=http://proxy.example:3128',
      )
      .and.not.match(/geheim/);
    const file = folder.write('empty.pem', 'nothing');
    expect(() => readOutbound({ SERVICE_CA_FILE: file })).to.throw('has none');
    expect(() => readOutbound({ SERVICE_CA_FILE: folder.at('none.pem') })).to.throw(
      'SERVICE_CA_FILE must be a file with certificates as PEM',
    );
  });
});
