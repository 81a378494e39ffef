/** Every case. */
import './answer-chats.test.ts';
