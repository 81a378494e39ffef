import { exchangeSuite } from '#test/venues/exchange-suite.ts';
import { wireSuite } from '#test/venues/exchange-suite-wire.ts';
import { openOnVenue } from '#test/venues/exchanges-under-test.ts';

const overHttp = () => openOnVenue('Bitget unified', { overHttp: true });

exchangeSuite('Bitget unified', 'over HTTP', overHttp);
wireSuite('Bitget unified', 'over HTTP', overHttp);
