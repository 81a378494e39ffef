/** The product's requirements by subject. A comment above each test names the requirements that it proves. */
export const REQUIREMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Screens: session states': {
    'screens-session-states-1':
      'A spinner with Loading... fills the screen while the code loads and the session is looked up',
    'screens-session-states-2': 'Without a session every path shows the sign-in screen and no header',
    'screens-session-states-3':
      'A session that cannot be looked up shows an error with a retry, not the sign-in screen',
    'screens-session-states-4': 'With a session, a header is above the page',
  },
  'Screens: header': {
    'screens-header-1': 'The logo links to the dashboard and names the product',
    'screens-header-2':
      "The navigation is the server's list without the Settings page; the page with the icon Home has the house",
    'screens-header-3': 'Only administrators see the environment badge and the Admin button',
    'screens-header-4': 'The user menu shows the username and offers Settings and Sign Out',
    'screens-header-5': 'Sign Out is disabled while it is pending, and reports its failure',
    'screens-header-6': 'The header works with the keyboard, and a link skips it',
    'screens-header-7': 'On a narrow screen the navigation opens as a drawer and nothing is cut off',
    'screens-header-8': "The color scheme is light, dark or the system's",
    'screens-header-9': 'Every link has a target; a page without a screen is not linked',
    'screens-header-10': 'A navigation that cannot be fetched offers a retry',
  },
  'Screens: routes': {
    'screens-routes-1': 'Every signed-in user can open the dashboard, the settings and the own webhook',
    'screens-routes-2': 'Every signed-in user can open the admin dashboard',
    'screens-routes-3': "Others get the not-found page for every administrators' page",
    'screens-routes-4': 'Any other path shows the not-found page, titled Page Not Found, to everybody',
    'screens-routes-5':
      'The registry has the specified pages at the paths of their names; create-client is labelled Users',
    'screens-routes-6': 'The admin dashboard lists the active pages, to administrators only',
  },
  'Screens: sign-in': {
    'screens-sign-in-1':
      'A panel describes the product: smart trading solutions, signals, position calculator, risk management, profit optimization',
    'screens-sign-in-2': 'The form is titled Welcome Back and asks for username and password',
    'screens-sign-in-3': 'A failure shows a red alert',
    'screens-sign-in-4': 'After a successful sign-in the user is on the dashboard',
  },
  'Screens: dashboard and admin dashboard': {
    'screens-dashboard-and-admin-dashboard-1': 'The dashboard greets the user by username',
    'screens-dashboard-and-admin-dashboard-2':
      'A card leads to the user settings; administrators also have one to the admin dashboard',
    'screens-dashboard-and-admin-dashboard-3':
      'The system status shows Online, Active and the access level, Admin or User',
    'screens-dashboard-and-admin-dashboard-4':
      'The admin dashboard has Back to Main and the System Overview: Active, Real-time, Secure',
  },
  'Screens: user settings': {
    'screens-user-settings-1':
      "With the parameter userId an administrator sees and edits another user's settings; the title names that user and a warning appears",
    'screens-user-settings-2': 'The parameter userId has no effect for ordinary users',
    'screens-user-settings-3':
      'The account shows its ID with a copy button, username, administrator or not, names and mobile number; empty values read Not provided',
    'screens-user-settings-4': 'A dialog changes the password, of the own account only',
    'screens-user-settings-5':
      'The form has the eight fields and a Save Settings button; active trading is not one of them',
    'screens-user-settings-6': 'The calculation of stop loss and take profit is locked, with the reason',
    'screens-user-settings-7': 'A field that the sizing method calculates is disabled and offers only Auto',
    'screens-user-settings-8': 'Each part that cannot be fetched offers a retry',
    'screens-user-settings-9':
      'Links, the back button, signing out and closing the tab do not lose unsaved changes',
    'screens-user-settings-10':
      'An untouched form follows what is stored; a write of settings that changed since they were read is refused with the newer values, and the user takes theirs or keeps what was entered',
  },
  'Screens: users': {
    'screens-users-1':
      "The page has a way back to the admin dashboard and an info card; each row links to the user's settings",
    'screens-users-2': 'All users are in a table with ten per page and shortened ids',
    'screens-users-3': 'A dialog creates users',
    'screens-users-4': 'Active trading and the status are switched after a confirmation',
    'screens-users-5': 'Inactive users are listed, and can be hidden',
    'screens-users-6': 'Users can be searched and sorted by column; both are kept in the address',
  },
  'Screens: webhook configuration': {
    'screens-webhook-configuration-1':
      'The page has a title, a subtitle and a Price Logs button that leads to the dashboard',
    'screens-webhook-configuration-2':
      'The page shows a skeleton while it loads, and a retry when it cannot be fetched',
    'screens-webhook-configuration-3':
      'Without a webhook the card says so, explains it and offers to create one',
    'screens-webhook-configuration-4':
      'With a webhook, the page shows the badge Active and the day of its creation',
    'screens-webhook-configuration-5': 'The key is masked until it is revealed, and can be copied',
    'screens-webhook-configuration-6':
      'Both addresses are shown read-only, each described and with a copy button',
    'screens-webhook-configuration-7':
      "Both addresses consist of the page's origin, the endpoint's path and the key",
    'screens-webhook-configuration-8':
      'A second card documents both endpoints with example payloads, five steps and a security notice',
    'screens-webhook-configuration-9':
      'Renewing warns that the old key stops at once and cannot be restored, then asks for the password',
    'screens-webhook-configuration-10':
      'Deleting warns that it is permanent and that alerts stop, then asks for the password',
    'screens-webhook-configuration-11': 'Showing the key asks for the password',
    'screens-webhook-configuration-12':
      'The confirm buttons are disabled for a blank password and while pending, with Renewing..., Deleting..., Verifying...',
  },
  'Screens: environment': {
    'screens-environment-1':
      'The badge opens System Environment Details with the configuration: environment, node environment, deployment, auto-trade, its configuration, signal processing',
    'screens-environment-2':
      'The server information shows whether it is a deployment, the instance id, and the deployment id if there is one, both cut to 20 characters',
    'screens-environment-3':
      'The dialog has a banner, the time of the last update and the note about the refresh',
    'screens-environment-4': 'The tooltip shows environment and auto-trade, and says that a click shows more',
    'screens-environment-5':
      'Beside the badge, Paper, Demo or Live says whether the money is real; real money stands out',
  },
  'Accounts: fields': {
    'accounts-fields-1': "The session's answer has the user's id, username, role, names and phone number",
    'accounts-fields-2': 'Without a session no user is returned',
    'accounts-fields-3':
      'A listed user has names, phone number, role, status, creation time and settings, and no secret',
    'accounts-fields-4': 'The settings have the nine fields with their values; fractions are strings or null',
    'accounts-fields-5': 'The default exchange is the first one listed',
    'accounts-fields-6': 'The timeframes come from the server, Any first',
    'accounts-fields-7': 'A webhook has id, name, key and creation time; each user has at most one',
    'accounts-fields-8': 'The example signal has symbol, action, price as text, timeframe and processor',
    'accounts-fields-9': 'The example candle has the eleven fields, its time as yyyymmddhhmm',
    'accounts-fields-10': 'A navigation page has pageName, path, displayName and icon',
    'accounts-fields-11': 'The environment status has all fields; deploymentId only in a deployment',
    'accounts-fields-12': 'An environment that is neither production nor development is UNKNOWN',
  },
  'Accounts: states': {
    'accounts-states-1': 'After signing in, the user is looked up again',
    'accounts-states-2': 'After signing out, the user is looked up again and the cache is cleared',
    'accounts-states-3':
      'A session that ends elsewhere leads to the sign-in screen and clears what was loaded',
    'accounts-states-4':
      "Another sign-in in the same browser removes the former user's screens and data from every tab",
    'accounts-states-5': "An inactive user cannot sign in; the user's data is kept",
    'accounts-states-6': 'Administrators cannot deactivate themselves',
    'accounts-states-7': 'Switching active trading warns that live trading is affected',
    'accounts-states-8': 'With active trading on, signals open positions; with it off, nothing is opened',
    'accounts-states-9': 'Risk Management sets the portion to Auto and keeps the risk, 0.05 by default',
    'accounts-states-10':
      'Portfolio Allocation restores portion (0.10) and risk (0.05), and both can be chosen',
    'accounts-states-11': 'Technical Analysis restores the portion (0.05) and sets the risk to auto',
    'accounts-states-12': 'A webhook can be created, renewed and deleted; an old key is invalid at once',
    'accounts-states-13': 'Showing the key takes the password; hiding it takes none',
    'accounts-states-14':
      'The badge says Live Trading in green in production with auto-trade, PROD (Manual) in yellow in production without it, Dev Mode in dark yellow in development, UNKNOWN in red otherwise',
    'accounts-states-15': 'While the status loads, the badge says Loading...',
    'accounts-states-16': "Each environment's banner has its title and text",
    'accounts-states-17': 'A copy button confirms for two seconds',
  },
  'Accounts: validation': {
    'accounts-validation-1': 'Tests check every message word for word',
    'accounts-validation-2': 'Sign-in: username and password are required',
    'accounts-validation-3':
      'Change of password: the current one is required, the new one has 6 characters, and a different confirmation shows its message at the confirmation field',
    'accounts-validation-4': 'New user: a username of 3 to 50 characters that is an e-mail address',
    'accounts-validation-5': 'New user: a password of 6 to 100 characters, entered twice',
    'accounts-validation-6':
      'New user: names are optional; country code and mobile number are optional and have a format',
    'accounts-validation-7': 'New user: not an administrator unless selected',
    'accounts-validation-8': 'Auto is sent as null',
    'accounts-validation-9': 'A password that confirms an action must not be blank, and the server checks it',
    'accounts-validation-10': 'A portion is shown as a percentage with one decimal',
    'accounts-validation-11':
      'Weak new passwords are refused at their field: the most used ones, the username, one repeated character, the current one; administrators, and everybody in live mode, need 12 characters',
  },
  'Accounts: roles': {
    'accounts-roles-1':
      'Without signing in there is only the sign-in screen, and the server refuses every call',
    'accounts-roles-2': 'An ordinary user has the dashboard and the own settings, password and webhook',
    'accounts-roles-3': "An ordinary user cannot reach administrators' pages or calls",
    'accounts-roles-4': 'An ordinary user cannot change other users, nor fields reserved to administrators',
    'accounts-roles-5': 'Showing, renewing and deleting the key take the password',
    'accounts-roles-6': 'Administrators can reach everything',
    'accounts-roles-7': 'Every route declares who may call it, and the matrix of roles covers all of them',
  },
  'Accounts: calls': {
    'accounts-calls-1': 'Every call carries the session cookie',
    'accounts-calls-2':
      'A request has a JSON body only when there is something to send; answers are read as JSON',
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
    'accounts-calls-14': 'GET /api/admin/users returns pages, with or without inactive users',
    'accounts-calls-15': 'POST /api/admin/create-client',
    'accounts-calls-16': 'PUT /api/admin/user/{userId}/active-trading',
    'accounts-calls-17': 'PUT /api/admin/user/{userId}/status and the two PATCH calls with the same effect',
    'accounts-calls-18': 'GET /api/environment/status',
    'accounts-calls-19': 'The status is fetched every 30 seconds',
    'accounts-calls-20': 'POST /hooks/trading_view_signal and /hooks/trading_view_candler',
    'accounts-calls-21': 'By default a query is a GET to the first element of its key',
    'accounts-calls-22': "401 is an error by default; the look-up of the session reads it as 'no user'",
    'accounts-calls-23': 'Data does not become stale and is not fetched again by itself, not even on focus',
    'accounts-calls-24': 'Neither queries nor writes are retried',
  },
  'Accounts: messages': {
    'accounts-messages-1': 'Browser tests check every message word for word',
    'accounts-messages-2':
      'A refusal reads as its status, a colon and its body, or the status text if it has no body',
    'accounts-messages-3': "The server's message is shown if there is one, otherwise the screen's text",
    'accounts-messages-4': 'A missing answer is reported in plain words',
    'accounts-messages-5': 'Sign-in shows the message in a red alert, or the default text without an answer',
    'accounts-messages-6': "Webhook failures are toasts with the server's message or the action's text",
    'accounts-messages-7': 'Renewing or deleting a webhook that no longer exists says so',
    'accounts-messages-8': 'A wrong password for the webhook shows Access Denied',
    'accounts-messages-9': 'Each successful webhook action has its toast',
    'accounts-messages-10': 'Saving settings reports success, for oneself and for another user, and failure',
    'accounts-messages-11': 'Changing the password reports success and failure',
    'accounts-messages-12': 'Copying an ID reports success and failure',
    'accounts-messages-13': "Creating a user reports success, the server's refusal, and a missing answer",
    'accounts-messages-14': 'Switching status and active trading reports success and failure',
    'accounts-messages-15': 'Deactivating and reactivating report success and failure',
    'accounts-messages-16':
      'An environment status that cannot be fetched is reported, and the badge keeps its loading look',
    'accounts-messages-17':
      "Unknown pages show the not-found page; ordinary users see it for administrators' pages too",
    'accounts-messages-18': 'Only one toast is shown at a time: the newest replaces the one before',
    'accounts-messages-19': 'A toast is shown for 5000 ms',
    'accounts-messages-20':
      'While the server is away, loaded data stays on the screen, and lists and filters can be fetched again',
  },
  'Accounts: limits': {
    'accounts-limits-1': 'A page has ten users',
    'accounts-limits-2': 'The environment is refreshed every 30 seconds',
    'accounts-limits-3': 'Ids in the environment dialog are cut to 20 characters',
    'accounts-limits-4': 'An id of 8 or more characters is shortened to its first and last four',
    'accounts-limits-5': 'Passwords and usernames have length limits',
    'accounts-limits-6':
      "The form's default method is Risk Management; stored defaults are 0.10, 0.05 and 0.05",
    'accounts-limits-7':
      'New settings have timeframe Any, processor Tesla, market Futures, calculation Futures_Limit_Classic',
    'accounts-limits-8': 'A new webhook is named Default Webhook',
    'accounts-limits-9': 'The portions are 2, 5, 10, 15 and 20 percent, the risks 2, 5, 10 and 15 percent',
    'accounts-limits-10': 'Toasts are at most 700 pixels wide, 800 on large screens',
  },
  'Price logs': {
    'price-logs-1': 'The screen is at /price-logs, titled Price Logs',
    'price-logs-2':
      'Filters for token, timeframe and processor each offer all; empty ones filter nothing; Clear Filters empties them',
    'price-logs-3': 'The screen has Export CSV and Refresh',
    'price-logs-4':
      'The eleven columns are in the specified order; the hash is cut to 16 characters and an ellipsis',
    'price-logs-5': 'View opens the parameters as readable JSON',
    'price-logs-6': 'Without parameters the cell says No parameters available',
    'price-logs-7': 'Ten skeleton rows are shown while the list loads',
    'price-logs-8': 'An empty list says No price logs found',
    'price-logs-9':
      'Paging appears only with more than one page: Showing X to Y of Z entries, Previous, Next and the buttons of pages 1 to 5',
    'price-logs-10': 'The address of a page beyond the last one leads to the last page',
    'price-logs-11': 'A legend explains the three times and the delay of 15-30 minutes',
    'price-logs-12': 'The list and the environment status are refreshed every 30 seconds',
  },
  'Signals: the table': {
    'signals-the-table-1':
      "The screen is at /signals with four cards: Total Signals, Today's Signals, Buy Signals, Sell Signals",
    'signals-the-table-2':
      'Filters for token, action, timeframe and processor have Clear Filters; a change returns to page 1',
    'signals-the-table-3': 'The screen has Export CSV, Refresh and a link to /configuration',
    'signals-the-table-4':
      'Signal History shows Showing N of M signals and the fourteen columns in the specified order',
    'signals-the-table-5': 'With more than one page there are Previous, Page X of Y and Next',
    'signals-the-table-6': 'Position is a badge Buy or Sell',
    'signals-the-table-7': "The ID opens the signal's details",
    'signals-the-table-8': 'SL/TP has four decimals and opens the calculation',
    'signals-the-table-9': 'Triggers shows the counts of automatic and manual ones and opens the workflows',
    'signals-the-table-10': 'The status is a badge with a tooltip and opens the execution',
    'signals-the-table-11': 'Success is the percentage of successful trades, or a dash',
    'signals-the-table-12':
      'Trades shows successful of all and opens them; Users shows successful of eligible and opens the list',
    'signals-the-table-13':
      "Trigger runs the workflow; the link beside it opens the calculator with the signal's id",
    'signals-the-table-14':
      'Trigger is disabled in a production deployment, with the reason in its tooltip, and the server refuses it',
  },
  'Signals: the dialogs': {
    'signals-the-dialogs-1':
      'Signal detail shows id, token, action, price, currency, timeframe, processor, three times and the parameters',
    'signals-the-dialogs-2':
      'SL/TP Calculation Details shows for each user the method, prices, investment, leverage, risk as a percentage, reason and detail',
    'signals-the-dialogs-3':
      'The SL/TP dialog shows the calculation that was traded, whatever the calculator computes later',
    'signals-the-dialogs-4': 'The SL/TP dialog has a text for a signal without a calculation',
    'signals-the-dialogs-5':
      'Workflows for Signal lists the automatic and the manual ones, each with id, status, start as time and as age, users, error and reason',
    'signals-the-dialogs-6': 'The workflows dialog has a text for a signal without a workflow',
    'signals-the-dialogs-7':
      'Workflow Execution Details lists the steps in order, each with name, user, status, duration, expandable input and output, error, times and processor',
    'signals-the-dialogs-8': 'The execution dialog has a text for a workflow without a step',
    'signals-the-dialogs-9':
      "Trade Details - Signal shows the four counts, and the exchange's answer for each successful trade",
    'signals-the-dialogs-10':
      'Failed trades are grouped by reason with percentage and users; those without a reason are Unknown error',
    'signals-the-dialogs-11': 'The list of users shows for each whether eligible, and why',
    'signals-the-dialogs-12':
      'Without a recorded workflow, the list of users says that eligibility is decided as of now',
    'signals-the-dialogs-13':
      "Eligible Users Breakdown shows the four layers and opens from a signal's users",
  },
  'Workflow monitor': {
    'workflow-monitor-1':
      "The filters for processor and status have the server's lists; a change returns to page 1",
    'workflow-monitor-2': 'A page has 50 rows, or 25 or 100',
    'workflow-monitor-3': 'The list is fetched every 30 seconds',
    'workflow-monitor-4': 'A row has the fields of a workflow',
    'workflow-monitor-5': 'An id of more than 8 characters is shortened to its first and last four',
    'workflow-monitor-6': 'Durations are in ms, s, minutes or hours with one decimal',
    'workflow-monitor-7':
      'The failure reason comes from the type, otherwise from the message, and is cut to 50 or 30 characters',
    'workflow-monitor-8':
      "The reason's tooltip has message, type, explanation and suggested action; details that cannot be parsed become technical details",
    'workflow-monitor-9': "A row's buttons stay on the screen, however long its texts are",
    'workflow-monitor-10': 'Only a failed workflow with a signal can be retried',
    'workflow-monitor-11': 'A row opens the details of its signal',
    'workflow-monitor-12': 'A row opens the eligible users with names, status and reason',
    'workflow-monitor-13':
      'A row opens the steps with number, name, type, status, data, error, times, duration, processor and user',
    'workflow-monitor-14':
      'Steps 1 to 6 are the pipeline, step 7 covers all users, and later steps belong to one user each',
    'workflow-monitor-15':
      "A user's result is success, skipped, failed or in progress, according to the steps",
    'workflow-monitor-16': 'The three empty states have their texts',
  },
  'Calculator: screen and cards': {
    'calculator-screen-and-cards-1': 'Without a signal id the screen says so and leads back to the signals',
    'calculator-screen-and-cards-2':
      'The screen says when the signal is loading, and when it cannot be loaded',
    'calculator-screen-and-cards-3':
      'The user selection shows (You), Active or Inactive, Trading On or Off; the operator can be selected',
    'calculator-screen-and-cards-4': 'Settings and balance are those of the selected user',
    'calculator-screen-and-cards-5': 'Account Balance shows type, balance, Available and Frozen',
    'calculator-screen-and-cards-6':
      'Account Balance has the states loading, unavailable, and Balance API Error with Please check API connection',
    'calculator-screen-and-cards-7':
      'Signal Information shows token, BUY or SELL, price, timeframe in minutes, processor, both times and the raw data',
    'calculator-screen-and-cards-8':
      'Price Log Information shows close, symbol, both trends, ATR with two decimals, times and the raw data; it is empty without a matching log',
    'calculator-screen-and-cards-9':
      'The screen has the cards Calculation Settings, Position Parameters, Hyperparameters, Reasoning, Details and Methodology',
    'calculator-screen-and-cards-10': 'The screen has the cards Signal Raw Data and Price Log Raw Data',
    'calculator-screen-and-cards-11': 'An order is confirmed in Position Maker - Order Confirmation',
    'calculator-screen-and-cards-12': 'Order Submission Result says SUCCESS or FAILED',
  },
  'Position maker': {
    'position-maker-1':
      'The screen has Refresh, Restart System and four cards: Running or Stopped, active workers of all, tasks under way, tasks done',
    'position-maker-2': 'One table lists worker threads, another the recent executions',
    'position-maker-3': 'Without executions the table says No execution logs yet',
    'position-maker-4': 'Task and user ids are cut to 8 characters',
  },
  'Trading: fields': {
    'trading-fields-1': 'A price log has all its fields; the raw time is shown beside the parsed one',
    'trading-fields-2':
      "A price log looked up by its hash has open, high, low, close, volume, timestamp, received_at and the calculator's parameters",
    'trading-fields-3': 'A signal has all its fields',
    'trading-fields-4': "A signal also has its times under the monitor's names",
    'trading-fields-5': 'Signal stats are four counts',
    'trading-fields-6': "A trade has user, exchange, order, time, the exchange's answer and the payload",
    'trading-fields-7': 'The stop levels have hasData and a record for each user',
    'trading-fields-8': "A signal's workflows have counts and lists of both kinds",
    'trading-fields-9': 'A workflow has all its fields; error details have type, explanation and suggestion',
    'trading-fields-10': 'A step has all its fields',
    'trading-fields-11': "A user's eligibility has id, username, status and reason",
    'trading-fields-12': 'The breakdown has mode, count, four layers and the eligible users with isTestUser',
    'trading-fields-13': 'The environment status has isDeployment and isProduction',
    'trading-fields-14': 'A trading user has userActive and activeTradingEnabled',
    'trading-fields-15': 'A balance has futures and spot figures, as numbers and formatted',
    'trading-fields-16': 'The current price has price, source and fallbackRequired',
    'trading-fields-17':
      'A calculation has the position, its log id, reason and detail; a refused one has error and details',
    'trading-fields-18':
      'A prepared order has pre-assessment, details, settings, inputs, endpoint, exchange and payload',
    'trading-fields-19':
      "A submission has the order's ids, fill status, data in both directions, the calls, the journey with its timeline and the technical details",
    'trading-fields-20': 'The status of the position maker has threadManager and the workers',
    'trading-fields-21': 'An execution log has task, user, exchange, success, order and time',
  },
  'Trading: workflows and eligibility': {
    'trading-workflows-and-eligibility-1':
      'A workflow is pending, processing, completed, failed or aborted; a step may also be skipped',
    'trading-workflows-and-eligibility-2': 'An unknown status is shown as received',
    'trading-workflows-and-eligibility-3':
      "A failed or aborted workflow shows the first failed step's error, otherwise the first error, otherwise Processing stopped due to critical error",
    'trading-workflows-and-eligibility-4': 'A workflow that completed without a successful user says so',
    'trading-workflows-and-eligibility-5':
      'Other workflows, pending and processing ones included, say N/M users processed',
    'trading-workflows-and-eligibility-6': 'A successful trade is Filled, any other one failed',
    'trading-workflows-and-eligibility-7': 'Layer 1 selects active users with settings',
    'trading-workflows-and-eligibility-8':
      'Layer 2 checks processor, active trading, pause, method and environment',
    'trading-workflows-and-eligibility-9':
      'Layer 3 selects test users in sandbox and regular users in live, then applies five criteria',
    'trading-workflows-and-eligibility-10': 'Layer 4 is the final list, in trade order A to Z',
  },
  'Trading: calculator and execution': {
    'trading-calculator-and-execution-1': 'A live price more than 1% off replaces the signal price',
    'trading-calculator-and-execution-2':
      'The signal price is used when the price service is at its limit or asks for the fallback',
    'trading-calculator-and-execution-3':
      'The settings are saved, then the position is calculated and recorded under its own id',
    'trading-calculator-and-execution-4': 'The button says Calculating... while it calculates',
    'trading-calculator-and-execution-5': 'Changes made while a calculation runs are kept',
    'trading-calculator-and-execution-6':
      'A calculation made with other settings than those on the screen cannot be submitted, and shows its method',
    'trading-calculator-and-execution-7':
      'An order requires a calculation and both levels; the button says Preparing order data... while it is prepared',
    'trading-calculator-and-execution-8':
      'A custom entry price changes the quantities shown and what is sent',
    'trading-calculator-and-execution-9': 'Confirm & Submit Order becomes Submitting Order...',
    'trading-calculator-and-execution-10': 'The submission is recorded as manual',
    'trading-calculator-and-execution-11': 'The result is SUCCESS (ORDER FILLED) or FAILED (ORDER FAILED)',
    'trading-calculator-and-execution-12':
      'The first attempt is verified after 10 s; if unfilled, it is cancelled, and a second one at a fresh price with twice the epsilon is verified after 15 s',
    'trading-calculator-and-execution-13': 'After a filled first attempt the second one says NOT RUN',
    'trading-calculator-and-execution-14':
      'In production both submit buttons are disabled with the text, and the server refuses',
    'trading-calculator-and-execution-15':
      'Both submit buttons work on paper, and with `MANUAL_ORDERS=enabled`',
    'trading-calculator-and-execution-16':
      'Risk Management sets the portion to Auto from the risk limit, at most 33%',
    'trading-calculator-and-execution-17':
      'Technical Analysis sets the risk to auto from the stop loss, at most 15%',
    'trading-calculator-and-execution-18': 'Portfolio Allocation offers lists for portion and risk',
    'trading-calculator-and-execution-19':
      'Scalping and Smart Position are Coming Soon, and the server does not know them',
    'trading-calculator-and-execution-20':
      'The system is Running or Stopped, a worker Active or Inactive, an execution Success or Failed',
  },
  'Trading: validation': {
    'trading-validation-1': 'Tests check every text word for word',
    'trading-validation-2': 'No order is prepared without a calculated position',
    'trading-validation-3':
      'Nothing is prepared or submitted without stop loss and take profit; title, text, button, tooltip and banner say so',
    'trading-validation-4': 'An invalid pre-assessment disables the confirmation, with tooltip and reason',
    'trading-validation-5': 'The server repeats the pre-assessment when the order is submitted',
    'trading-validation-6': 'A calculation requires a user',
    'trading-validation-7':
      'The behavior is fixed at Futures_Limit_Classic; Futures_Limit_Smart and Spot are Coming Soon',
    'trading-validation-8': 'The method is one of three',
    'trading-validation-9': 'A portion is a fraction up to 33%, a risk up to 15%',
    'trading-validation-10': 'Portfolio Allocation has its lists of options',
    'trading-validation-11': 'The entry price is a number with step 0.00000001',
    'trading-validation-12': 'An export without rows alerts No data to export',
    'trading-validation-13': 'Empty filters are not sent and filter nothing',
    'trading-validation-14': 'A timeframe without a unit is shown with m',
    'trading-validation-15': 'A change of filter returns to page 1; a page has 100 rows',
    'trading-validation-16': 'A price has a $ and two decimals; an invalid one is Unknown',
    'trading-validation-17': 'An invalid date is N/A',
    'trading-validation-18': 'Levels have 4 decimals, asset quantities 6, risk and ATR 2, portions 1',
  },
  'Trading: roles': {
    'trading-roles-1': 'These screens are for administrators; others see the not-found page',
    'trading-roles-2':
      'A manual trigger is disabled in a production deployment, in the browser and on the server',
    'trading-roles-3':
      "An administrator calculates for another user with that user's settings and balance, and for the own account with the own ones",
    'trading-roles-4': 'Only administrators can restart the position maker',
  },
  'Trading: calls': {
    'trading-calls-1': 'GET /api/price-logs returns priceLogs and total, by page and filter',
    'trading-calls-2': 'GET /api/price-logs/tokens, /processors, /timeframes',
    'trading-calls-3': 'GET /api/price-logs/hash/{hashValue}',
    'trading-calls-4': 'GET /api/signals returns signals and total, by page and filter',
    'trading-calls-5': 'GET /api/signals/tokens, /processors, /timeframes',
    'trading-calls-6': 'GET /api/signals/stats',
    'trading-calls-7': 'GET /api/signals/{id} has the sub-resources trades, sltp, users and workflows',
    'trading-calls-8': 'POST /api/signal/check-eligibility returns the breakdown and changes nothing',
    'trading-calls-9': 'GET /api/automation-workflows returns workflows and total, by page and filter',
    'trading-calls-10': 'GET /api/automation-workflows/processors and /statuses',
    'trading-calls-11': 'GET /api/automation-workflows/{workflowId}/users and /steps',
    'trading-calls-12': 'POST /api/trigger-automation returns the workflowId, and the list is fetched again',
    'trading-calls-13': 'POST /api/automation/trigger/{signalId} retries the workflow',
    'trading-calls-14': 'GET /api/users maps ids to names',
    'trading-calls-15': 'GET /api/environment/status, every 30 s',
    'trading-calls-16': 'GET /api/admin/users lists the users of the calculator',
    'trading-calls-17': 'GET and PUT /api/admin/user-settings/{userId}',
    'trading-calls-18':
      "PUT /api/user-settings saves the calculator's five fields when operators calculate for themselves",
    'trading-calls-19':
      'GET /api/admin/account-balance/{userId} is retried twice, and its answer is not cached',
    'trading-calls-20':
      'GET /api/current-price/{token}USDT takes marketType and a timestamp and is never cached',
    'trading-calls-21': 'GET /api/current-price refuses an invalid symbol',
    'trading-calls-22':
      "POST /api/internal/position-generator/generate accepts a caller's price within 1% of the server's own",
    'trading-calls-23': 'POST /api/position-maker/prepare returns success, message and data',
    'trading-calls-24':
      'POST /api/position-maker/submit-order returns success, message and orderId, and names the endpoint',
    'trading-calls-25': 'POST /api/individual-position-maker/process takes only a calculation',
    'trading-calls-26': 'GET /api/position-maker/status and /logs are fetched every 3 s and 5 s',
    'trading-calls-27': 'POST /api/position-maker/restart reports a failure with its message',
    'trading-calls-28': 'The browser saves the exports as price-logs-{date} and signals-{date}',
    'trading-calls-29': 'Dates are yyyy/MM/dd HH:mm:ss in America/Los_Angeles',
  },
  'Trading: messages': {
    'trading-messages-1': 'Browser tests check every text word for word',
    'trading-messages-2': 'A failed request reads as its status, a colon and its body',
    'trading-messages-3':
      'Lists, filter choices, stats and the environment status report what could not be fetched',
    'trading-messages-4':
      "A failed trigger shows the server's text or its own; a successful one shows the workflow's id",
    'trading-messages-5': 'Workflows that cannot be fetched show a toast',
    'trading-messages-6': "A failed eligibility check shows a toast with the server's message",
    'trading-messages-7': 'A retry has three browser alerts',
    'trading-messages-8': 'A calculation reports success, or failure with the error or the default text',
    'trading-messages-9': 'A failed preparation shows its title and text, also when the answer has no data',
    'trading-messages-10':
      'A failed submission shows the error, the default text or an unknown error, and the result dialog',
    'trading-messages-11': 'The toast of a failed submission is shown for 10 s',
    'trading-messages-12': "A successful submission shows the order's id",
    'trading-messages-13': 'Order Processing Error is shown',
    'trading-messages-14':
      'Price Updated, Price Current, Using Signal Price and Rate Limiting Detected are shown',
    'trading-messages-15':
      'An error that mentions a rate limit says that fallback calculations use the real account balance',
    'trading-messages-16':
      'Fallback calculations use the last real balance, or an estimate that cannot be submitted',
    'trading-messages-17':
      'The panel Calculation Error explains a rate limit and the 33% limit, and shows the details otherwise',
    'trading-messages-18': 'The balance has its three texts',
    'trading-messages-19':
      'A restart reports System Restarted, or Restart Failed with the message or the default',
    'trading-messages-20': 'A trade without a reason shows Unknown error',
  },
  'Trading: constants': {
    'trading-constants-1': 'Price logs and signals have 100 rows per page, the monitor 50, 25 or 100',
    'trading-constants-2': 'Screens poll every 30 s, 3 s or 5 s',
    'trading-constants-3': 'A difference of 1% switches to the live price',
    'trading-constants-4': 'Leverage 10 with the trend, 5 against it',
    'trading-constants-5':
      'The stop loss is at ATR × 1.5 or 2.0, for Technical Analysis × 2.33 or 2.6; the take profit at 2:1, or 1.5 and 1.2',
    'trading-constants-6':
      'Both readings of epsilon are supported; it is added for buys and subtracted for sells',
    'trading-constants-7': 'A second attempt uses twice the epsilon, in the automatic profile 2.5 times',
    'trading-constants-8': 'Waits are 10 and 15 seconds by hand, and 5, 8 and 2 automatically',
    'trading-constants-9': 'Prices are asked for at most twice a second, over all instances',
    'trading-constants-10': 'A position uses at most 33% of the balance and 15% risk',
    'trading-constants-11': 'A null portion is 10% in Portfolio Allocation and 5% in Technical Analysis',
    'trading-constants-12': 'The quantity placeholder of 1000 units is shown',
    'trading-constants-13': 'A trend counts from 0.5 upwards and from -0.75 downwards',
    'trading-constants-14':
      'Minimum sizes, tick sizes, quantity precisions and the minimum notional of 5 USDT apply',
    'trading-constants-15': 'The fallback balance is 318.31, of which 0.8 is available',
    'trading-constants-16': 'New users have their default settings',
    'trading-constants-17': "The methods' maxima are a second reading: shown, not applied",
    'trading-constants-18': 'Every parameter of a candle is kept',
    'trading-constants-19':
      'The known tokens and timeframes have their own badges, readable in both color schemes',
    'trading-constants-20': 'A copy button confirms for two seconds',
    'trading-constants-21': 'Nothing is fetched again or retried unless a screen says so',
  },
  'Settings of the program': {
    'settings-of-the-program-1':
      'Every setting has its default, accepts what its description says, and is refused with one line otherwise',
    'settings-of-the-program-2': 'Mode, setting and environment decide about automatic trading',
    'settings-of-the-program-3': 'Live mode requires production',
    'settings-of-the-program-4': 'An external database requires a secret key',
    'settings-of-the-program-5': '.env is read; the help names every setting',
    'settings-of-the-program-6':
      'The first administrator is created once, with a given password or a generated one that is shown once',
    'settings-of-the-program-7': 'The secret key is generated once, readable only by its owner',
    'settings-of-the-program-8':
      "A start with another secret key than the database's is refused, unless the former one is given up",
    'settings-of-the-program-9': 'Live mode on the embedded database says what it lacks',
    'settings-of-the-program-10':
      'canProcessSignals equals readiness: the database answers and the engine runs',
    'settings-of-the-program-11': 'The screens show times in the display time zone',
    'settings-of-the-program-12': 'Deliveries are limited per key and can be restricted to addresses',
    'settings-of-the-program-13':
      'The limit covers the last minute over all instances: deliveries within it are never refused, those beyond it are',
  },
  Answers: {
    'answers-1':
      'Settings are {success, data}; a field that is not sent stays, null is Auto, unknown fields are ignored, portion and risk have bounds',
    'answers-2': 'An unknown id is 404, a malformed one 400',
    'answers-3': 'Errors have a message, and fields on 400; unknown paths under /api get a 404 in JSON',
    'answers-4': '401 means no session; a wrong password is 403',
    'answers-5': 'Pages are counted from 1 and have 1 to 1000 rows; without paging all users are returned',
    'answers-6': 'Lists are bare arrays',
    'answers-7':
      'An unexpected error is a 500 without its text; an unreachable database is a 503 with the time to wait',
    'answers-8': 'A program that is shutting down answers in the same format',
  },
  'Sign-in and sessions': {
    'sign-in-and-sessions-1': 'Unknown user, wrong password and inactive user get the same text',
    'sign-in-and-sessions-2': 'Unknown user, wrong password and inactive user are answered in the same time',
    'sign-in-and-sessions-3':
      'The five password routes share a limit by account and address and return the time to wait; a success clears it',
    'sign-in-and-sessions-4': "A command on the program's machine replaces a forgotten password",
    'sign-in-and-sessions-5': 'Failures from one address lock out neither other addresses nor other accounts',
    'sign-in-and-sessions-6':
      'An account accepts at most fifteen guesses per quarter hour from all addresses where it is not known; known ones have their own limit',
    'sign-in-and-sessions-7':
      'A hundred failures from one address at many accounts block it, in sequence or in parallel; nothing else counts against it',
    'sign-in-and-sessions-8': 'Tokens are stored hashed',
    'sign-in-and-sessions-9':
      'Scripts and other sites cannot read the cookie; over HTTPS it is secure and has the host prefix',
    'sign-in-and-sessions-10': 'A sign-in creates a new session and never reuses one',
    'sign-in-and-sessions-11': 'Changing the password and deactivating a user end the sessions',
    'sign-in-and-sessions-12': 'A lost role takes effect with the next request',
    'sign-in-and-sessions-13':
      'A write from another site is refused, on every route and however its address is written',
    'sign-in-and-sessions-14':
      "A request from a screen of another user than the session's is refused, on every route",
    'sign-in-and-sessions-15': 'Passwords are hashed with argon2id',
    'sign-in-and-sessions-16':
      'Usernames are compared without regard to case and Unicode compatibility forms',
    'sign-in-and-sessions-17': 'The list of pages is filtered by role',
    'sign-in-and-sessions-18': "An ordinary user's admin dashboard has only the overview",
    'sign-in-and-sessions-19': "Calls under an administrators' path are for administrators",
    'sign-in-and-sessions-20': 'Fields that a caller may not set are not stored',
    'sign-in-and-sessions-21':
      'Answers of /api and /hooks are never cached and keep their format, and every write of the API is logged, however the address is written',
    'sign-in-and-sessions-22': 'Every answer has the security headers, and pages may run no inline script',
  },
  'Webhook deliveries': {
    'webhook-deliveries-1': 'Every signed-in user has the same screen for the own webhook',
    'webhook-deliveries-2': 'A key is 32 random bytes, stored encrypted and looked up by a keyed hash',
    'webhook-deliveries-3': 'A user has one webhook, however many are created at once',
    'webhook-deliveries-4':
      'The server masks the key unless the session gave the password within five minutes',
    'webhook-deliveries-5':
      'A key sealed under another secret key cannot be shown, says so, and can be renewed or deleted like any other',
    'webhook-deliveries-6':
      'While hidden, the addresses are masked too, and copying asks for the password; a wrong one leaves the dialog open',
    'webhook-deliveries-7': 'A delivery is read as JSON whatever its content type',
    'webhook-deliveries-8':
      'A stored delivery is answered with 200 and its id; a repeated one with the same id, and nothing is stored or traded twice',
    'webhook-deliveries-9':
      'A repeated signal is recognised within sixty seconds; one with a time, and a candle, for good',
    'webhook-deliveries-10': 'The answer does not wait for trading',
    'webhook-deliveries-11': 'Every invalid key gets a 401 with the same bytes',
    'webhook-deliveries-12': "An unusable delivery gets a 400 with every reason, in the webhook's log",
    'webhook-deliveries-13': 'A delivery of more than 64 KiB gets a 413',
    'webhook-deliveries-14':
      'A delivery over the limit, or while the database cannot store it, gets a 503, and is stored when sent again',
    'webhook-deliveries-15': 'Valid keys are not limited by address',
    'webhook-deliveries-16': 'Signals and candles have their required fields, without regard to case',
    'webhook-deliveries-17':
      "A candle has the currency it names, otherwise its symbol's, otherwise USDT; and a processor or none",
    'webhook-deliveries-18':
      "A candle's parameters are its payload and five lower-case fields; a signal's are its fields beyond the required ones",
    'webhook-deliveries-19': 'Symbols become a token and a currency, and invalid tokens are refused',
    'webhook-deliveries-20': 'Actions and numbers are accepted only in the documented forms',
    'webhook-deliveries-21': 'A placeholder that arrives unreplaced is refused by name',
    'webhook-deliveries-22': 'NUL, lone surrogates, deep nesting and __proto__ are refused',
    'webhook-deliveries-23': 'The hash is SHA-256 over webhook, kind and payload with sorted keys',
    'webhook-deliveries-24': 'Times are UTC, and their text is kept',
    'webhook-deliveries-25': 'Timeframes are kept as received and compared in minutes',
    'webhook-deliveries-26': "An ordinary user's signal is only for that user",
    'webhook-deliveries-27': 'Test signals and test candles are processed like deliveries',
    'webhook-deliveries-28': 'Test deliveries are refused where real money is traded automatically',
    'webhook-deliveries-29':
      'The log shows the last 50 deliveries with time, kind, result, reason and source',
    'webhook-deliveries-30': 'The alert messages to copy are accepted once they are filled in',
  },
  Users: {
    'users-1': 'A new user has the defaults, and is a test user unless real money is traded',
    'users-2': 'A null portion is sized as 0.10 or 0.05, a null risk as 0.05',
    'users-3': 'Administrators edit test user, pause, trade order and the response to an opposite signal',
    'users-4': 'Ordinary users neither see nor change those fields',
    'users-5': 'Credentials are entered, tested and removed, and never shown again',
    'users-6': 'Administrators enter, test and remove credentials for other users',
    'users-7': 'A refused key is not stored; one that could not be tested is stored and marked so',
    'users-8': 'Credentials are bound to user and exchange',
    'users-9': 'Secrets do not appear in answers, logs, tables or files',
    'users-10':
      'A key that may withdraw, may not trade or is of the wrong kind of account is refused, with what to do',
    'users-11': 'A key that was not checked is checked before its first order',
    'users-12':
      "One exchange account serves one user in each mode: another user's key of it is refused, also on two instances at once",
    'users-13': 'A key whose account is unknown does not trade, and is checked before anything is sized',
    'users-14':
      'If two users have keys of one account, the later one is held, and their open positions are still looked after',
    'users-15':
      "Limits on entering and testing keys count for the key's user, so one administrator can connect many",
    'users-16': 'A key of another mode is not used',
    'users-17': 'A revoked key stops its user with a visible reason and without retries',
    'users-18':
      'An order that a revoked key leaves in doubt is looked up slowly, and only another key of its account settles it',
    'users-19':
      'An administrator can write off an order that a revoked key left in doubt; it ends as unknown',
    'users-20':
      'While a position is open, a key of another account is refused; after the stored key is deleted it is accepted, and the position stays on record',
    'users-21': 'Credentials trade for their user in demo and live mode',
    'users-22': 'Deactivating a user ends the sessions at once, and nothing more is opened',
  },
  'Price log and trend': {
    'price-log-and-trend-1':
      'A signal gets the newest candle of its token, timeframe, processor and owner that is not too old',
    'price-log-and-trend-2': 'Every number of a candle is either used in the calculation or refused',
    'price-log-and-trend-3':
      'The mature trend decides, otherwise the immediate one; without a trend the signal counts as against it',
  },
  'Position sizing': {
    'position-sizing-1':
      'Seven tokens, three methods and both alignments agree with a table calculated by hand',
    'position-sizing-2': 'The calculator follows the same rules, in 500 random cases',
    'position-sizing-3': 'All limits of portion, risk, side, tick, step and minimum hold for any input',
    'position-sizing-4': 'Without an ATR the stop is 2% away, and Technical Analysis is refused',
    'position-sizing-5': 'A refused position shows its figures',
    'position-sizing-6': 'A workflow does not trade a signal more than 10% off the market',
    'position-sizing-7': 'Two sizings for one user never count the same balance twice',
    'position-sizing-8':
      'A custom entry price is on the tick, within 1% of the market, and never raises the risk',
    'position-sizing-9': 'The pre-assessment has every specified reason',
  },
  'Order execution': {
    'order-execution-1': 'A calculation is never traded twice, over any number of tabs and instances',
    'order-execution-2':
      'The second attempt orders the unfilled rest, within planned loss and margin, or nothing',
    'order-execution-3':
      'An entry carries its stop; a lost stop is placed again, otherwise the position is closed',
    'order-execution-4':
      'An order in doubt is looked up before anything is sent again, and settled within 90 s',
    'order-execution-5':
      'An order counts as never placed only while the exchange remembers such orders and holds nothing that may be its fill',
    'order-execution-6':
      'An accepted order that the exchange has forgotten has ended if nothing of it is left, and is in doubt otherwise',
    'order-execution-7':
      'An order in an unknown state exists: nothing is sent for it, it is shown as in doubt, and can be written off',
    'order-execution-8': 'An order answered with 429 is looked up before it is given up',
    'order-execution-9': 'Waits do not depend on which clock is right',
    'order-execution-10': 'A protected fill above zero is a success, an unfilled order a failure',
    'order-execution-11': 'An order is finished even if the browser or the instance goes away',
    'order-execution-12': 'A restart finishes or hands over work under way',
  },
  Workflows: {
    'workflows-1':
      'A stored signal has its workflow; while automatic trading is off it is aborted with the reason',
    'workflows-2':
      "Automatic trading switched off by a restart opens nothing for workflows that had begun; an operator's continue",
    'workflows-3':
      'A manual trigger requires that no workflow of the signal runs, a retry that the newest one failed',
    'workflows-4': 'A signal older than 30 minutes is not traded',
    'workflows-5': 'A user who has traded the signal is skipped by the next workflow',
    'workflows-6': 'A held position is kept, reversed or left untouched, as the settings say',
    'workflows-7':
      'A reversal closes nothing if the signal would not be traded, and a refusal after its close says so',
    'workflows-8':
      'A position at an exchange that the user has left blocks the next signal, which does not close it',
    'workflows-9': 'Every skip has a reason that the monitor knows',
    'workflows-10': 'Workflows of one token run in sequence, those of different tokens in parallel',
    'workflows-11': "In a token, workflows for everybody run before those of users' own signals",
    'workflows-12': 'A restart loses nothing and trades nothing twice',
  },
  'Live updates': {
    'live-updates-1':
      'A new signal, price log, step or trade appears within a second, in every browser and from every instance',
    'live-updates-2': 'The steps of a running workflow appear as it runs',
    'live-updates-3': 'The screen shows how old it is, and can be paused',
    'live-updates-4': 'A lost stream is reported, and polling continues',
    'live-updates-5': 'Each user receives only what that user may see',
    'live-updates-6': 'A stream ends with its session',
    'live-updates-7': 'A change refreshes exactly the screens that show it',
  },
  'Additions: charts': {
    'additions-charts-1':
      "A signal's details have a candle chart with its marker, entry, stop, target and fills, also in words and as a table",
    'additions-charts-2': 'A price log opens the chart of its token and timeframe',
    'additions-charts-3': "The price axis cuts off no marker's text",
    'additions-charts-4': 'A sparkline shows the signals of each day',
    'additions-charts-5':
      "The calculator's chart follows the settings, and compares the three methods without saving anything",
  },
  'Additions: why and why not': {
    'additions-why-and-why-not-1':
      'For any user the deciding rule is shown, with its actual and required values',
    'additions-why-and-why-not-2': 'The explanation also covers users whom the workflow never considered',
    'additions-why-and-why-not-3': 'The explanation comes from the code that decides',
    'additions-why-and-why-not-4': 'The monitor opens the explanation as well',
  },
  'Additions: finding, keys and columns': {
    'additions-finding-keys-and-columns-1':
      'Filters, page, page size and open dialog are kept in the address',
    'additions-finding-keys-and-columns-2': 'The palette finds every page, user, token, signal and workflow',
    'additions-finding-keys-and-columns-3': 'The palette shows an ordinary user only the own pages',
    'additions-finding-keys-and-columns-4':
      'The key / goes to the filters, the arrows turn pages, Escape closes',
    'additions-finding-keys-and-columns-5': 'The hidden columns of each table are remembered',
  },
  'Additions: export': {
    'additions-export-1':
      'An export saves all rows that match the filters, over all pages, with progress and a way to cancel',
    'additions-export-2': 'An export has at most 100,000 rows, and says which',
    'additions-export-3': 'An exported cell is never a formula',
    'additions-export-4': "An exported cell with any spreadsheet's separator is quoted",
  },
  'Additions: order and positions': {
    'additions-order-and-positions-1':
      'The effective hyperparameters are shown with their sources, and the methodology in words with its numbers',
    'additions-order-and-positions-2': 'An order can be calculated and confirmed with the keyboard only',
    'additions-order-and-positions-3':
      'The order is followed live, and found again after leaving the page or reloading it',
    'additions-order-and-positions-4': 'Workers of all instances are shown together',
    'additions-order-and-positions-5':
      "Open and closed positions have the exchange's own figures, by user, by token and in total",
    'additions-order-and-positions-6':
      'A button closes a position in every mode, with a confirmation and a record',
    'additions-order-and-positions-7': 'Every user sees the own positions on the dashboard',
    'additions-order-and-positions-8':
      'Differences between exchange and record are shown, and so is an account that does not answer',
    'additions-order-and-positions-9':
      'A position that the connected account cannot show is marked as not readable, and neither closed on record nor taken as safe',
    'additions-order-and-positions-10':
      'Positions of paper and demo mode are not reported as unreadable in another mode',
    'additions-order-and-positions-11': 'A position that cannot be read blocks signals in its token',
    'additions-order-and-positions-12':
      'An administrator can write off a position that cannot be read, which ends the block',
  },
  'Additions: everywhere': {
    'additions-everywhere-1': 'axe finds nothing serious on any screen or dialog, in light and dark',
    'additions-everywhere-2': 'A switch that is off is recognisable, in light and dark',
    'additions-everywhere-3': 'Every screen fits the width of a phone',
  },
};
