// The panel beside the list: one task with a tab for each attempt, or what the agent that integrates left.
"use strict";
(() => {
  const { el, report } = mngr;
  let open = []; // What has to be closed with what is shown.
  const body = el("div", { class: "drawer-body", tabindex: "-1" });
  const title = el("h2", { class: "drawer-title", id: "drawer-title" });
  const button = (text, label, f) =>
    el("button", { class: "control", text, "aria-label": label, title: label, on: { click: f } });
  const drawer = el(
    "dialog",
    { class: "drawer", "aria-labelledby": "drawer-title" },
    el(
      "div",
      { class: "drawer-head" },
      title,
      button("\u2191", "Previous task (p)", () => report.panel.step(-1)),
      button("\u2193", "Next task (n)", () => report.panel.step(1)),
      button("\u2715", "Close (Esc)", () => drawer.close()),
    ),
    body,
  );
  document.body.append(drawer);

  const clear = () => {
    open.forEach((one) => one.close());
    open = [];
  };
  drawer.addEventListener("close", () => {
    clear();
    mngr.replace(body);
    if (report.place()) mngr.rename("#");
  });
  drawer.addEventListener("click", (event) => event.target === drawer && drawer.close());

  const tabs = (task) => {
    const all = task.attempts.filter(({ number }) => number > 0);
    const attempts = all.length ? all : task.attempts;
    const view = el("div", { class: "tab-view", role: "tabpanel", id: "tab-view" });
    const show = (index) => {
      clear();
      buttons.forEach((one, at) => {
        one.setAttribute("aria-selected", String(at === index));
        one.tabIndex = at === index ? 0 : -1;
      });
      mngr.replace(view, report.attempt(attempts[index], open));
    };
    const buttons = attempts.map(({ number, stage, kind }, index) =>
      el(
        "button",
        { class: "tab", role: "tab", "aria-controls": "tab-view", on: { click: () => show(index) } },
        number ? `Attempt ${number}` : "No agent",
        report.stage(stage, kind),
      ),
    );
    const list = el("div", { class: "tabs", role: "tablist", "aria-label": "Attempts" }, buttons);
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const at = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
      buttons[at].focus();
      show(at);
    });
    show(attempts.length - 1);
    return [list, view];
  };

  const fill = (name, ...children) => {
    title.textContent = mngr.clean(name);
    mngr.replace(body, ...children);
    if (!drawer.open) drawer.showModal();
    body.focus({ preventScroll: true });
    body.scrollTop = 0;
  };

  report.panel = {
    // Shows a place of the page; nothing closes it.
    show: async (place) => {
      if (!place) return void (drawer.open && drawer.close());
      clear();
      const name = place.slug ? `task/${place.slug}` : "integrator";
      const row = place.slug ? report.bySlug.get(place.slug) : null;
      if (place.slug && !row)
        return fill("No such task", el("p", { class: "nothing", text: "There is no such task in this run." }));
      const loaded = await mngr.load(name).catch(() => null);
      if (JSON.stringify(report.place()) !== JSON.stringify(place)) return; // Somebody wants something else by now.
      const heading = row ? row.id : "The agent that integrates";
      if (!loaded) fill(heading, el("p", { class: "nothing", text: "It cannot be loaded." }));
      else if (row) fill(heading, tabs(loaded));
      else fill(heading, report.left(loaded.left, open));
    },
    step: (step) => {
      const slugs = report.shown();
      const next = slugs[slugs.indexOf(report.place()?.slug) + step];
      if (next) location.hash = report.address(next);
    },
    jump: (step) => open[0]?.jump(step),
    player: () => open[0]?.players[0],
    isOpen: () => drawer.open,
  };
})();
