// Written by mngr. What its two plugins for opencode share. No dependency, nothing to install.
import { appendFileSync, readFileSync } from "node:fs"

// Whether this process is the agent itself, or runs under npm's wrapper as its only child. An opencode that somebody
// else starts with the same settings is not the agent.
export function isAgent(state) {
  try {
    const agents = [...readFileSync(`${state}/process`, "utf8").matchAll(/^agent pid=(\d+)/gm)]
    const pid = Number(agents.at(-1)?.[1])
    return pid === process.pid || pid === process.ppid
  } catch {
    return false
  }
}

// One write, so that a reader sees whole lines. Never throws: the agent must not suffer from being watched.
export function append(path, line) {
  try {
    appendFileSync(path, JSON.stringify(line) + "\n", { mode: 0o600 })
  } catch {}
}
