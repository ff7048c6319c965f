// The frame of a page: its bar with a search box, its address, and what explains the keys.
"use strict";
(() => {
  const { el } = mngr;
  const help = document.getElementById("help");

  // Takes {name, home, search}: what the page is called, where its name leads, and its search box.
  mngr.frame = ({ name, home, search }) => {
    mngr.replace(
      document.getElementById("bar"),
      el(
        "a",
        { class: "brand", href: home },
        el("span", { class: "brand-mark", "aria-hidden": "true", text: "\u25e7" }),
        "mngr",
        el("span", { class: "brand-view", text: name }),
      ),
      el("div", { class: "search", role: "search" }, search, el("kbd", { "aria-hidden": "true", text: "/" })),
      el("button", {
        class: "control",
        "aria-label": "Help: keys",
        title: "Keys (?)",
        text: "?",
        on: { click: () => mngr.help() },
      }),
    );
  };

  // Another address for the same view, without a step in the history.
  mngr.rename = (address) => history.replaceState(null, "", address);

  // Takes [keys, what they do], keys apart by two spaces.
  mngr.showKeys = (keys) => {
    mngr.replace(
      help,
      el("h2", { text: "Keys" }),
      el(
        "dl",
        { class: "keys" },
        keys.map(([key, says]) =>
          el(
            "div",
            {},
            el(
              "dt",
              {},
              key.split("  ").map((one) => el("kbd", { text: one })),
            ),
            el("dd", { text: says }),
          ),
        ),
      ),
      el("form", { method: "dialog" }, el("button", { class: "control text-button", text: "Close" })),
    );
    help.showModal();
  };
  mngr.isHelpOpen = () => help.open;
  help.addEventListener("click", (event) => event.target === help && help.close());
})();
