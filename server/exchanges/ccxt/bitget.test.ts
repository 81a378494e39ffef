import { exchangeSuite } from '#test/venues/exchange-suite.ts';
import { wireSuite } from '#test/venues/exchange-suite-wire.ts';
import { openOnVenue } from '#test/venues/exchanges-under-test.ts';

const overHttp = () => openOnVenue('Bitget', { overHttp: true });

exchangeSuite('Bitget', 'over HTTP', overHttp);
wireSuite('Bitget', 'over HTTP', overHttp);
