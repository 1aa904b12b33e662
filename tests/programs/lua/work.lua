local function fib(n) if n<2 then return n end return fib(n-1)+fib(n-2) end
local t={} for i=1,20000 do t[i]=(i*7919)%10007 end table.sort(t)
local s=0 for i,v in ipairs(t) do s=(s*31+v)%1000003 end
local parts={} for w in (("the quick brown fox "):rep(200)):gmatch("%a+") do parts[#parts+1]=w:upper():sub(1,3) end
local ok,err=pcall(function() error({code=42}) end)
local co=coroutine.wrap(function() for i=1,100 do coroutine.yield(i*i) end end)
local c=0 for i=1,100 do c=c+co() end
print(fib(22),s,#table.concat(parts),ok,err.code,c,string.format("%5.2f",math.pi), select('#',table.unpack(t,1,50)))
os.exit(tonumber(arg[1] or "0"), true)
