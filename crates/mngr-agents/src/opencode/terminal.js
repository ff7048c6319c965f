// Written by mngr. A plugin for opencode's terminal interface: notes when it takes messages, when it shows a new
// conversation, and which of its own commands it ran, since those leave no other trace. It also gives two keys to
// commands that have none.
import { append, isAgent } from "./record.js"

const PAUSE_MS = 50
// What Enter means while the menu of commands is open.
const CHOOSE = "prompt.autocomplete.select"

export default {
  id: "mngr.terminal",
  tui: async (api, { state }) => {
    if (!isAgent(state)) return
    const folder = `${state}/plugin/opencode`
    const timer = setInterval(() => {
      if (!api.state.ready) return
      clearInterval(timer)
      append(`${folder}/status.jsonl`, { at: Date.now(), type: "tui.ready" })
    }, PAUSE_MS)

    const attempt = (act) => {
      try {
        act()
      } catch {
        // Another version has no such thing: then its commands are not proved, and half-typed text stays in the way.
      }
    }
    // Half-typed text goes away and comes back with these, as the manifest says. Not before the first message: the box
    // of the first page goes away with that page, and what is in it too.
    const inSession = (command) => () => {
      if (api.route.current.name === "session") api.keymap.dispatchCommand(command)
    }
    attempt(() =>
      api.keymap.registerLayer({
        bindings: [
          { key: "f11", cmd: inSession("prompt.stash") },
          { key: "f12", cmd: inSession("prompt.stash.pop") },
        ],
      }),
    )
    // The first message leads from the first page to that of the conversation. What is typed before it is there goes away
    // with the first page.
    attempt(() =>
      api.event.on("session.created", ({ properties }) => {
        if (properties.info.parentID) return
        const timer = setInterval(() => {
          if (api.route.current.name !== "session") return
          clearInterval(timer)
          append(`${folder}/transcript.jsonl`, { type: "tui.page", properties: { sessionID: properties.info.id } })
        }, PAUSE_MS)
      }),
    )
    const typed = () => api.renderer.currentFocusedRenderable?.plainText ?? ""
    let before = ""
    attempt(() => {
      api.keymap.intercept("key", () => {
        before = typed()
      })
      api.keymap.on("dispatch", ({ command }) => {
        const hasRun = (command?.name ?? command) === CHOOSE && before.startsWith("/") && typed() === ""
        if (hasRun) append(`${folder}/transcript.jsonl`, { type: "tui.command", properties: { text: before } })
      })
    })
  },
}
