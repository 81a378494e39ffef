// Every role at every route.
import './access.test.ts';
