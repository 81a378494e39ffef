import { exchangeSuite } from '#test/venues/exchange-suite.ts';
import { positionSuite } from '#test/venues/exchange-suite-positions.ts';
import { wireSuite } from '#test/venues/exchange-suite-wire.ts';
import { openOnVenue } from '#test/venues/exchanges-under-test.ts';

const inProcess = () => openOnVenue('Bybit', { overHttp: false });
const overHttp = () => openOnVenue('Bybit', { overHttp: true });

exchangeSuite('Bybit', 'on the venue in process', inProcess);
exchangeSuite('Bybit', 'over HTTP', overHttp);
wireSuite('Bybit', 'on the venue in process', inProcess);
wireSuite('Bybit', 'over HTTP', overHttp);
positionSuite('Bybit', 'on the venue in process', inProcess, { longHistory: true });
positionSuite('Bybit', 'over HTTP', overHttp);
