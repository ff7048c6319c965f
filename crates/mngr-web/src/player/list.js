// The list of all runs and tests, with a filter.
"use strict";
(() => {
  const { el } = mngr;
  const STATUSES = ["failed", "error", "running", "passed", "skipped", "unknown"];
  const FIRST = 100; // Rows of a run that are shown before they are asked for.
  const filter = { words: "", statuses: new Set() };
  const state = { open: new Map(), all: new Set() };
  let chosen = null; // The key of the row that j and k have come to.

  const matches = (test) => {
    if (filter.statuses.size && !filter.statuses.has(test.status)) return false;
    if (!filter.words) return true;
    const text = [test.name, test.file, test.run, test.brief, ...test.blocks].filter(Boolean).join("\n").toLowerCase();
    return filter.words
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word));
  };

  const counts = (tests) =>
    STATUSES.map((status) => [status, tests.filter((test) => test.status === status).length]).filter(([, n]) => n);

  const row = (test) =>
    el(
      "li",
      { class: `test s-${test.status}`, "data-key": test.key },
      el(
        "a",
        { href: mngr.place.test(test.run, test.folder), class: "test-link" },
        mngr.status(test.status),
        el(
          "span",
          { class: "test-what" },
          el("span", { class: "test-name", text: test.name }),
          (test.try > 1 && el("span", { class: "tag", text: `try ${test.try}` })) || null,
          test.blocks.length ? el("span", { class: "test-block", text: test.blocks.join(" \u00b7 ") }) : null,
          test.brief ? el("span", { class: "test-brief", text: test.brief }) : null,
        ),
        el("span", { class: "test-file", text: test.file || "" }),
        el("span", {
          class: "test-casts",
          text: test.recordings ? `\u25b6 ${test.recordings}` : "",
          "aria-label": test.recordings ? mngr.count(test.recordings, "recording") : null,
        }),
        el("span", { class: "test-time", text: mngr.duration(test.ms) }),
      ),
    );

  const section = (run, index, isFiltered) => {
    const tests = run.tests.filter(matches);
    if (isFiltered && !tests.length) return null;
    const order = (test) => STATUSES.indexOf(test.status);
    tests.sort((a, b) => order(a) - order(b) || a.name.localeCompare(b.name));
    const isOpen = isFiltered || (state.open.has(run.key) ? state.open.get(run.key) : index < 3);
    const total = run.tests.reduce((sum, test) => sum + (test.ms || 0), 0);
    const started = Math.min(...run.tests.map((test) => test.started_ms || Infinity));
    const when = Number.isFinite(started) ? mngr.when(started) : "";
    const body = el("div", { class: "run-body" });
    const fill = () => {
      const shown = state.all.has(run.key) ? tests : tests.slice(0, FIRST);
      mngr.replace(
        body,
        el("ul", { class: "tests" }, shown.map(row)),
        shown.length < tests.length
          ? el("button", {
              class: "quiet more",
              text: `Show all ${tests.length} tests`,
              on: {
                click: () => {
                  state.all.add(run.key);
                  fill();
                },
              },
            })
          : null,
      );
    };
    if (isOpen) fill();
    const details = el(
      "details",
      { class: "run", open: isOpen },
      el(
        "summary",
        { class: "run-head" },
        el("h2", { text: run.name }),
        el(
          "span",
          { class: "run-counts" },
          counts(run.tests).map(([status, n]) =>
            el("span", { class: `count s-${status}`, text: `${n} ${status === "unknown" ? "without result" : status}` }),
          ),
        ),
        el("span", { class: "run-when", text: [when, mngr.duration(total || null)].filter(Boolean).join(" \u00b7 ") }),
      ),
      bar(run.tests),
      body,
    );
    details.addEventListener("toggle", () => {
      if (!isFiltered) state.open.set(run.key, details.open);
      if (details.open && !body.firstChild) fill();
    });
    return details;
  };

  const bar = (tests) =>
    el(
      "div",
      { class: "strip", "aria-hidden": "true" },
      counts(tests).map(([status, n]) => {
        const part = el("span", { class: `part s-${status}` });
        part.style.flexGrow = n;
        return part;
      }),
    );

  const chips = (again) => {
    const tests = mngr.runs.tests();
    return el(
      "div",
      { class: "chips", role: "group", "aria-label": "Show only" },
      counts(tests).map(([status, n]) =>
        el(
          "button",
          {
            class: `chip s-${status}`,
            "aria-pressed": String(filter.statuses.has(status)),
            "data-status": status,
            on: {
              click: () => {
                filter.statuses.delete(status) || filter.statuses.add(status);
                again();
              },
            },
          },
          mngr.status(status),
          el("span", { class: "chip-count", text: n }),
        ),
      ),
    );
  };

  mngr.list = {
    filter,
    show: (main) => {
      const again = () => mngr.list.show(main);
      const runs = mngr.runs.list();
      const isFiltered = Boolean(filter.words || filter.statuses.size);
      const found = runs.map((run, index) => section(run, index, isFiltered)).filter((part) => part);
      const number = mngr.runs.tests().filter(matches).length;
      const sum = `${mngr.count(number, "test")} in ${mngr.count(found.length, "run")}`;
      document.title = `${mngr.runs.title} \u00b7 mngr view`;
      const focused = document.activeElement?.closest(".test")?.dataset.key;
      mngr.replace(
        main,
        el(
          "div",
          { class: "list-head" },
          el("h1", { text: "Test runs" }),
          el("p", { class: "path", text: mngr.runs.title }),
          chips(again),
          el("p", { class: "sum", role: "status", text: mngr.runs.isComplete ? sum : `${sum}, loading\u2026` }),
        ),
        filter.words
          ? el(
              "p",
              { class: "hint" },
              el("a", {
                href: mngr.place.search(filter.words),
                text: `Search transcripts and recordings for \u201c${filter.words}\u201d`,
              }),
            )
          : null,
        found.length
          ? found
          : mngr.runs.isComplete
            ? el("p", {
                class: "nothing",
                text: isFiltered
                  ? "No test matches the filter."
                  : "No test has left anything here yet. What appears will be shown.",
              })
            : null,
      );
      mark(main);
      // Who reads with the keyboard keeps the place while the list grows.
      if (focused) main.querySelector(`[data-key="${focused}"] a`)?.focus({ preventScroll: true });
    },
    // The next or previous row.
    move: (step) => {
      const links = [...document.querySelectorAll(".test")];
      if (!links.length) return;
      const at = links.findIndex((link) => link.dataset.key === chosen);
      const next = links[Math.min(links.length - 1, Math.max(0, at + step))];
      chosen = next.dataset.key;
      mark(document);
      next.querySelector("a").focus({ preventScroll: true });
      next.scrollIntoView({ block: "nearest" });
    },
    open: () => document.querySelector(".test.chosen a")?.click(),
  };

  const mark = (within) => {
    for (const item of within.querySelectorAll(".test")) item.classList.toggle("chosen", item.dataset.key === chosen);
  };
})();
