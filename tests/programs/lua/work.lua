-- Arguments: the exit code, and how much to do (default 1).
local scale = tonumber(arg[2] or "1")

local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local function mandelbrot(size)
  local inside = 0
  for y = 0, size - 1 do
    for x = 0, size - 1 do
      local cr, ci = 2 * x / size - 1.5, 2 * y / size - 1
      local zr, zi, n = 0, 0, 0
      while n < 50 and zr * zr + zi * zi < 4 do
        zr, zi, n = zr * zr - zi * zi + cr, 2 * zr * zi + ci, n + 1
      end
      inside = inside + n
    end
  end
  return inside
end

local function sieve(limit)
  local composite, primes = {}, 0
  for i = 2, limit do
    if not composite[i] then
      primes = primes + 1
      for j = i * i, limit, i do composite[j] = true end
    end
  end
  return primes
end

local function sorting(count)
  local numbers = {}
  for i = 1, count do numbers[i] = (i * 7919) % 10007 end
  table.sort(numbers)
  local sum = 0
  for _, n in ipairs(numbers) do sum = (sum * 31 + n) % 1000003 end
  return sum
end

local function words(count)
  local parts = {}
  for word in (("the quick brown fox "):rep(count)):gmatch("%a+") do parts[#parts + 1] = word:upper():sub(1, 3) end
  return #table.concat(parts, ","), (table.concat(parts):gsub("QUI", "x")):len()
end

local Account = {}
Account.__index = Account
Account.__add = function(a, b) return setmetatable({ sum = a.sum + b.sum }, Account) end
function Account:deposit(amount)
  if amount < 0 then error({ code = amount }) end
  self.sum = self.sum + amount
  return self
end

local function accounts(count)
  local total, failures = setmetatable({ sum = 0 }, Account), 0
  for i = 1, count do
    local account = setmetatable({ sum = 0 }, Account)
    if pcall(account.deposit, account, i % 7 - 1) then total = total + account else failures = failures + 1 end
  end
  return total.sum, failures
end

local function squares(count)
  local next_square = coroutine.wrap(function() for i = 1, count do coroutine.yield(i * i) end end)
  local sum = 0
  for _ = 1, count do sum = sum + next_square() end
  return sum
end

for _ = 1, scale do
  print(fib(18), mandelbrot(24), sieve(12000), sorting(4000))
  print(words(150))
  print(accounts(1500))
  print(squares(300), string.format("%5.2f %q", math.pi, "a\nb"), select("#", table.unpack({ 1, 2, 3 }, 1, 50)))
end
os.exit(tonumber(arg[1] or "0"), true)
