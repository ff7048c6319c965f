// The report of a run: what stands where, the filter, the keyboard, and addresses (#task=<slug>, #integrator).
"use strict";
(() => {
  const { el, report } = mngr;
  const main = document.getElementById("main");
  const KEYS = [
    ["/", "filter the tasks"],
    ["j  k", "next, previous task; in an open one, next, previous command"],
    ["Enter", "open the task"],
    ["n  p", "next, previous task, opened"],
    ["Esc", "close"],
    ["Space", "play, pause"],
    ["\u2190  \u2192", "5 seconds back, forth (in a recording)"],
    ["<  >", "slower, faster (in a recording)"],
    ["?", "this help"],
  ];
  mngr.help = () => mngr.showKeys(KEYS);

  report.place = () => {
    const [, slug] = /^#task=([a-z0-9-]+)$/.exec(location.hash) || [];
    if (slug) return { slug };
    return location.hash === "#integrator" ? {} : null;
  };

  const count = el("p", { class: "sum", role: "status" });
  const search = el("input", {
    id: "search",
    type: "search",
    placeholder: "Filter the tasks",
    "aria-label": "Filter the tasks",
    autocomplete: "off",
    spellcheck: "false",
    on: {
      input: () => {
        const found = report.filter(search.value);
        count.textContent = search.value.trim() ? `${mngr.count(found, "task")} found` : "";
      },
    },
  });
  mngr.frame({ name: "tmr", home: "#", search });

  const navigation = (parts) => {
    const counts = new Map(report.data.sections.map(({ name, count }) => [name, count]));
    const extra = { escalations: report.data.escalations.length, causes: report.data.failures.length };
    return el(
      "nav",
      { class: "side", "aria-label": "Parts of the report" },
      parts.map(({ dataset: { part, title } }) =>
        el(
          "a",
          { class: `side-link p-${part}`, href: `#part-${part}` },
          el("span", { text: title }),
          el("span", { class: "chip-count", text: counts.get(part) ?? (extra[part] || "") }),
        ),
      ),
    );
  };

  const show = (data) => {
    report.data = data;
    report.bySlug = new Map(data.rows.map((row) => [row.slug, row]));
    document.title = `${data.name} ${data.run} \u00b7 mngr tmr`;
    const parts = [report.causes(), report.escalations(), report.integration(), ...report.sections(), report.timeline()].filter(
      Boolean,
    );
    mngr.replace(
      main,
      report.head(),
      el(
        "div",
        { class: "columns" },
        navigation(parts),
        el(
          "div",
          { class: "parts" },
          count,
          parts,
          data.rows.length ? null : el("p", { class: "nothing", text: "There is no task yet." }),
        ),
      ),
    );
    performance.mark("shown");
    report.panel.show(report.place());
  };

  addEventListener("hashchange", () => report.data && report.panel.show(report.place()));

  const move = (step) => {
    const links = report.shown().map((slug) => document.querySelector(`[data-slug="${slug}"] .task-id`));
    const at = links.indexOf(document.activeElement);
    const next = links[Math.min(links.length - 1, Math.max(0, at + step))];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || mngr.isHelpOpen()) return;
    const isTyping = event.target.matches("input[type=search], select, textarea");
    if (isTyping && event.key === "Escape") return void event.target.blur();
    if (isTyping) return;
    const isButton = event.target.matches("button, a, summary");
    const inPanel = {
      j: () => report.panel.jump(1),
      k: () => report.panel.jump(-1),
      n: () => report.panel.step(1),
      p: () => report.panel.step(-1),
      ...(isButton || !report.panel.player() ? {} : { " ": () => report.panel.player().toggle() }),
    };
    const inList = { j: () => move(1), k: () => move(-1), "/": () => search.focus() };
    const f = { ...(report.panel.isOpen() ? inPanel : inList), "?": mngr.help }[event.key];
    if (!f) return;
    event.preventDefault();
    f();
  });

  mngr.load("report").then(show, () => mngr.replace(main, el("p", { class: "nothing", text: "The report cannot be loaded." })));
})();
