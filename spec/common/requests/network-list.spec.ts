import { expect } from 'chai';
import { formatTarget, NetworkList, splitNetworks } from '../../../lib/common/requests/network-list.js';

const INCLUDED: [entry: string, hostname: string, port: number, address?: string][] = [
  ['all', 'any.example', 1, '10.1.1.1'],
  ['10.2.0.0/16', 'erp.internal', 80, '10.2.255.255'],
  ['10.2.0.0/16', '[::ffff:a02:304]', 80, '::ffff:10.2.3.4'],
  ['10.2.0.0/16:8443', '10.2.3.4', 8443, '10.2.3.4'],
  ['10.2.3.4', '10.2.3.4', 80, '10.2.3.4'],
  ['10.2.3.4:8443', '10.2.3.4', 8443, '10.2.3.4'],
  ['fd00::/8', 'erp.internal', 80, 'fd12::1'],
  ['fd00::1', '[fd00::1]', 80, 'fd00::1'],
  ['[fd00::1]:8443', '[fd00::1]', 8443, 'fd00::1'],
  ['fe80::/10', '[fe80::1]', 80, 'fe80::1%eth0'],
  ['ERP.internal.', 'erp.internal', 443, '10.2.3.4'],
  ['erp.internal:8443', 'ERP.INTERNAL.', 8443, '10.2.3.4'],
  ['*.corp.internal', 'a.b.corp.internal', 80, '10.2.3.4'],
  ['.corp.internal', 'a.corp.internal', 80, '10.2.3.4'],
  ['bücher.internal', 'xn--bcher-kva.internal', 80, '10.2.3.4'],
];

const EXCLUDED: [entry: string, hostname: string, port: number, address: string | undefined][] = [
  ['10.2.0.0/16', 'erp.internal', 80, '10.3.0.0'],
  ['10.2.0.0/16', '10.2.3.4', 80, undefined],
  ['10.2.3.4:8443', '10.2.3.4', 8444, '10.2.3.4'],
  ['10.2.3.4', '10.2.3.4', 80, '10.2.3.5'],
  ['erp.internal', 'erp.internal.evil.example', 80, '10.2.3.4'],
  ['erp.internal', 'a.erp.internal', 80, '10.2.3.4'],
  ['erp.internal:8443', 'erp.internal', 443, '10.2.3.4'],
  ['*.corp.internal', 'corp.internal', 80, '10.2.3.4'],
  ['*.corp.internal', 'evilcorp.internal', 80, '10.2.3.4'],
];

describe('A list of networks, addresses and hosts (D51)', () => {
  for (const [entry, hostname, port, address] of INCLUDED)
    it(`includes ${hostname}:${port} at ${address} by ${entry}`, () => {
      expect(NetworkList.parse(['192.0.2.1', entry]).includes({ hostname, port }, address)).to.equal(true);
    });

  for (const [entry, hostname, port, address] of EXCLUDED)
    it(`does not include ${hostname}:${port} at ${address} by ${entry}`, () => {
      expect(NetworkList.parse([entry]).includes({ hostname, port }, address)).to.equal(false);
    });

  it('knows which address an entry names by itself', () => {
    const list = NetworkList.parse([
      'all',
      '10.0.0.0/8',
      'fd00:0::1',
      '10.2.3.4/32',
      '*.a.example',
      'b.example:80',
    ]);
    expect(['fd00::1', '10.2.3.4', 'B.example'].map((name) => list.names(name, 80))).to.deep.equal(
      Array(3).fill(true),
    );
    expect(
      list.names('b.example', 81) || list.names('x.a.example', 80) || list.names('10.0.0.1', 80),
    ).to.equal(false);
  });

  for (const [entry, advice] of [
    ['https://erp.internal:8443/path', 'write erp.internal:8443 without the rest of the URL'],
    ['10.2.0.0/33', 'its prefix must be from 0 to 32'],
    ['fd00::/129', 'its prefix must be from 0 to 128'],
    ['10.2.0.0/', 'its prefix must be'],
    ['erp.internal:0', 'its port must be from 1 to 65535'],
    ['erp.internal:99999', 'its port must be from 1 to 65535'],
    ['2130706433', 'write the address as 127.0.0.1'],
    ['10.2', 'write the address as 10.0.0.2'],
    ['erp.internal/x', 'write 10.2.0.0/16,'],
    ['user@erp.internal', 'write 10.2.0.0/16,'],
    ['a.*.internal', 'write 10.2.0.0/16,'],
    ['*', 'write 10.2.0.0/16,'],
    ['10.2.3.256', 'write 10.2.0.0/16,'],
    ['', 'write 10.2.0.0/16,'],
  ] as const)
    it(`says what is wrong with "${entry}"`, () => {
      expect(() => NetworkList.parse([entry])).to.throw(
        `must list networks, addresses and hosts: ${JSON.stringify(entry)} is none; ${advice}`,
      );
    });

  it('has at most 1,000 entries', () => {
    expect(() => NetworkList.parse(Array<string>(1001).fill('a.example'))).to.throw(
      'at most 1000 entries, not 1001',
    );
  });

  it('is written with commas and blanks, and as messages name a target', () => {
    expect(splitNetworks(' a.example, ,b.example\n[fd00::1]:80 ')).to.deep.equal([
      'a.example',
      'b.example',
      '[fd00::1]:80',
    ]);
    expect(formatTarget({ hostname: '[fd00::1]', port: 80 })).to.equal('[fd00::1]:80');
    expect(formatTarget({ hostname: 'Erp.Internal.', port: 8443 })).to.equal('erp.internal:8443');
  });
});
