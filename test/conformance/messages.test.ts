import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

const VALIDATION_OF_FORMS = [
  'Username is required',
  'Password is required',
  'Current password is required',
  'Password must be at least 6 characters',
  'Passwords do not match',
  'Username must be at least 3 characters',
  'Username must be less than 50 characters',
  'Please enter a valid email address',
  'Password must be less than 100 characters',
  "Passwords don't match",
  'Country code must start with + followed by digits',
  'Mobile number must contain only digits',
];

/** Messages about accounts; placeholders are written as in the browser tests. */
const CATALOGUE_OF_THE_SHELL = [
  'Failed to fetch user',
  'Failed to fetch settings',
  'Login failed. Please try again.',
  'Error',
  'Failed to create webhook',
  'Failed to renew webhook',
  'Failed to delete webhook',
  'No webhook to renew',
  'No webhook to delete',
  'Access Denied',
  'Invalid password',
  'Webhook Created',
  'Webhook Renewed',
  'The old key is no longer valid.',
  'Webhook Deleted',
  'Access Granted',
  'Webhook key is now visible.',
  'Copied',
  'Webhook Key copied to clipboard',
  'Signal Webhook URL copied to clipboard',
  'Settings Updated',
  'Your settings have been saved successfully.',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the journey
  "${user.username}'s settings have been updated successfully.",
  'Failed to update settings',
  'Password Changed',
  'Your password has been updated successfully.',
  'Failed to change password',
  'Copied!',
  'User ID copied to clipboard.',
  'Failed to copy to clipboard',
  'User Created Successfully',
  'Failed to Create User',
  'An error occurred while creating the user account',
  'User Status Updated',
  'Failed to Update User Status',
  'Active Trading Updated',
  'Failed to Update Active Trading',
  'User Deactivated',
  'Failed to Deactivate User',
  'User Reactivated',
  'Failed to Reactivate User',
  'Failed to fetch environment status',
  'Page Not Found',
];

const EMPTY = [
  'No parameters available',
  'No price logs found',
  'No SL/TP calculation data available for this signal',
  'No workflows found for this signal.',
  'No workflow steps found',
  'Manual triggers disabled in production',
  'No automation workflows found',
  'No user data available for this workflow',
  'No execution steps found for this workflow',
  'No signal ID provided. Please select a signal from the signals page.',
  'Loading signal data...',
  'Failed to load signal data. Please try again.',
  'No execution logs yet',
];

/** Tooltips of a workflow, and reasons that block an order. */
const VALIDATION_OF_ORDERS = [
  'Waiting to start processing',
  'Currently processing users',
  'Workflow failed: Processing stopped due to critical error',
  'Workflow completed - No users processed successfully',
  'Calculating...',
  'Preparing order data...',
  'Confirm & Submit Order',
  'Submitting Order...',
  'NOT RUN',
  'SUCCESS (ORDER FILLED)',
  'FAILED (ORDER FAILED)',
  'Trading operations are disabled in live mode for safety',
  'No Position Data',
  'Please calculate position parameters first.',
  'SAFETY VIOLATION',
  'Cannot prepare order without Stop Loss and Take Profit. This is a strict safety rule.',
  'Missing SL/TP - Cannot Submit',
  'Stop Loss and Take Profit are required for all trades',
  'SAFETY RULE: Cannot submit without Stop Loss and Take Profit',
  'Order validation failed - check order parameters',
  'User ID not available - please log in or select a user',
  'No data to export',
];

/** Messages about trading. */
const CATALOGUE_OF_TRADING = [
  'Failed to fetch signals',
  'Failed to fetch tokens',
  'Failed to fetch processors',
  'Failed to fetch timeframes',
  'Failed to fetch stats',
  'Failed to Trigger Workflow',
  'Failed to trigger automation workflow',
  'Workflow Triggered Successfully',
  'Failed to Fetch Workflows',
  'Failed to check eligibility',
  'Workflow retry triggered successfully',
  'Failed to trigger workflow retry',
  'Error triggering workflow retry',
  'Calculation Failed',
  'Failed to calculate position parameters.',
  'Position Calculated',
  'Order Preparation Failed',
  'Failed to prepare order data.',
  'No order data prepared. Please try again.',
  'Order Submission Failed',
  'Failed to submit order to exchange.',
  'Unknown error occurred',
  'Order Submitted Successfully',
  'Order Processing Error',
  'Price Updated',
  'Price Current',
  'Rate Limiting Detected',
  'Using Signal Price',
  'Balance API Error',
  'Please check API connection',
  'Balance information unavailable',
  'Loading account balance...',
  'System Restarted',
  'Restart Failed',
  'Failed to restart system',
  'Unknown error',
];

const TEXTS = [
  ...VALIDATION_OF_FORMS,
  ...CATALOGUE_OF_THE_SHELL,
  ...EMPTY,
  ...VALIDATION_OF_ORDERS,
  ...CATALOGUE_OF_TRADING,
];

const screenTests = globSync(['e2e/*.spec.ts', 'web/**/*.test.tsx'], { cwd: ROOT })
  .map((file) => readFileSync(join(ROOT, file), 'utf8'))
  .join('\n')
  // Comments and titles assert nothing.
  .replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  .replaceAll(/^\s*test(\.describe)?\(.*$/gm, '');

// Requirements: accounts-validation-1, accounts-messages-1, trading-validation-1, trading-messages-1
test.each(TEXTS)('a screen test asserts the full text: %s', (text) => {
  const literals = ["'", '"', '`'].map((quote) => `${quote}${text}${quote}`);
  expect(literals.some((literal) => screenTests.includes(literal))).toBe(true);
});
