-- plan.lua: wrk's side of the bench. BODY names a file to POST to /api/v1/plans; without it, plain GETs.
local name = os.getenv("BODY")
if name and name ~= "" then
  local file = assert(io.open(name, "rb"))
  wrk.method, wrk.body = "POST", file:read("*a")
  wrk.headers["Content-Type"] = "application/json"
  file:close()
end

function done(summary, latency, requests)
  local failed = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format("RESULT %.1f %.3f %.3f %d\n", summary.requests / (summary.duration / 1e6),
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed))
end
