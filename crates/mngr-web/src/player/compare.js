// What differs between two tries of a test, once times, ids and paths are out of the way.
"use strict";
(() => {
  const { el } = mngr;
  const SAYS = { "+": "added", "-": "removed", " ": "same" };

  const line = ([mark, old, now, text]) =>
    el(
      "tr",
      { class: { "+": "plus", "-": "minus" }[mark] || "same" },
      el("td", { class: "no", text: old ?? "" }),
      el("td", { class: "no", text: now ?? "" }),
      el("td", { class: "mark", text: mark, "aria-label": SAYS[mark] }),
      el("td", { class: "text", text: text || "\u00a0" }),
    );

  const tryLink = (test) =>
    el(
      "a",
      { class: "try", href: mngr.place.test(test.run, test.folder) },
      mngr.status(test.status),
      test.run + (test.try > 1 ? ` (try ${test.try})` : ""),
    );

  mngr.compare = async (main, { key, other }, isCurrent) => {
    const [now, old] = [mngr.runs.byKey(key), mngr.runs.byKey(other)];
    const diff = now && old ? await mngr.load(`test/${key}/diff/${other}`, now.version + old.version).catch(() => null) : null;
    if (!isCurrent()) return;
    if (!diff)
      return mngr.replace(main, el("p", { class: "nothing", text: "These two cannot be compared: one of them is not here." }));
    const name = now.name;
    document.title = `${name} compared \u00b7 mngr view`;
    mngr.replace(
      main,
      el(
        "nav",
        { class: "crumbs", "aria-label": "Where you are" },
        el("a", { href: mngr.place.list(), text: "All runs" }),
        " / ",
        el("a", { href: mngr.place.test(now.run, now.folder), text: name }),
        " / ",
        el("span", { text: "Comparison" }),
      ),
      el("h1", { text: name }),
      el(
        "dl",
        { class: "facts" },
        el("div", {}, el("dt", { text: "From" }), el("dd", {}, tryLink(old))),
        el("div", {}, el("dt", { text: "To" }), el("dd", {}, tryLink(now))),
      ),
      el("p", { class: "hint", text: "Times, durations, ids and temporary paths count as equal." }),
      diff.is_cut ? el("p", { class: "hint", text: "Only the beginning of the transcripts is compared: they are long." }) : null,
      diff.hunks.length
        ? diff.hunks.map((lines) =>
            el(
              "div",
              { class: "diff-box" },
              el("table", { class: "diff", "aria-label": "Differences" }, el("tbody", {}, lines.map(line))),
            ),
          )
        : el("p", { class: "nothing", text: "No difference." }),
    );
  };
})();
