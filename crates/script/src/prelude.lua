-- The sandbox: what a script sees, built once a Lua state.
--
-- A script's globals are a proxy without fields of its own. Reading goes to the table behind it, and from
-- there to an error if there is nothing; writing is an error. The libraries are proxies, too, so that no
-- script changes them for the next one. What would get around a proxy (table.insert and its like write into it
-- directly) refuses them.
--
-- Functions that catch errors catch none that is to end the script.

local native, version, version_number = ...

local error, pcall, raw_xpcall, type, tostring, tonumber, select, next, ipairs =
  error, pcall, xpcall, type, tostring, tonumber, select, next, ipairs
local rawget, rawset, setmetatable, getmetatable = rawget, rawset, setmetatable, getmetatable
local byte, concat, collect, sub, rep = string.byte, table.concat, collectgarbage, string.sub, string.rep
local insert, remove, sort = table.insert, table.remove, table.sort
local compile, resume, floor = loadstring, coroutine.resume, math.floor
local stopped, told, fraction = native.stopped, native.seen, native.fraction

-- Proxy → the table behind it.
local behind = {}

local function protect(fields)
  local proxy = {}
  behind[proxy] = fields
  local metatable = {
    __index = fields,
    __newindex = function() error("Attempt to modify a readonly table", 2) end,
    __metatable = false,
  }
  return setmetatable(proxy, metatable), metatable
end

local function pick(library, names)
  local picked = {}
  for name in names:gmatch("%S+") do picked[name] = library[name] end
  return picked
end

-- Errors. What the server raises is no value that a script knows; it sees a table with the text in `err`.

local function seen(problem)
  return type(problem) == "userdata" and told(problem) or problem
end

local function settle(ok, ...)
  if ok then return true, ... end
  if stopped() then error((...), 0) end
  local problem = seen((...))
  if type(problem) == "table" and rawget(problem, "err") ~= nil then problem = problem.err end
  return false, problem
end

local function settle_coroutine(ok, ...)
  if ok then return true, ... end
  if stopped() then error((...), 0) end
  return false, seen((...))
end

local function settle_explained(ok, ...)
  if not ok and stopped() then error((...), 0) end
  return ok, ...
end

-- The library of scripts.

local redis = {
  LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
  REPL_NONE = 0, REPL_AOF = 1, REPL_SLAVE = 2, REPL_REPLICA = 2, REPL_ALL = 3,
  REDIS_VERSION = version, REDIS_VERSION_NUM = version_number,
  log = native.log, set_repl = native.set_repl, setresp = native.setresp, sha1hex = native.sha1hex,
  acl_check_cmd = native.acl_check_cmd, call = native.call, pcall = native.pcall,
}

function redis.error_reply(text)
  if type(text) ~= "string" then return { err = "ERR wrong number or type of arguments" } end
  text = text:gsub("^%-", ""):gsub("[\r\n]+$", "")
  if not text:find(" ", 1, true) then text = "ERR " .. text end
  return { err = text }
end

function redis.status_reply(text)
  if type(text) ~= "string" then return { err = "ERR wrong number or type of arguments" } end
  return { ok = text }
end

function redis.replicate_commands() return true end

-- There is no debugger.
function redis.breakpoint() return false end
function redis.debug() end

-- The basic functions.

local redis_of_scripts, globals
local function is_for_scripts() return rawget(globals, "redis") == redis_of_scripts end

globals = pick(_G, [[assert error getmetatable ipairs next rawequal select tonumber tostring type
  unpack gcinfo _VERSION]])

function globals.pcall(...) return settle(pcall(...)) end

function globals.xpcall(f, handler)
  return settle_explained(raw_xpcall(f, function(problem)
    if stopped() then return problem end
    return handler(seen(problem))
  end))
end

-- A script's KEYS or ARGV, of which there is no table yet because it would have no elements.
local function list(name)
  if (name == "KEYS" or name == "ARGV") and is_for_scripts() then
    local made = {}
    native.list_made()
    rawset(globals, name, made)
    return made
  end
end

function globals.rawget(t, key)
  local fields = behind[t] or t
  local value = rawget(fields, key)
  if value == nil and fields == globals then value = list(key) end
  return value
end

local function next_behind(proxy, key)
  return next(behind[proxy], key)
end

-- The table behind a proxy is not given away: a script could change it.
function globals.pairs(t)
  if behind[t] == globals then
    for _, name in ipairs { "KEYS", "ARGV" } do
      if rawget(globals, name) == nil then list(name) end
    end
  end
  if behind[t] then return next_behind, t, nil end
  if type(t) ~= "table" then
    error("bad argument #1 to 'pairs' (table expected, got " .. (t == nil and "nil" or type(t)) .. ")", 2)
  end
  return next, t, nil
end

function globals.rawset(t, key, value)
  if behind[t] then error("Attempt to modify a readonly table", 0) end
  return rawset(t, key, value)
