-- Work without errors or early exits: what gcov counts rightly, too.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 300 do t[i] = (i * 7919) % 307 end
table.sort(t)
local s = 0
for _, v in ipairs(t) do s = (s * 31 + v) % 1000003 end
local words = {}
for w in (("the quick brown fox "):rep(9)):gmatch("%a+") do words[#words + 1] = w:upper():sub(1, 3) end
local class = setmetatable({}, { __index = function(_, k) return k .. "!" end, __call = function(_, a) return a * 2 end })
local text = string.format("%5.2f %x %q", math.pi, 255, "a\nb")
collectgarbage()
print(fib(11), s, #table.concat(words), class.x, class(4), text, select("#", table.unpack(t, 1, 20)), 7 // 2, 2 ^ 10, "10" + 5)
