import ipaddr from 'ipaddr.js';

export function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/** `localhost` or a loopback address, as it stands in a URL or in HOST. */
export const isLoopbackName = (name: string): boolean =>
  name === 'localhost' || isLoopbackAddress(name.replace(/^\[(.*)\]$/, '$1'));
