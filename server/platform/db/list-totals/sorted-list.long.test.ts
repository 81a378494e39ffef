/** Every order and outcome with every range and filter. */
import './sorted-list.test.ts';
