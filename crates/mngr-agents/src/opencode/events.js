// Written by mngr. A plugin for opencode: notes what happens, for mngr to read. It changes nothing of what opencode does.
import { renameSync, writeFileSync } from "node:fs"
import { append, isAgent } from "./record.js"

const ANSWERS = ["permission.replied", "question.replied", "question.rejected"]
const QUESTIONS = ["permission.asked", "question.asked"]
// What a conversation is called until the model has named it.
const UNNAMED = /^(New|Child) session - \d{4}-/

export default {
  id: "mngr.events",
  server: async (_input, options) => {
    const { state, outside } = options
    if (!isAgent(state)) return {}
    const folder = `${state}/plugin/opencode`
    // Sessions of sub-agents: their turns are part of a turn of the agent.
    const children = new Set()
    // Tool calls that were told of: their output grows, and only its end is wanted.
    const calls = new Set()
    let session
    let status
    let title

    const attempt = (act) => {
      try {
        act()
      } catch {}
    }
    const note = (type, { sessionID, ...rest }) => {
      append(`${folder}/status.jsonl`, { at: Date.now(), type, session: sessionID, ...rest })
      attempt(() => writeFileSync(`${state}/activity/agent`, ""))
    }
    const say = (type, properties) => append(`${folder}/transcript.jsonl`, { type, properties })

    // The conversation that a later start goes on with.
    const remember = (sessionID) => {
      if (!sessionID || sessionID === session) return
      session = sessionID
      attempt(() => {
        writeFileSync(`${folder}/session.new`, `${sessionID}\n`, { mode: 0o600 })
        renameSync(`${folder}/session.new`, `${folder}/session`)
      })
    }
    const entitle = (info) => {
      if (info.parentID || !info.title || info.title === title || UNNAMED.test(info.title)) return
      if (session && info.id !== session) return
      title = info.title
      attempt(() => {
        writeFileSync(`${state}/status/title.new`, JSON.stringify(title), { mode: 0o600 })
        renameSync(`${state}/status/title.new`, `${state}/status/title`)
      })
    }
    const isWhole = (part) => {
      if (part.type === "step-finish") return true
      // A text of the user has no times; one of the model is whole when it has an end.
      if (part.type === "text") return part.text !== "" && (!part.time || Boolean(part.time.end))
      if (part.type !== "tool" || part.state.status === "pending") return false
      if (part.state.status !== "running") return true
      return !calls.has(part.id) && Boolean(calls.add(part.id))
    }

    const onEvent = ({ type, properties }) => {
      const { sessionID } = properties
      if (QUESTIONS.includes(type)) return note(type, { sessionID, id: properties.id })
      if (ANSWERS.includes(type)) return note(type, { sessionID, id: properties.requestID })
      if (type === "session.created") {
        if (properties.info.parentID) children.add(sessionID)
        return say(type, properties)
      }
      if (type === "session.updated") return entitle(properties.info)
      if (type === "message.updated") {
        // The changes of the whole turn come again and again with it.
        const { summary, ...info } = properties.info
        return say(type, { ...properties, info })
      }
      if (type === "message.part.updated") return isWhole(properties.part) && say(type, properties)
      if (children.has(sessionID)) return
      if (type === "session.status") {
        const now = JSON.stringify([sessionID, properties.status])
        if (now === status) return
        status = now
        const { type: kind, next } = properties.status
        if (kind !== "idle") remember(sessionID)
        return note(type, { sessionID, status: { type: kind, next } })
      }
      if (type === "session.error") {
        const { name, data } = properties.error ?? {}
        note(type, { sessionID, error: { name, status: data?.statusCode, message: data?.message?.slice(0, 200) } })
      }
    }

    return {
      event: async ({ event }) => attempt(() => onEvent(event)),
      "chat.message": async ({ sessionID }) => {
        if (children.has(sessionID)) return
        remember(sessionID)
        note("chat.message", { sessionID })
      },
      "command.execute.before": async ({ command, arguments: words }) =>
        say("command.execute.before", { command, arguments: words }),
      // What the agent runs sees the user's own surroundings, not those of this one opencode.
      "shell.env": async (_input, output) => {
        Object.assign(output.env, outside)
      },
    }
  },
}
