import { exchangeSuite } from '#test/venues/exchange-suite.ts';
import { positionSuite } from '#test/venues/exchange-suite-positions.ts';
import { wireSuite } from '#test/venues/exchange-suite-wire.ts';
import { openOnVenue } from '#test/venues/exchanges-under-test.ts';

const inProcess = () => openOnVenue('Bitget', { overHttp: false });
const overHttp = () => openOnVenue('Bitget', { overHttp: true });

exchangeSuite('Bitget', 'on the venue in process', inProcess);
exchangeSuite('Bitget', 'over HTTP', overHttp);
wireSuite('Bitget', 'on the venue in process', inProcess);
wireSuite('Bitget', 'over HTTP', overHttp);
positionSuite('Bitget', 'on the venue in process', inProcess, { longHistory: true });
positionSuite('Bitget', 'over HTTP', overHttp);
