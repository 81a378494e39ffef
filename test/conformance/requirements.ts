/** What the product must do, by subject. A test names the requirements that it proves in a comment above it. */
export const REQUIREMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Screens: session states': {
    'screens-session-states-1':
      'Before the code has come and while the session is looked up, a spinner fills the screen and says Loading...',
    'screens-session-states-2': 'Without a session every path shows the sign-in screen and no header',
    'screens-session-states-3':
      'A session that cannot be looked up is an error with a retry, not the sign-in screen',
    'screens-session-states-4': 'With a session there is a header above the page of the path',
  },
  'Screens: header': {
    'screens-header-1': 'The logo links to the dashboard and names the product',
    'screens-header-2':
      'The navigation is the list of the server without the page Settings; the page with the icon Home has the house',
    'screens-header-3': 'The environment badge and the Admin button are for administrators alone',
    'screens-header-4': 'The menu of the user shows the username and offers Settings and Sign Out',
    'screens-header-5': 'Sign Out cannot be chosen again while it is pending, and its failure is said',
    'screens-header-6': 'The header works by keyboard alone, and there is a way past it',
    'screens-header-7': 'On a narrow screen the navigation opens as a drawer and nothing is cut off',
    'screens-header-8': 'Light, dark or as the system has it',
    'screens-header-9': 'What is linked exists; a page without a screen is not linked',
    'screens-header-10': 'A navigation that cannot be fetched has a retry',
  },
  'Screens: routes': {
    'screens-routes-1': 'Dashboard, settings and the own webhook open for everybody signed in',
    'screens-routes-2': 'The admin dashboard opens for everybody signed in',
    'screens-routes-3': 'Every page for administrators is the not-found page for others',
    'screens-routes-4': 'Any other path is the not-found page, titled Page Not Found, for everybody',
    'screens-routes-5':
      'The registry has the pages of the specification at the paths of their names; create-client is labelled Users',
    'screens-routes-6': 'The admin dashboard lists the active pages for administrators alone',
  },
  'Screens: sign-in': {
    'screens-sign-in-1':
      'A panel describes the product: smart trading solutions, signals, position calculator, risk management, profit optimization',
    'screens-sign-in-2': 'The form is titled Welcome Back and asks for username and password',
    'screens-sign-in-3': 'A failure is a red alert',
    'screens-sign-in-4': 'After a success the user is at the dashboard',
  },
  'Screens: dashboard and admin dashboard': {
    'screens-dashboard-and-admin-dashboard-1': 'The dashboard greets by username',
    'screens-dashboard-and-admin-dashboard-2':
      'A card leads to the user settings, and for administrators alone one to the admin dashboard',
    'screens-dashboard-and-admin-dashboard-3':
      'The system status says Online, Active and the access level, Admin or User',
    'screens-dashboard-and-admin-dashboard-4':
      'The admin dashboard has Back to Main and the System Overview: Active, Real-time, Secure',
  },
  'Screens: user settings': {
    'screens-user-settings-1':
      "An administrator sees and edits another user's settings with the parameter userId; the title names the user and a warning says so",
    'screens-user-settings-2': 'The parameter means nothing for others',
    'screens-user-settings-3':
      'The account is shown with its ID and a copy button, username, whether administrator, names and mobile number; what is empty is Not provided',
    'screens-user-settings-4': 'The password is changed in a dialog, for the own account alone',
    'screens-user-settings-5':
      'The form has the eight fields and a Save Settings button; active trading is not among them',
    'screens-user-settings-6': 'The calculation of stop loss and take profit is locked and says why',
    'screens-user-settings-7': 'A field that the sizing method calculates is disabled and offers Auto alone',
    'screens-user-settings-8': 'Each part that cannot be fetched has a retry',
    'screens-user-settings-9':
      'Unsaved changes are not lost by a link, the back button, signing out or closing the tab',
    'screens-user-settings-10':
      'An untouched form follows what is stored; a write of settings that changed since they were read is refused with the newer values, and the user takes theirs or keeps what was entered',
  },
  'Screens: users': {
    'screens-users-1':
      'There is a way back to the admin dashboard, an info card, and a link from each row to the settings of the user',
    'screens-users-2': 'All users stand in a table with pages of ten, with shortened ids',
    'screens-users-3': 'Users are created in a dialog',
    'screens-users-4': 'Active trading and the status are switched after a confirmation',
    'screens-users-5': 'Inactive users are listed, and hidden on demand',
    'screens-users-6': 'Users are found by a search and sorted by their columns, both kept in the address',
  },
  'Screens: webhook configuration': {
    'screens-webhook-configuration-1': 'Title, subtitle, and a Price Logs button that leads to the dashboard',
    'screens-webhook-configuration-2':
      'While it loads there is a skeleton; when it cannot be fetched, a retry',
    'screens-webhook-configuration-3':
      'Without a webhook the card says so, explains, and offers to create one',
    'screens-webhook-configuration-4': 'With a webhook: the badge Active and the day of its creation',
    'screens-webhook-configuration-5': 'The key is masked until it is revealed, and can be copied',
    'screens-webhook-configuration-6':
      'Both addresses are shown read-only, each described and with a copy button',
    'screens-webhook-configuration-7':
      'Both addresses are made of the origin of the page, the path of the endpoint and the key',
    'screens-webhook-configuration-8':
      'The other card documents both endpoints with example payloads, five steps and a security notice',
    'screens-webhook-configuration-9':
      'Renewing warns that the old key stops at once and that it cannot be undone, then asks for the password',
    'screens-webhook-configuration-10':
      'Deleting warns that it is permanent and that alerts stop, then asks for the password',
    'screens-webhook-configuration-11': 'Showing the key asks for the password',
    'screens-webhook-configuration-12':
      'The confirmations are disabled for a blank password and while pending, with Renewing..., Deleting..., Verifying...',
  },
  'Screens: environment': {
    'screens-environment-1':
      'The badge opens System Environment Details with the configuration: environment, node environment, deployment, auto-trade, its configuration, signal processing',
    'screens-environment-2':
      'The server information: instance id and deployment id cut to 20 characters, the latter only if there is one, and whether there is one',
    'screens-environment-3': 'A banner, the time of the last update and the note on the refresh',
    'screens-environment-4': 'The tooltip tells environment, auto-trade and that a click shows more',
    'screens-environment-5':
      'Beside the badge stands whether the money is real: Paper, Demo or Live; real money cannot be overlooked',
  },
  'Accounts: fields': {
    'accounts-fields-1': 'The session answers the user with id, username, role, names and phone number',
    'accounts-fields-2': 'Without a session there is no user',
    'accounts-fields-3':
      'A listed user has names, phone number, role, activity, creation time and settings, and no secret',
    'accounts-fields-4': 'The settings have the nine fields with their values; fractions are texts or null',
    'accounts-fields-5': 'The default exchange is the first one listed',
    'accounts-fields-6': 'The timeframes come from the server, Any first',
    'accounts-fields-7': 'A webhook has id, name, key and creation time; a user has one',
    'accounts-fields-8': 'The example of a signal has symbol, action, price as text, timeframe, processor',
    'accounts-fields-9': 'The example of a candle has the eleven fields, its time as yyyymmddhhmm',
    'accounts-fields-10': 'A page of the navigation has pageName, path, displayName and icon',
    'accounts-fields-11': 'The environment status has all fields; deploymentId only where there is one',
    'accounts-fields-12': 'An environment that is neither production nor development is UNKNOWN',
  },
  'Accounts: states': {
    'accounts-states-1': 'After the sign-in the user is looked up again',
    'accounts-states-2': 'After the sign-out the user is looked up again and everything cached is forgotten',
    'accounts-states-3':
      'A session that ends elsewhere leads to the sign-in screen and forgets what was loaded',
    'accounts-states-4':
      "Another sign-in in the same browser takes the former user's screens and data out of every tab",
    'accounts-states-5': 'An inactive user cannot sign in; the data is kept',
    'accounts-states-6': 'Administrators cannot deactivate themselves',
    'accounts-states-7': 'Switching active trading warns that live trading is affected',
    'accounts-states-8': 'With active trading on, signals open positions; with it off, nothing is opened',
    'accounts-states-9': 'Risk Management makes the portion Auto and keeps the risk, 0.05 by default',
    'accounts-states-10': 'Portfolio Allocation restores portion (0.10) and risk (0.05), both to be chosen',
    'accounts-states-11': 'Technical Analysis restores the portion (0.05) and makes the risk auto',
    'accounts-states-12': 'A webhook is created, renewed and deleted; an old key is invalid at once',
    'accounts-states-13': 'The key becomes visible only by a right password; hiding it takes none',
    'accounts-states-14':
      'Production with auto-trade is Live Trading in green, without it PROD (Manual) in yellow, development Dev Mode in dark yellow, anything else UNKNOWN in red',
    'accounts-states-15': 'While the status loads the badge says Loading...',
    'accounts-states-16': 'The banner of each environment has its title and its text',
    'accounts-states-17': 'A copy button shows for two seconds that it copied',
  },
  'Accounts: validation': {
    'accounts-validation-1': 'Every message is asserted word for word',
    'accounts-validation-2': 'Sign-in: username and password are required',
    'accounts-validation-3':
      'Change of password: the current one is required, the new one has 6 characters, the confirmation is equal and its message stands at the confirmation',
    'accounts-validation-4': 'New user: username of 3 to 50 characters and an e-mail address',
    'accounts-validation-5': 'New user: password of 6 to 100 characters, entered twice',
    'accounts-validation-6':
      'New user: names are optional; country code and mobile number are optional and have their forms',
    'accounts-validation-7': 'New user: not an administrator unless it is chosen',
    'accounts-validation-8': 'Auto is sent as null',
    'accounts-validation-9': 'A password that confirms is not blank, and the server checks it',
    'accounts-validation-10': 'A portion is shown as a percentage with one decimal',
    'accounts-validation-11':
      'Weak new passwords are refused at their field: the most used ones, the username, one repeated character, the current one; administrators, and everybody in live mode, need 12 characters',
  },
  'Accounts: roles': {
    'accounts-roles-1': 'Signed out there is only the sign-in screen, and the server lets nobody in',
    'accounts-roles-2':
      'An ordinary user has the dashboard, the own settings, the own password and the own webhook',
    'accounts-roles-3': 'An ordinary user reaches neither pages nor calls of administrators',
    'accounts-roles-4': 'An ordinary user changes nobody else and nothing that is not hers to change',
    'accounts-roles-5': 'The key is shown, renewed and deleted with the password alone',
    'accounts-roles-6': 'Administrators have everything',
    'accounts-roles-7': 'Every route says who may call it, and none is forgotten in the matrix of roles',
  },
  'Accounts: calls': {
    'accounts-calls-1': 'A session cookie goes with every call',
    'accounts-calls-2': 'A body is JSON and is sent only when there is one; answers are read as JSON',
    'accounts-calls-3': 'GET /api/auth/user',
    'accounts-calls-4': 'POST /api/auth/login and /api/auth/logout',
    'accounts-calls-5': 'POST /api/auth/verify-password',
    'accounts-calls-6': 'GET and POST /api/hooks',
    'accounts-calls-7': 'PUT /api/hooks/{id} renews the key',
    'accounts-calls-8': 'DELETE /api/hooks/{id}',
    'accounts-calls-9': 'GET and PUT /api/user-settings',
    'accounts-calls-10': 'GET and PUT /api/admin/user-settings/{userId}',
    'accounts-calls-11': 'GET /api/admin/user/{userId}',
    'accounts-calls-12': 'GET /api/user-settings/signal-timeframes',
    'accounts-calls-13': 'PUT /api/user-settings/change-password',
    'accounts-calls-14': 'GET /api/admin/users by page, with or without inactive users',
    'accounts-calls-15': 'POST /api/admin/create-client',
    'accounts-calls-16': 'PUT /api/admin/user/{userId}/active-trading',
    'accounts-calls-17': 'PUT /api/admin/user/{userId}/status and the two PATCH calls that do the same',
    'accounts-calls-18': 'GET /api/environment/status',
    'accounts-calls-19': 'The status is asked for every 30 seconds',
    'accounts-calls-20': 'POST /hooks/trading_view_signal and /hooks/trading_view_candler',
    'accounts-calls-21': 'A query is by default a GET to the first element of its key',
    'accounts-calls-22': '401 is an error by default; the look-up of the session takes it as nobody',
    'accounts-calls-23': 'Nothing goes stale or is fetched again by itself, on focus neither',
    'accounts-calls-24': 'Neither queries nor writes are tried twice',
  },
  'Accounts: messages': {
    'accounts-messages-1': 'Every message is asserted word for word in a journey',
    'accounts-messages-2':
      'A refusal reads as its status, a colon and its body, or the status text without one',
    'accounts-messages-3':
      "The server's own message is shown where there is one, the screen's own text otherwise",
    'accounts-messages-4': 'No answer at all is said in plain words',
    'accounts-messages-5': 'Sign-in: the message in a red alert, or the default text without an answer',
    'accounts-messages-6': "Webhook: failures are toasts with the server's message or the text of the action",
    'accounts-messages-7': 'Webhook: renewing or deleting what is no more says so',
    'accounts-messages-8': 'Webhook: a wrong password is Access Denied',
    'accounts-messages-9': 'Webhook: each success has its toast',
    'accounts-messages-10': "Settings: own and administrator's success, and failure",
    'accounts-messages-11': 'Password: success and failure',
    'accounts-messages-12': 'Copying an ID: success and failure',
    'accounts-messages-13': "A new user: success, the server's refusal, and no answer",
    'accounts-messages-14': 'Status and active trading: success and failure',
    'accounts-messages-15': 'Deactivated and reactivated: success and failure',
    'accounts-messages-16':
      'A status of the environment that cannot be fetched is said, and the badge keeps its loading look',
    'accounts-messages-17': 'Unknown pages, and pages for administrators, are the not-found page',
    'accounts-messages-18': 'One toast at a time: the newest takes the place of the one before',
    'accounts-messages-19': 'A toast is shown for 5000 ms',
    'accounts-messages-20':
      'While the server is away what was loaded stays, and lists and filters can be fetched again',
  },
  'Accounts: limits': {
    'accounts-limits-1': 'Ten users on a page',
    'accounts-limits-2': 'The environment is refreshed every 30 seconds',
    'accounts-limits-3': 'Ids in the environment dialog are cut to 20 characters',
    'accounts-limits-4': 'An id of 8 or more characters is shortened to its first and last four',
    'accounts-limits-5': 'Limits of passwords and usernames',
    'accounts-limits-6':
      'What the form falls back on is Risk Management; stored defaults are 0.10, 0.05 and 0.05',
    'accounts-limits-7':
      'New settings: timeframe Any, processor Tesla, market Futures, calculation Futures_Limit_Classic',
    'accounts-limits-8': 'The name of a new webhook is Default Webhook',
    'accounts-limits-9': 'Portions of 2, 5, 10, 15 and 20 percent, risks of 2, 5, 10 and 15 percent',
    'accounts-limits-10': 'Toasts are at most 700 pixels wide, 800 on large screens',
  },
  'Price logs': {
    'price-logs-1': 'The screen stands at /price-logs under the title Price Logs',
    'price-logs-2':
      'Filters for token, timeframe and processor, each with a choice of all; empty ones filter nothing; Clear Filters empties them',
    'price-logs-3': 'Export CSV and Refresh',
    'price-logs-4': 'Eleven columns in their order; of the hash the first 16 characters and an ellipsis',
    'price-logs-5': 'View opens the parameters as JSON to read',
    'price-logs-6': 'Without parameters the cell says No parameters available',
    'price-logs-7': 'Ten skeleton rows while it loads',
    'price-logs-8': 'When there are none: No price logs found',
    'price-logs-9':
      'Paging only with more than one page: Showing X to Y of Z entries, Previous, Next and the buttons of pages 1 to 5',
    'price-logs-10': '... and an address of a page beyond the last one leads to the last one',
    'price-logs-11': 'A legend explains the three times and the delay of 15-30 minutes',
    'price-logs-12': 'The list and the environment status are refreshed every 30 seconds',
  },
  'Signals: the table': {
    'signals-the-table-1':
      "The screen stands at /signals with four cards: Total Signals, Today's Signals, Buy Signals, Sell Signals",
    'signals-the-table-2':
      'Filters for token, action, timeframe and processor with Clear Filters; a change goes back to page 1',
    'signals-the-table-3': 'Export CSV, Refresh and a link to /configuration',
    'signals-the-table-4':
      'Signal History says Showing N of M signals and has the fourteen columns in their order',
    'signals-the-table-5': 'Paging with more than one page: Previous, Page X of Y, Next',
    'signals-the-table-6': 'Position is a badge Buy or Sell',
    'signals-the-table-7': 'The ID opens the details of the signal',
    'signals-the-table-8': 'SL/TP has four decimals and opens the calculation',
    'signals-the-table-9': 'Triggers counts automatic and manual ones and opens the workflows',
    'signals-the-table-10': 'The status is a badge with a tooltip and opens the execution',
    'signals-the-table-11': 'Success is the percentage of successful trades, or a dash',
    'signals-the-table-12':
      'Trades says successful of all and opens them; Users says successful of eligible and opens the list',
    'signals-the-table-13':
      'Trigger runs the workflow; beside it stands the link to the calculator with the id of the signal',
    'signals-the-table-14':
      'Trigger is disabled in a production deployment, the tooltip says so, and the server refuses',
  },
  'Signals: the dialogs': {
    'signals-the-dialogs-1':
      'Signal detail: id, token, action, price, currency, timeframe, processor, three times and the parameters',
    'signals-the-dialogs-2':
      'SL/TP Calculation Details: for each user method, prices, investment, leverage, risk as a percentage, reason and detail',
    'signals-the-dialogs-3': '... of what was traded, whatever the calculator tries afterwards',
    'signals-the-dialogs-4': '... and without a calculation its text',
    'signals-the-dialogs-5':
      'Workflows for Signal: the automatic and the manual ones, each with id, status, start as time and as distance, users, error and reason',
    'signals-the-dialogs-6': '... and without a workflow its text',
    'signals-the-dialogs-7':
      'Workflow Execution Details: the steps in order, each with name, user, status, duration, input and output to open, error, times and processor',
    'signals-the-dialogs-8': '... and without a step its text',
    'signals-the-dialogs-9':
      'Trade Details - Signal: the four counts, and the answer of the exchange for each successful trade',
    'signals-the-dialogs-10':
      'Failed trades are grouped by reason with their percentage and users; without a reason as Unknown error',
    'signals-the-dialogs-11': 'The list of users says of each whether eligible and why',
    'signals-the-dialogs-12': '... and where no workflow has recorded it that it is decided now',
    'signals-the-dialogs-13': 'Eligible Users Breakdown: the four layers, opened from the users of a signal',
  },
  'Workflow monitor': {
    'workflow-monitor-1':
      'Filters for processor and status with the lists of the server; a change goes back to page 1',
    'workflow-monitor-2': '50 rows on a page, or 25 or 100',
    'workflow-monitor-3': 'The list is fetched again every 30 seconds',
    'workflow-monitor-4': 'A row has the fields of a run',
    'workflow-monitor-5': 'An id of more than 8 characters is shortened to its first and last four',
    'workflow-monitor-6': 'Durations in ms, s, minutes or hours with a decimal',
    'workflow-monitor-7':
      'The failure reason goes by the type, else by the message, and is cut to 50 or 30 characters',
    'workflow-monitor-8':
      'Its tooltip has message, type, explanation and suggested action; details that cannot be parsed are technical details',
    'workflow-monitor-9': 'However long what a row shows is, its buttons are on the screen',
    'workflow-monitor-10': 'Only a failed workflow with a signal can be retried',
    'workflow-monitor-11': 'The details of its signal open from a row',
    'workflow-monitor-12': 'The eligible users open with names, status and reason',
    'workflow-monitor-13':
      'The steps open with number, name, type, status, data, error, times, duration, processor and user',
    'workflow-monitor-14': 'Steps 1 to 6 are the pipeline, step 7 all users, those above belong to users',
    'workflow-monitor-15':
      'The result of a user is success, skipped, failed or in progress, as the steps say',
    'workflow-monitor-16': 'The three texts for nothing',
  },
  'Calculator: screen and cards': {
    'calculator-screen-and-cards-1': 'Without a signal id it says so and leads back to the signals',
    'calculator-screen-and-cards-2': 'While the signal loads it says so; when it cannot be loaded too',
    'calculator-screen-and-cards-3':
      'Users are chosen with (You), Active or Inactive, Trading On or Off; the operator may be one of them',
    'calculator-screen-and-cards-4': 'Settings and balance are those of the chosen user',
    'calculator-screen-and-cards-5': 'Account Balance: type, balance, Available and Frozen',
    'calculator-screen-and-cards-6':
      'Its other states: loading, unavailable, and Balance API Error with Please check API connection',
    'calculator-screen-and-cards-7':
      'Signal Information: token, BUY or SELL, price, timeframe in minutes, processor, both times and the raw data',
    'calculator-screen-and-cards-8':
      'Price Log Information: close, symbol, both trends, ATR with two decimals, times and the raw data; empty without a matching log',
    'calculator-screen-and-cards-9':
      'Calculation Settings, Position Parameters, Hyperparameters, Reasoning, Details and Methodology',
    'calculator-screen-and-cards-10': 'Signal Raw Data and Price Log Raw Data',
    'calculator-screen-and-cards-11': 'Position Maker - Order Confirmation',
    'calculator-screen-and-cards-12': 'Order Submission Result: SUCCESS or FAILED',
  },
  'Position maker': {
    'position-maker-1':
      'Refresh, Restart System, and the four cards: Running or Stopped, active of all workers, tasks under way, tasks done',
    'position-maker-2': 'A table of worker threads and one of the recent executions',
    'position-maker-3': 'Without executions: No execution logs yet',
    'position-maker-4': 'Ids of tasks and users are cut to 8 characters',
  },
  'Trading: fields': {
    'trading-fields-1': 'A price log has all its fields; the raw time stands beside the parsed one',
    'trading-fields-2':
      'By its hash it has open, high, low, close, volume, timestamp, received_at and the parameters of the calculator',
    'trading-fields-3': 'A signal has all its fields',
    'trading-fields-4': "... and under the monitor's names its times",
    'trading-fields-5': 'Signal stats are four counts',
    'trading-fields-6': 'A trade has user, exchange, order, time, the answer of the exchange and the payload',
    'trading-fields-7': 'The stop levels are hasData and a record for each user',
    'trading-fields-8': 'The workflows of a signal: counts and lists of both kinds',
    'trading-fields-9':
      'A workflow run has all its fields; error details have type, explanation and suggestion',
    'trading-fields-10': 'A step has all its fields',
    'trading-fields-11': 'The eligibility of a user: id, username, status, reason',
    'trading-fields-12': 'The breakdown has mode, count, four layers and the eligible users with isTestUser',
    'trading-fields-13': 'The environment status says isDeployment and isProduction',
    'trading-fields-14': 'A trading user has userActive and activeTradingEnabled',
    'trading-fields-15': 'A balance has futures and spot figures, plain and to display',
    'trading-fields-16': 'The current price has price and source, and fallbackRequired',
    'trading-fields-17':
      'A calculation has the position, its log id, reason and detail; a refused one error and details',
    'trading-fields-18':
      'A prepared order has pre-assessment, details, settings, inputs, endpoint, exchange and payload',
    'trading-fields-19':
      "A submission has the order's ids, fill status, data both ways, the calls, the journey with its timeline and the technical details",
    'trading-fields-20': 'The status of the position maker has threadManager and the workers',
    'trading-fields-21': 'An execution log has task, user, exchange, success, order and time',
  },
  'Trading: workflows and eligibility': {
    'trading-workflows-and-eligibility-1':
      'A workflow is pending, processing, completed, failed or aborted; a step may be skipped too',
    'trading-workflows-and-eligibility-2': 'A status that is not known is shown as received',
    'trading-workflows-and-eligibility-3':
      "Failed and aborted: the first failed step's error, else the first error, else Processing stopped due to critical error",
    'trading-workflows-and-eligibility-4': 'Completed without a successful user says so',
    'trading-workflows-and-eligibility-5': 'Pending, processing and otherwise N/M users processed',
    'trading-workflows-and-eligibility-6': 'A successful trade is Filled, another one failed',
    'trading-workflows-and-eligibility-7': 'Layer 1: active users with settings',
    'trading-workflows-and-eligibility-8': 'Layer 2: processor, active trading, pause, method, environment',
    'trading-workflows-and-eligibility-9':
      'Layer 3: test users in sandbox, regular users in live, then five criteria',
    'trading-workflows-and-eligibility-10': 'Layer 4: the final list by trade order A to Z',
  },
  'Trading: calculator and execution': {
    'trading-calculator-and-execution-1': 'A live price more than 1% off replaces the signal price',
    'trading-calculator-and-execution-2':
      'When the price service is at its limit or asks for the fallback the signal price is used',
    'trading-calculator-and-execution-3':
      'The settings are saved, then the position is calculated and recorded under an id of its own',
    'trading-calculator-and-execution-4': 'The button says Calculating... meanwhile',
    'trading-calculator-and-execution-5': '... and what is changed meanwhile stays',
    'trading-calculator-and-execution-6':
      'A calculation with other settings than those on the screen is not submitted, and names its method',
    'trading-calculator-and-execution-7':
      'An order takes a calculation and both levels; Preparing order data... meanwhile',
    'trading-calculator-and-execution-8':
      'A custom entry price changes the quantities that are shown, and what is sent',
    'trading-calculator-and-execution-9': 'Confirm & Submit Order becomes Submitting Order...',
    'trading-calculator-and-execution-10': 'The submission is recorded as manual',
    'trading-calculator-and-execution-11': 'SUCCESS (ORDER FILLED) or FAILED (ORDER FAILED)',
    'trading-calculator-and-execution-12':
      'The first attempt is verified after 10 s; unfilled, it is cancelled and a second one at a fresh price with twice the epsilon is verified after 15 s',
    'trading-calculator-and-execution-13': 'After a filled first attempt the second says NOT RUN',
    'trading-calculator-and-execution-14':
      'In production both submit buttons are blocked with the text, and the server refuses',
    'trading-calculator-and-execution-15': 'On paper they go through, and with `MANUAL_ORDERS=enabled`',
    'trading-calculator-and-execution-16':
      'Risk Management fixes the portion to Auto from the risk limit, max 33%',
    'trading-calculator-and-execution-17':
      'Technical Analysis fixes the risk to auto from the stop loss, capped at 15%',
    'trading-calculator-and-execution-18': 'Portfolio Allocation takes both from their lists',
    'trading-calculator-and-execution-19':
      'Scalping and Smart Position are Coming Soon, and no method of the server',
    'trading-calculator-and-execution-20':
      'The system is Running or Stopped, a worker Active or Inactive, an execution Success or Failed',
  },
  'Trading: validation': {
    'trading-validation-1': 'Every text is asserted word for word',
    'trading-validation-2': 'Nothing is prepared without a calculated position',
    'trading-validation-3':
      'Nothing is prepared or submitted without stop loss and take profit: title, text, button, tooltip and banner',
    'trading-validation-4': 'An invalid pre-assessment disables the confirmation, with tooltip and reason',
    'trading-validation-5': '... and the server assesses again when it is submitted',
    'trading-validation-6': 'A calculation needs a user',
    'trading-validation-7':
      'The behavior is fixed at Futures_Limit_Classic; Futures_Limit_Smart and Spot are Coming Soon',
    'trading-validation-8': 'The method is one of three',
    'trading-validation-9': 'A portion is a fraction up to 33%, a risk up to 15%',
    'trading-validation-10': 'The option lists of Portfolio Allocation',
    'trading-validation-11': 'The entry price is a number with the step 0.00000001',
    'trading-validation-12': 'An export without rows alerts No data to export',
    'trading-validation-13': 'Empty filters are not sent and filter nothing',
    'trading-validation-14': 'A timeframe without a unit is shown with m',
    'trading-validation-15': 'A change of filter goes back to page 1; a page has 100 rows',
    'trading-validation-16': 'A price has a $ and two decimals, one that is none is Unknown',
    'trading-validation-17': 'A date that is none is N/A',
    'trading-validation-18': 'Levels have 4 decimals, asset quantities 6, risk and ATR 2, portions 1',
  },
  'Trading: roles': {
    'trading-roles-1': 'All these screens are for administrators; others meet the not-found page',
    'trading-roles-2':
      'A manual trigger is disabled in a production deployment, in the browser and at the server',
    'trading-roles-3':
      "An administrator calculates for another user with that user's settings and balance, for himself with his own",
    'trading-roles-4': 'Restarting the position maker is for administrators',
  },
  'Trading: calls': {
    'trading-calls-1': 'GET /api/price-logs by page and filter: priceLogs and total',
    'trading-calls-2': 'GET /api/price-logs/tokens, /processors, /timeframes',
    'trading-calls-3': 'GET /api/price-logs/hash/{hashValue}',
    'trading-calls-4': 'GET /api/signals by page and filter: signals and total',
    'trading-calls-5': 'GET /api/signals/tokens, /processors, /timeframes',
    'trading-calls-6': 'GET /api/signals/stats',
    'trading-calls-7': 'GET /api/signals/{id} and its trades, sltp, users and workflows',
    'trading-calls-8': 'POST /api/signal/check-eligibility answers the breakdown and changes nothing',
    'trading-calls-9': 'GET /api/automation-workflows by page and filter: workflows and total',
    'trading-calls-10': 'GET /api/automation-workflows/processors and /statuses',
    'trading-calls-11': 'GET /api/automation-workflows/{workflowId}/users and /steps',
    'trading-calls-12': 'POST /api/trigger-automation answers the workflowId, and the list is fetched again',
    'trading-calls-13': 'POST /api/automation/trigger/{signalId} retries',
    'trading-calls-14': 'GET /api/users maps ids to names',
    'trading-calls-15': 'GET /api/environment/status, every 30 s',
    'trading-calls-16': 'GET /api/admin/users lists the users of the calculator',
    'trading-calls-17': 'GET and PUT /api/admin/user-settings/{userId}',
    'trading-calls-18':
      'PUT /api/user-settings with the five fields of the calculator, where the operator calculates for himself',
    'trading-calls-19':
      'GET /api/admin/account-balance/{userId}; a failure is tried two times more, nothing is kept',
    'trading-calls-20':
      'GET /api/current-price/{token}USDT with marketType and a timestamp, never from a cache',
    'trading-calls-21': '... and a symbol that is none is refused',
    'trading-calls-22':
      "POST /api/internal/position-generator/generate; a caller's price counts within 1% of the server's own",
    'trading-calls-23': 'POST /api/position-maker/prepare: success, message, data',
    'trading-calls-24':
      'POST /api/position-maker/submit-order: success, message, orderId; the endpoint is told',
    'trading-calls-25': 'POST /api/individual-position-maker/process takes a calculation and nothing else',
    'trading-calls-26': 'GET /api/position-maker/status and /logs, every 3 s and 5 s',
    'trading-calls-27': 'POST /api/position-maker/restart; a failure is told by its message',
    'trading-calls-28': 'The browser writes price-logs-{date} and signals-{date}',
    'trading-calls-29': 'Dates are yyyy/MM/dd HH:mm:ss in America/Los_Angeles',
  },
  'Trading: messages': {
    'trading-messages-1': 'Every text is asserted word for word in a journey',
    'trading-messages-2': 'A failing answer is its status, a colon and its body',
    'trading-messages-3':
      'The lists, the choices of filters, the stats and the environment status say what could not be fetched',
    'trading-messages-4':
      "A trigger that fails has the server's text or its own; one that succeeds the id of the workflow",
    'trading-messages-5': 'Workflows that cannot be fetched are a toast',
    'trading-messages-6': "An eligibility check that fails is a toast with the server's message",
    'trading-messages-7': 'A retry has three alerts of the browser',
    'trading-messages-8': 'A calculation: its success, and its failure with the error or the default text',
    'trading-messages-9': 'A preparation that fails, by its title and text, and one without data',
    'trading-messages-10':
      'A submission that fails: the error, the default text, an unknown error, and the result dialog with it',
    'trading-messages-11': '... shown for 10 s',
    'trading-messages-12': 'A submission that succeeds has the id of the order',
    'trading-messages-13': 'Order Processing Error',
    'trading-messages-14': 'Price Updated, Price Current, Using Signal Price and Rate Limiting Detected',
    'trading-messages-15':
      'A limit of the rate within an error says that fallback calculations use the real account balance',
    'trading-messages-16':
      '... which is true: the last real balance, or an estimate that cannot be submitted',
    'trading-messages-17':
      'The panel Calculation Error explains a rate limit and the 33% limit, and shows the details otherwise',
    'trading-messages-18': 'The three texts of the balance',
    'trading-messages-19': 'A restart: System Restarted, or Restart Failed with the message or the default',
    'trading-messages-20': 'A trade without a reason is an Unknown error',
  },
  'Trading: constants': {
    'trading-constants-1': '100 rows on a page of price logs and signals; 50 of the monitor, or 25 or 100',
    'trading-constants-2': 'Polls: 30 s, 3 s and 5 s',
    'trading-constants-3': '1% switches to the live price',
    'trading-constants-4': 'Leverage 10 with the trend, 5 against it',
    'trading-constants-5':
      'Stop loss at ATR × 1.5 or 2.0, for Technical Analysis × 2.33 or 2.6; take profit 2:1, or 1.5 and 1.2',
    'trading-constants-6': 'Epsilon in both readings, added for buys, subtracted for sells',
    'trading-constants-7': 'A second attempt takes twice the epsilon, in the automatic profile 2.5 times',
    'trading-constants-8': 'Waits of 10 and 15 seconds by hand; 5, 8 and 2 automatically',
    'trading-constants-9': 'Two requests a second for prices, over all instances',
    'trading-constants-10': 'At most 33% of the balance and 15% risk',
    'trading-constants-11': 'A null portion is 10% in Portfolio Allocation and 5% in Technical Analysis',
    'trading-constants-12': 'The quantity placeholder of 1000 units is shown',
    'trading-constants-13': 'Trends count from 0.5 up and 0.75 down',
    'trading-constants-14': 'Minimum sizes, tick sizes, quantity precisions and the notional of 5 USDT',
    'trading-constants-15': 'Fallbacks: a balance of 318.31, of which 0.8 is available',
    'trading-constants-16': 'User defaults',
    'trading-constants-17': 'The maxima of the methods are a second reading: shown, not applied',
    'trading-constants-18': 'Every parameter of a candle is kept',
    'trading-constants-19':
      'The known tokens and timeframes have badges of their own, readable in both schemes',
    'trading-constants-20': 'A copy button shows for two seconds that it copied',
    'trading-constants-21': 'Nothing is fetched again by itself or tried twice unless a screen says so',
  },
  'Settings of the program': {
    'settings-of-the-program-1':
      'Every setting has its default, takes what it says, and is refused otherwise with one line',
    'settings-of-the-program-2': 'Automatic trading by mode, setting and environment',
    'settings-of-the-program-3': 'Live takes production',
    'settings-of-the-program-4': 'An own database takes a secret key',
    'settings-of-the-program-5': '.env is read; the help names every setting',
    'settings-of-the-program-6':
      'The first administrator is made once, with a given password or one that is shown once',
    'settings-of-the-program-7': 'The secret key is generated once, for its owner alone',
    'settings-of-the-program-8':
      "A start with another secret key than the database's is refused, unless the former one is given up",
    'settings-of-the-program-9': 'Live on the embedded database says what it lacks',
    'settings-of-the-program-10':
      'canProcessSignals is what readiness says: the database answers and the engine runs',
    'settings-of-the-program-11': 'The screens show times in the display time zone',
    'settings-of-the-program-12': 'Deliveries are limited per key and may be limited to addresses',
    'settings-of-the-program-13':
      'The limit is one of the last minute for all instances: what keeps to it is never refused, what is beyond it is',
  },
  Answers: {
    'answers-1':
      'Settings are {success, data}; a field that is not sent stays, null is Auto, unknown fields are ignored, and portion and risk have their bounds',
    'answers-2': 'An id that names nothing is 404, a malformed one 400',
    'answers-3': 'Errors are a message, and the fields on 400; the message of a page is 404 JSON under /api',
    'answers-4': '401 means no session; a wrong password is 403',
    'answers-5': 'Pages are counted from 1 with 1 to 1000 rows; without both all users come',
    'answers-6': 'Lists are bare arrays',
    'answers-7':
      'What nobody foresaw is 500 without its words, a database that is away 503 with the time to wait',
    'answers-8': 'A program that is ending answers in the same shape',
  },
  'Sign-in and sessions': {
    'sign-in-and-sessions-1': 'Unknown user, wrong password and inactive user get the same words',
    'sign-in-and-sessions-2': '... in the same time',
    'sign-in-and-sessions-3':
      'The five password routes share a limit by account and address, with the time to wait; a success clears it',
    'sign-in-and-sessions-4': 'A forgotten password is replaced by a command where the program runs',
    'sign-in-and-sessions-5': 'Failures from one address lock nobody out elsewhere and no other account',
    'sign-in-and-sessions-6':
      'At most fifteen guesses at an account a quarter hour from all addresses where it is not known; known ones have their own limit',
    'sign-in-and-sessions-7':
      'A hundred failures from one address at many accounts end its tries, one after the other or all at once; nothing else is charged to it',
    'sign-in-and-sessions-8': 'Tokens are stored hashed',
    'sign-in-and-sessions-9':
      'The cookie is kept from scripts and other sites; over HTTPS it is secure and has the host prefix',
    'sign-in-and-sessions-10': 'A sign-in makes a new session and adopts none',
    'sign-in-and-sessions-11': 'Sessions end on a change of the password and on deactivation',
    'sign-in-and-sessions-12': 'The loss of the role counts at the next request',
    'sign-in-and-sessions-13':
      'A write from another site is refused, on every route and however its address is written',
    'sign-in-and-sessions-14':
      "What a screen of another user than the session's asks is refused, on every route",
    'sign-in-and-sessions-15': 'Passwords are hashed with argon2id',
    'sign-in-and-sessions-16': 'Usernames are compared without regard to case and compatibility forms',
    'sign-in-and-sessions-17': 'The list of pages is filtered by role',
    'sign-in-and-sessions-18': 'The admin dashboard of an ordinary user has the overview and nothing else',
    'sign-in-and-sessions-19': 'The calls that begin with a path of administrators are for administrators',
    'sign-in-and-sessions-20': 'Fields that a caller may not set are not stored',
    'sign-in-and-sessions-21':
      'What /api and /hooks answer is never kept, in their own shape, and a write of the API leaves a line in the log, however the address is written',
    'sign-in-and-sessions-22':
      'Every answer has the security headers, and pages may run no script of their own',
  },
  'Webhook deliveries': {
    'webhook-deliveries-1': 'Everybody signed in has the same screen for the own webhook',
    'webhook-deliveries-2': 'A key is 32 random bytes, stored encrypted and looked up by a keyed hash',
    'webhook-deliveries-3': 'One webhook for a user, however many are asked for at once',
    'webhook-deliveries-4':
      'The server masks the key until the session has given the password, for five minutes',
    'webhook-deliveries-5':
      'A key that was sealed under another secret key cannot be shown, says so, and is renewed or deleted like any other',
    'webhook-deliveries-6':
      'Hidden, the addresses are masked too and copying asks for the password; a wrong one leaves the dialog open',
    'webhook-deliveries-7': 'A delivery is read as JSON whatever its header says',
    'webhook-deliveries-8':
      'Stored: 200 with the id; the same again: its id, and nothing stored or traded twice',
    'webhook-deliveries-9':
      'The same again is a signal within sixty seconds, one that carries a time and a candle for good',
    'webhook-deliveries-10': 'The answer does not wait for trading',
    'webhook-deliveries-11': 'A key that is not valid: 401 with the same bytes for all',
    'webhook-deliveries-12': 'What cannot be used: 400 with every reason, in the log of the webhook',
    'webhook-deliveries-13': 'More than 64 KiB: 413',
    'webhook-deliveries-14':
      'Over the limit, or when the database cannot take it: 503, and sent again it is stored',
    'webhook-deliveries-15': 'No limit by address holds for a valid key',
    'webhook-deliveries-16': 'The required fields of signals and candles, without regard to case',
    'webhook-deliveries-17':
      'A candle has the currency that it names, else that of its symbol, else USDT; and a processor or none',
    'webhook-deliveries-18':
      'The parameters of a candle are its payload and five fields in small letters, those of a signal its fields beyond the required ones',
    'webhook-deliveries-19': 'Symbols become a token and a currency, and what is no token is refused',
    'webhook-deliveries-20': 'Actions and numbers are taken in the forms that were decided, and no other',
    'webhook-deliveries-21': 'A placeholder that arrives literally is refused by name',
    'webhook-deliveries-22': 'NUL, lone surrogates, deep nesting and __proto__ are refused',
    'webhook-deliveries-23': 'The hash is SHA-256 over webhook, kind and payload with sorted keys',
    'webhook-deliveries-24': 'Times are UTC, and the text is kept',
    'webhook-deliveries-25': 'Timeframes are kept as received and compared in minutes',
    'webhook-deliveries-26': 'A signal of an ordinary user is for that user alone',
    'webhook-deliveries-27': 'Test signals and test candles go the way of a delivery',
    'webhook-deliveries-28': 'No test delivery where real money is traded automatically',
    'webhook-deliveries-29': 'The last 50 deliveries with time, kind, result, reason and source',
    'webhook-deliveries-30': 'Alert messages to copy are accepted once they are filled in',
  },
  Users: {
    'users-1': 'A new user has the defaults, and is a test user unless real money is traded',
    'users-2': 'A null portion is sized as 0.10 or 0.05, a null risk as 0.05',
    'users-3': 'Administrators edit test user, pause, trade order and the answer to an opposite signal',
    'users-4': 'Others neither see nor change them',
    'users-5': 'Credentials are entered, tested and removed, and never shown again',
    'users-6': '... by administrators for others',
    'users-7': 'A refused key is not stored; one that could not be tested is, and that is said',
    'users-8': 'Secrets are bound to user and exchange',
    'users-9': 'Secrets are found nowhere: not in answers, log, tables or files',
    'users-10':
      'A key that may withdraw, may not trade or is of the wrong kind of account is refused, with what to do',
    'users-11': 'A key of which nothing is known is asked about before its first order',
    'users-12':
      "One exchange account serves one user in each mode: another user's key of it is refused, on two instances at once too",
    'users-13':
      'A key whose account is not known does not trade, and is asked about before anything is sized',
    'users-14':
      'Of two users with keys of one account the later one is held, and what they have open is looked after',
    'users-15':
      'Entering and testing keys is limited per user that they are for, so one administrator connects many',
    'users-16': 'A key of another mode is not used',
    'users-17': 'A revoked key stops its user with a visible reason, without a retry loop',
    'users-18':
      'An order that a revoked key leaves in doubt is looked up slowly, and settled by another key of its account alone',
    'users-19': '... or written off by an administrator, as unknown',
    'users-20':
      'While a position is open, a key of another account is refused; after a deletion it is taken, and the position stays on record',
    'users-21': 'Credentials trade for their user in demo and live',
    'users-22': "An inactive user's sessions end at once, and nothing is opened from then on",
  },
  'Price log and trend': {
    'price-log-and-trend-1':
      'The newest candle of token, timeframe, processor and owner that is not too old belongs to a signal',
    'price-log-and-trend-2': 'Whatever number a candle brings is calculated with or refused',
    'price-log-and-trend-3':
      'The mature trend decides, else the immediate one; without any the signal is opposed',
  },
  'Position sizing': {
    'position-sizing-1':
      'Seven tokens, three methods and both alignments agree with a table computed by hand',
    'position-sizing-2': "The calculator's answer is that of the same rules, in 500 random cases",
    'position-sizing-3':
      'Whatever the input, every limit of portion, risk, side, tick, step and minimum holds',
    'position-sizing-4': 'Without an ATR the stop lies 2% away; Technical Analysis is refused',
    'position-sizing-5': 'What cannot be traded is refused with its figures',
    'position-sizing-6': 'A signal more than 10% off the market is not traded by a workflow',
    'position-sizing-7': 'Two sizings of one user never count the same balance twice',
    'position-sizing-8':
      'A custom entry price is on the tick, within 1% of the market and never raises the risk',
    'position-sizing-9': 'The pre-assessment has every reason of the decisions',
  },
  'Order execution': {
    'order-execution-1': 'A calculation is never traded twice, from however many tabs and instances',
    'order-execution-2': 'The second attempt is the unfilled rest, within planned loss and margin, or none',
    'order-execution-3': 'An entry carries its stop; a lost one is placed again, else the position is closed',
    'order-execution-4':
      'An order in doubt is looked up before anything is sent again, and settled within 90 s',
    'order-execution-5':
      'It counts as never placed only while the exchange remembers it and holds nothing that may be its fill',
    'order-execution-6':
      'An accepted order that the exchange has forgotten has ended when nothing is left of it, and is in doubt otherwise',
    'order-execution-7':
      'An order in a state that is not known is there: nothing is sent for it, it is shown as in doubt, and may be written off',
    'order-execution-8': 'An order that was answered 429 is looked up before it is given up',
    'order-execution-9': 'Waits do not depend on whose clock is right',
    'order-execution-10': 'A protected fill above zero is a success, unfilled is failed',
    'order-execution-11': 'Whoever goes away, browser or instance, leaves the order to be finished',
    'order-execution-12': 'A restart finishes or hands over what is under way',
  },
  Workflows: {
    'workflows-1':
      'A stored signal has its workflow; while automatic trading is off it is aborted with the reason',
    'workflows-2':
      "Switched off by a restart, automatic trading opens nothing for workflows that had begun; an operator's go on",
    'workflows-3': 'A manual trigger takes that none is running, a retry that the newest failed',
    'workflows-4': 'A signal older than 30 minutes is not traded',
    'workflows-5': 'Whoever has traded the signal is skipped by the next workflow',
    'workflows-6': 'A held position is kept, reversed or left alone as the settings say',
    'workflows-7':
      'A reversal closes nothing for a signal that would not be traded, and what is refused after its close says so',
    'workflows-8':
      'A position at the exchange that a user has left keeps the next signal away, and is not closed by it',
    'workflows-9': 'Every skip ends with the words that the monitor knows',
    'workflows-10': 'Workflows of one token run one after another, of several side by side',
    'workflows-11': "... and those that concern everybody before those of users' own signals",
    'workflows-12': 'After a restart nothing is lost and nothing traded twice',
  },
  'Live updates': {
    'live-updates-1':
      'A new signal, price log, step or trade shows within a second, in every browser and from every instance',
    'live-updates-2': 'The steps of a running workflow fill as it runs',
    'live-updates-3': 'The screen says how old it is, and can be paused',
    'live-updates-4': 'When the stream is down that is said, and the polls go on',
    'live-updates-5': 'Everybody hears only what is theirs to see',
    'live-updates-6': 'A stream ends with its session',
    'live-updates-7': 'A change has exactly the screens fetched again that show it',
  },
  'Additions: charts': {
    'additions-charts-1':
      'The details of a signal have a candle chart with its marker, entry, stop, target and fills, also in words and as a table',
    'additions-charts-2': 'A price log opens the chart of its token and timeframe',
    'additions-charts-3': 'No text of a marker is cut off by the price axis',
    'additions-charts-4': 'A sparkline shows the signals of each day',
    'additions-charts-5':
      "The calculator's chart moves with the settings, and the three methods stand side by side without anything saved",
  },
  'Additions: why and why not': {
    'additions-why-and-why-not-1': 'For any user: the deciding rule, what it saw and what it wanted',
    'additions-why-and-why-not-2': '... also for users whom the workflow never considered',
    'additions-why-and-why-not-3': '... from the same code that decides',
    'additions-why-and-why-not-4': '... from the monitor as well',
  },
  'Additions: finding, keys and columns': {
    'additions-finding-keys-and-columns-1': 'Filters, page, page size and open dialog stand in the address',
    'additions-finding-keys-and-columns-2':
      'The palette goes to every page, user, token, signal and workflow',
    'additions-finding-keys-and-columns-3': '... and shows an ordinary user nothing else than the own pages',
    'additions-finding-keys-and-columns-4': '/ goes to the filters, the arrows turn pages, Escape closes',
    'additions-finding-keys-and-columns-5': 'The hidden columns of each table are remembered',
  },
  'Additions: export': {
    'additions-export-1':
      'All rows that the filters match are saved, over all pages, with progress and a way to cancel',
    'additions-export-2': 'At most 100,000 rows, and it says which',
    'additions-export-3': 'A cell is never a formula',
    'additions-export-4': 'A cell with a separator of any spreadsheet is quoted',
  },
  'Additions: order and positions': {
    'additions-order-and-positions-1':
      'The hyperparameters in force stand with their sources, the methodology in words with its numbers',
    'additions-order-and-positions-2': 'An order is calculated and confirmed by keyboard alone',
    'additions-order-and-positions-3':
      'The order is followed live and found again after leaving and after a reload',
    'additions-order-and-positions-4': 'Workers of several instances appear together',
    'additions-order-and-positions-5':
      "Open and closed positions with the exchange's own figures, by user, token and in total",
    'additions-order-and-positions-6':
      'A position is closed by its button in every mode, with a confirmation and a record',
    'additions-order-and-positions-7': 'Everybody sees the own ones on the dashboard',
    'additions-order-and-positions-8':
      'A difference between exchange and record is shown; an account that does not answer is said',
    'additions-order-and-positions-9':
      'A position that the connected account cannot show is named as not read, and neither closed on record nor taken for safe',
    'additions-order-and-positions-10':
      '... but for those of paper and demo mode in another mode, which nobody misses',
    'additions-order-and-positions-11': '... and keeps signals in its token away',
    'additions-order-and-positions-12': '... until an administrator writes it off',
  },
  'Additions: everywhere': {
    'additions-everywhere-1': 'No screen and no dialog has a serious finding of axe, in light and dark',
    'additions-everywhere-2': 'A switch that is off is seen to be one, in light and dark',
    'additions-everywhere-3': 'Nothing is wider than a telephone',
  },
};
