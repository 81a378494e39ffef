-- Unique deliveries for wrk: wrk … -s payloads.lua URL -- KIND PATH FIRST_SERIAL
-- One thread only: a second one would repeat the same serials.
local tokens = { 'BTC', 'ETH', 'SOL', 'TON', 'SUI', 'XRP', 'PEPE', 'DOGE' }
local kind, head, serial

function init(args)
  kind = args[1]
  serial = tonumber(args[3])
  head = 'POST ' .. args[2] .. ' HTTP/1.1\r\nHost: ' .. wrk.host .. ':' .. wrk.port
    .. '\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: '
end

function request()
  serial = serial + 1
  local token = tokens[serial % #tokens + 1]
  local price = string.format('%.3f', 100 + serial % 1000 / 1000)
  local body
  if kind == 'signal' then
    local action = serial % 2 == 0 and 'buy' or 'sell'
    body = '{"symbol":"BITGET:' .. token .. 'USDT.P","action":"' .. action .. '","price":"' .. price
      .. '","timeframe":"15","processor":"Tesla","time":"' .. os.date('!%Y-%m-%dT%H:%M:%SZ')
      .. '","serial":"' .. string.format('%.0f', serial) .. '"}'
  else
    body = '{"Timeframe":"15","Symbol":"' .. token .. 'USDT","Currency":"USDT","DateTime":"'
      .. os.date('!%Y%m%d%H%M') .. '","Open":"100","High":"101.5","Low":"99.2","Close":"' .. price
      .. '","Volume":"' .. string.format('%.0f', serial)
      .. '","RSI":"55.31","MACD":"1.204","ATR":"0.83","mature_trend":"bullish"}'
  end
  return head .. #body .. '\r\n\r\n' .. body
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"answered":%d,"refused":%d,"errors":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"max":%.3f}\n',
    summary.requests - errors.status, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3
  ))
end