end

function globals.setmetatable(t, metatable)
  if behind[t] then error("Attempt to modify a readonly table", 0) end
  return setmetatable(t, metatable)
end

-- What stops the collector or tunes it would outlive the script.
function globals.collectgarbage(what, ...)
  if what == nil or what == "count" or what == "collect" or what == "step" then
    if what ~= "count" then native.pause() end
    return collect(what or "collect", ...)
  end
  return 0
end

-- Compiled code is trusted by the machine that runs it, so only text is accepted.
function globals.loadstring(text, name)
  if type(text) == "string" and byte(text) == 27 then
    return nil, "attempt to load compiled code"
  end
  return compile(text, name)
end

function globals.load(reader, name)
  local pieces = {}
  while true do
    local piece = reader()
    if piece == nil or piece == "" then break end
    if type(piece) ~= "string" then return nil, "reader function must return a string" end
    pieces[#pieces + 1] = piece
  end
  return globals.loadstring(concat(pieces), name or "=(load)")
end

-- The libraries.

local math = pick(math, [[abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10
  max min mod modf pi pow rad sin sinh sqrt tan tanh]])
math.randomseed = native.seed

function math.random(...)
  local low, high = 1, ...
  local count = select("#", ...)
  if count == 0 then return fraction() end
  if count > 2 then error("wrong number of arguments", 2) end
  if count == 2 then low, high = ... end
  low, high = floor(low), floor(high)
  if low > high then
    error("bad argument #" .. count .. " to 'random' (interval is empty)", 2)
  end
  return floor(fraction() * (high - low + 1)) + low
end

local coroutine = pick(coroutine, "create running status wrap yield")
function coroutine.resume(...) return settle_coroutine(resume(...)) end

-- The arguments of `bit` are numbers, or strings that are.
local bit = {}
for name, operation in next, native.bit do
  bit[name] = function(...)
    local count = select("#", ...)
    for index = 1, count < 1 and 1 or count do
      if not tonumber((select(index, ...))) then
        local got = count == 0 and "no value" or type((select(index, ...)))
        error("bad argument #" .. index .. " to '" .. name .. "' (number expected, got " .. got .. ")", 2)
      end
    end
    return operation(...)
  end
end

-- Functions of the libraries that could run for long in C, where nothing interrupts them. What is short still runs
-- there; what is long runs in Lua, or in steps.

local function kind(value)
  return value == nil and "no value" or type(value)
end

local function text(value, position, name)
  if type(value) == "number" then return tostring(value) end
  if type(value) ~= "string" then
    error("bad argument #" .. position .. " to '" .. name .. "' (string expected, got " .. kind(value) .. ")", 3)
  end
  return value
end

local function whole(value, position, name)
  local number = tonumber(value)
  if not number then
    error("bad argument #" .. position .. " to '" .. name .. "' (number expected, got " .. kind(value) .. ")", 3)
  end
  return number < 0 and -floor(-number) or floor(number)
end

-- Where to begin, counted from 0.
local function beginning(init, size)
  if init < 0 then init = init + size + 1 end
  init = init - 1
  if init < 0 then return 0 end
  return init > size and size or init
end

-- What a search has given, unless that is a problem.
local function found(first, ...)
  if first == false then error((...), 3) end
  return first, ...
end

local string = pick(string, "byte char dump format gfind len lower reverse sub upper")

local CAPTURES_MAX = 32

function string.find(s, p, init, plain)
  s, p = text(s, 1, "find"), text(p, 2, "find")
  local from = init and beginning(whole(init, 3, "find"), #s) or 0
  return found(native.find(s, p, from, plain and true or false))
end

function string.match(s, p, init)
  s, p = text(s, 1, "match"), text(p, 2, "match")
  local from = init and beginning(whole(init, 3, "match"), #s) or 0
  local function captures(first, last, ...)
    if first == false then error(last, 3) end
    if first then return ... end
    return nil
  end
  return captures(native.next_match(s, p, from, true, CAPTURES_MAX))
end

function string.gmatch(s, p)
  s, p = text(s, 1, "gmatch"), text(p, 2, "gmatch")
  local from = 0
  local function captures(first, last, ...)
    if first == false then error(last, 3) end
    if not first then
      from = #s + 1
      return nil
    end
    from = last == first and last + 1 or last
    return ...
  end
  return function()
    if from > #s then return nil end
    return captures(native.next_match(s, p, from, false, CAPTURES_MAX))
  end
end

function string.gsub(s, p, with, count_max)
  s, p = text(s, 1, "gsub"), text(p, 2, "gsub")
  count_max = count_max and whole(count_max, 4, "gsub") or #s + 1
  local is_function = type(with) == "function"
  if type(with) == "string" or type(with) == "number" then
    return found(native.replace(s, p, tostring(with), count_max))
  elseif not is_function and type(with) ~= "table" then
    error("bad argument #3 to 'gsub' (string/function/table expected)", 2)
  end
  local pieces, at, count = {}, 0, 0
  local function replacement(first, last, ...)
    if first == false then error(last, 3) end
    if not first then return nil end
    local value
    if is_function then value = with(...) else value = with[(...)] end
    if not value then
      value = sub(s, first + 1, last)
    elseif type(value) ~= "string" and type(value) ~= "number" then
      error("invalid replacement value (a " .. type(value) .. ")", 3)
    end
    return value, first, last
  end
  while count < count_max do
    local value, first, last = replacement(native.next_match(s, p, at, true, is_function and CAPTURES_MAX or 1))
    if not value then break end
    count = count + 1
    if first > at then pieces[#pieces + 1] = sub(s, at + 1, first) end
    pieces[#pieces + 1] = value
    at = last
    if last == first then
      if at >= #s then break end
      pieces[#pieces + 1] = sub(s, at + 1, at + 1)
      at = at + 1
    end
    if byte(p) == 94 then break end
  end
  pieces[#pieces + 1] = sub(s, at + 1)
  return concat(pieces), count
end

function string.rep(s, n)
  if s == "" and tonumber(n) then return "" end
  return rep(s, n)
end

local table = pick(table, "concat getn maxn setn")
-- Elements that are moved, or compared, at once.
local MOVED_MAX, SORTED_MAX = 10000, 200

local function is_table(t, name)
  if type(t) ~= "table" then
    error("bad argument #1 to '" .. name .. "' (table expected, got " .. kind(t) .. ")", 3)
  end
end

function table.insert(t, ...)
  is_table(t, "insert")
  if behind[t] then error("Attempt to modify a readonly table", 0) end
  if select("#", ...) == 2 then
    local place, value = ...
    place = whole(place, 2, "insert")
    local last = #t + 1
    if last - place > MOVED_MAX then
      for index = last, place + 1, -1 do rawset(t, index, rawget(t, index - 1)) end
      rawset(t, place, value)
      return
    end
  end
  return insert(t, ...)
end

function table.remove(t, place)
  is_table(t, "remove")
  local last = #t
  if place == nil then return remove(t) end
  place = whole(place, 2, "remove")
  if place < 1 or last - place <= MOVED_MAX then return remove(t, place) end
  local value = rawget(t, place)
  for index = place, last - 1 do rawset(t, index, rawget(t, index + 1)) end
  rawset(t, last, nil)
  return value
end

function table.sort(t, is_before)
  is_table(t, "sort")
  if #t <= SORTED_MAX then return sort(t, is_before) end
  if is_before == nil then
    return sort(t, function(a, b) return a < b end)
  elseif type(is_before) ~= "function" then
    error("bad argument #2 to 'sort' (function expected, got " .. type(is_before) .. ")", 2)
  end
  return sort(t, function(a, b) return (is_before(a, b)) end)
end

function table.foreach(t, f)
  is_table(t, "foreach")
  for key, value in globals.pairs(t) do
    local result = f(key, value)
    if result ~= nil then return result end
  end
end

function table.foreachi(t, f)
  is_table(t, "foreachi")
  for index = 1, #t do
    local result = f(index, rawget(t, index))
    if result ~= nil then return result end
  end
end

-- What functions see of it.
local functions_redis = {}
for name, value in next, redis do functions_redis[name] = value end
functions_redis.breakpoint, functions_redis.debug, functions_redis.replicate_commands = nil, nil, nil
local redis_of_functions = protect(functions_redis)

globals.bit = protect(bit)
globals.cjson = protect(native.cjson)
globals.cmsgpack = protect(native.cmsgpack)
globals.struct = protect(native.struct)
redis_of_scripts = protect(redis)
globals.redis = redis_of_scripts
globals.math = protect(math)
globals.coroutine = protect(coroutine)
globals.string = protect(string)
globals.table = protect(table)
globals.os = protect({ clock = os.clock })
local G, G_fields = protect(globals)
globals._G = G

local unknown = {
  __index = function(fields, name)
    local made = fields == globals and list(name)
    if made then return made end
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
}
setmetatable(globals, unknown)

-- All that a library sees while it is loaded.
local loading = setmetatable({
  redis = protect(setmetatable({
    register_function = native.register_function, log = native.log,
    LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
    REDIS_VERSION = version, REDIS_VERSION_NUM = version_number,
  }, unknown)),
}, unknown)

-- ("").upper finds the functions; the table through which it does cannot be changed.
getmetatable("").__index = string
getmetatable("").__metatable = protect({})

-- Runs the text of a library, which registers its functions.
local function load_library(text, explain)
  G_fields.__index = loading
  local ok, value = raw_xpcall(text, explain)
  G_fields.__index = globals
  return ok, value
end

return G, globals, redis_of_scripts, redis_of_functions, load_library
