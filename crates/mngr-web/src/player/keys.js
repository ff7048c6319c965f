// The keyboard.
"use strict";
(() => {
  const KEYS = [
    ["/", "search"],
    ["j  k", "next, previous test or command"],
    ["Enter", "open the test"],
    ["n  p", "next, previous test of the run"],
    ["Esc", "back to the list"],
    ["Space", "play, pause"],
    ["\u2190  \u2192", "5 seconds back, forth (in a recording)"],
    ["<  >", "slower, faster (in a recording)"],
    ["t", "from the recording to the transcript"],
    ["f", "the recording on the full screen"],
    ["?", "this help"],
  ];
  mngr.help = () => mngr.showKeys(KEYS);

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || mngr.isHelpOpen()) return;
    const isTyping = event.target.matches("input[type=search], select, textarea");
    if (isTyping && event.key === "Escape") return void event.target.blur();
    if (isTyping) return;
    const { view } = mngr.route();
    const inTest = {
      j: () => mngr.test.jump(1),
      k: () => mngr.test.jump(-1),
      n: () => mngr.test.step("next"),
      p: () => mngr.test.step("previous"),
      t: () => mngr.test.player()?.element.dispatchEvent(new KeyboardEvent("keydown", { key: "t" })),
      f: () => mngr.test.player()?.element.dispatchEvent(new KeyboardEvent("keydown", { key: "f" })),
      " ": () => !event.target.matches("button, a, summary") && mngr.test.player()?.toggle(),
    };
    const inList = { j: () => mngr.list.move(1), k: () => mngr.list.move(-1) };
    const everywhere = {
      "/": () => document.getElementById("search").focus(),
      "?": mngr.help,
      Escape: () => view !== "list" && mngr.go(mngr.place.list()),
    };
    const f = { ...(view === "test" ? inTest : view === "list" ? inList : {}), ...everywhere }[event.key];
    if (!f || (event.key === " " && event.target.matches("button, a, summary"))) return;
    if (event.key === " " && !mngr.test.player()) return;
    event.preventDefault();
    f();
  });
})();
