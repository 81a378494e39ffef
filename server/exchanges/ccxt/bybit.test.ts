import { exchangeSuite } from '#test/venues/exchange-suite.ts';
import { wireSuite } from '#test/venues/exchange-suite-wire.ts';
import { openOnVenue } from '#test/venues/exchanges-under-test.ts';

const overHttp = () => openOnVenue('Bybit', { overHttp: true });

exchangeSuite('Bybit', 'over HTTP', overHttp);
wireSuite('Bybit', 'over HTTP', overHttp);
